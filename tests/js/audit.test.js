// What the audits of a batch run say, before and after their verdict.
import assert from "node:assert/strict";
import { test } from "node:test";

import { auditShare, auditWords, checkTitle } from "../../static/js/model/audit.js";
import { RunProgress } from "../../static/js/model/run.js";

/** @typedef {import("../../static/js/model/run.js").Run} Run */

/**
 * @param {"skill" | "leaks"} mode
 * @param {Record<string, unknown>} [summary]
 * @returns {Run}
 */
const run = (mode, summary = {}) => ({
  ...{ id: 7, mode, series_id: 1, state: "running", cause: null, config: {}, created: 0, started: 0, ended: null },
  summary,
});

/** @param {Record<string, unknown>[]} events */
function progressOf(...events) {
  const progress = new RunProgress();
  const base = { run_id: 7, time: 0, line: null };
  progress.take(/** @type {any} */ (events.map((event, index) => ({ ...base, seq: index + 1, ...event }))));
  return progress;
}

const EPOCH = { type: "control_epoch", number: 2, runs: 8, epoch: 1, epochs: 3, loss: 1.6, heads: {}, best_loss: 1.6, eta_s: 9 };
const PASSED = { type: "leak_checked", check: "inputs", passed: true, words: "nothing", marks: [] };

test("a check on skill tells where it is, then its verdict in the server's words", () => {
  const progress = progressOf(EPOCH);
  assert.equal(auditWords(run("skill"), progress)?.text, "On shuffled targets 2 of 8, epoch 1 of 3.");
  assert.equal(auditShare(progress), 7 / 27);
  const no = run("skill", { skill: { verdict: "no skill", words: "no skill: validation loss 1.6" } });
  assert.deepEqual(auditWords(no, progress), { title: "No skill", text: "no skill: validation loss 1.6", tone: "warning" });
  assert.equal(auditWords(run("skill", { skill: { verdict: "skill", words: "" } }), progress)?.tone, "ok");
  assert.equal(auditWords(run("skill"), progressOf()), null);
});

test("a leak check counts what it did, then says whether anything leaks", () => {
  const failed = { ...PASSED, check: "known", passed: false, marks: ["a"] };
  assert.equal(auditWords(run("leaks"), progressOf(PASSED))?.text, "1 checks done.");
  const done = run("leaks", { leaks: {} });
  assert.equal(auditWords(done, progressOf(PASSED, PASSED))?.title, "No leak found");
  assert.deepEqual(auditWords(done, progressOf(PASSED, failed)), { title: "Leaks found", text: "One check failed.", tone: "danger" });
  assert.equal(auditShare(progressOf(PASSED)), null);
});

test("a check that this page does not know keeps its own name", () => {
  assert.equal(checkTitle("known"), "Annotations known too early");
  assert.equal(checkTitle("new one"), "new one");
});
