// Suggestions in words: what a lesson is of, what it learnt from, and which model read unseen marks better.
import assert from "node:assert/strict";
import { test } from "node:test";

import { comparedText, lessonTitle, marksText, originText, readerText } from "../../static/js/model/suggestion.js";

const LEARNT = {
  kind: "span", layer: "default", reader: "swings", marks: { human: 20, model_accepted: 3 }, weights: { model_accepted: 0.3 },
  rejected: 2, taught: 23, scores: { swings: { f1: 0.875, true: 20 } },
};

test("a lesson says whether marks, the trained model or a rule suggested, and what was looked at", () => {
  assert.equal(lessonTitle({ source: "marks", mode: "history" }), "Marks, with hindsight");
  assert.equal(lessonTitle({ source: "model", mode: "causal" }), "Trained model, causal");
  assert.equal(lessonTitle({ source: "moving_average_cross", mode: "rule" }), "Rule moving average cross");
  assert.equal(lessonTitle({ source: "import", mode: "rule" }), "Rejected elsewhere");
});

test("what was learnt names sources, weights, rejections and the score", () => {
  assert.equal(marksText(LEARNT), "23 marks: 20 drawn, 3 accepted (each counts 0.3); 2 rejected");
  assert.equal(readerText(LEARNT), "reader “swings”, F1 0.88 on 20 marks it had not seen");
  assert.equal(readerText({ ...LEARNT, reader: "transformer of run 7", scores: {} }), "reader “transformer of run 7”");
});

test("two models are told apart on marks that neither had seen, where there were enough", () => {
  const compared = { marks: 12, own: 0.8, other: 0.414 };
  assert.equal(comparedText({ request: { compared } }), "On 12 marks that neither had seen: your marks F1 0.80, trained model 0.41");
  assert.equal(comparedText({ request: { compared: null } }), "");
  assert.equal(comparedText({ request: {} }), "");
});

test("a suggestion of the trained model says so, and whether spans were cut with hindsight", () => {
  const suggestion = /** @type {any} */ ({ source: "model", made: "causal" });
  assert.equal(originText(suggestion), "by the trained model; no later candle was looked at");
  assert.match(originText({ ...suggestion, made: "history" }), /cut with hindsight/);
});
