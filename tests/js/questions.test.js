// What an upload leaves open, and where it is wrong.
import assert from "node:assert/strict";
import { test } from "node:test";

import { isFree, likelyAnswer, placeOf, questionsOf, reportRows } from "../../static/js/model/questions.js";

const ZONE = { name: "zone", question: "Which zone?", choices: [{ value: "UTC", label: "UTC", likely: false }, { value: "Asia/Tokyo", label: "Tokyo", likely: true }], reason: "no offset" };

test("the server's questions are asked with the likely answer filled in", () => {
  const [asked] = questionsOf({ code: "needs_answer", details: { questions: [ZONE] } }, "a.csv");
  assert.equal(asked.question, "Which zone?");
  assert.equal(likelyAnswer(asked), "Asia/Tokyo");
  assert.equal(likelyAnswer({ ...ZONE, choices: [] }), "");
});

test("a zone may be typed, a closed question may not", () => {
  assert.equal(isFree(ZONE), true);
  assert.equal(isFree({ ...ZONE, name: "date_order" }), false);
});

test("a file that names no symbol is asked for it, its own name being the guess", () => {
  const [asked] = questionsOf({ code: "invalid_input", details: { field: "symbol" } }, "ethusdt-1h.csv");
  assert.deepEqual([asked.name, likelyAnswer(asked)], ["symbol", "ETHUSDT"]);
});

test("a refusal that asks nothing has no question", () => {
  assert.deepEqual(questionsOf({ code: "invalid_input", details: { line: 3 } }, "a.csv"), []);
});

test("a refusal says line, column and cell", () => {
  assert.equal(placeOf({ details: { line: 14, column: "high", value: "1O1.5" } }), "line 14 · column high · “1O1.5”");
  assert.equal(placeOf({ details: { field: "zone", value: "Mars" } }), "");
});

test("a report is read name by name; empty parts are left out, long lists shortened", () => {
  const rows = reportRows({ candles: 6225, null_volume: null, gaps: Array.from({ length: 14 }, (_, index) => `gap ${index}`), times: { zone: "UTC", unit: "ms" } });
  assert.deepEqual(rows.map(([name]) => name), ["Candles", "Gaps", "Times"]);
  assert.equal(rows[0][1], "6,225");
  assert.ok(rows[1][1].endsWith("gap 11\nand 2 more"));
  assert.equal(rows[2][1], "Zone: UTC; Unit: ms");
});
