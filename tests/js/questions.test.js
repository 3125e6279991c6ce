// What an upload leaves open, and where it is wrong.
import assert from "node:assert/strict";
import { test } from "node:test";

import { isFree, likelyAnswer, placeOf, questionsOf } from "../../static/js/model/questions.js";

const ZONE = {
  name: "zone",
  question: "Which zone?",
  choices: [
    { value: "UTC", label: "UTC", likely: false },
    { value: "Asia/Tokyo", label: "Tokyo", likely: true },
  ],
  reason: "no offset",
};

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
