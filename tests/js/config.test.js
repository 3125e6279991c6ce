// The train form as data.
import assert from "node:assert/strict";
import { test } from "node:test";

import { chosen, kindOf, limitsOf, partFields, refusalOf, textOf, titleOf, valueOf } from "../../static/js/model/config.js";

/**
 * @param {string} name
 * @param {string} type
 * @param {unknown} value
 */
const field = (name, type, value) => ({ name, type, default: value, meaning: "", least: null, most: null });

test("each type has its control", () => {
  const kinds = [
    field("epochs", "int", 10),
    field("dropout", "float", 0.1),
    field("use_amp", "bool", true),
    field("patience", "int | None", null),
    field("split", "list[float]", [70, 15, 15]),
    field("heads", "dict[str, float]", {}),
    field("model", "str", "gru"),
    field("feed", "Json", {}),
  ].map(kindOf);
  assert.deepEqual(kinds, ["whole", "number", "switch", "whole", "shares", "weights", "choice", "feed"]);
});

test("text becomes a number, an empty optional field null, and nonsense stays for the server to refuse", () => {
  assert.equal(valueOf(field("epochs", "int", 10), " 12 "), 12);
  assert.equal(valueOf(field("learning_rate", "float", 1), "2e-3"), 0.002);
  assert.equal(valueOf(field("patience", "int | None", null), ""), null);
  assert.equal(valueOf(field("epochs", "int", 10), "many"), "many");
  assert.equal(valueOf(field("epochs", "int", 10), ""), "");
  assert.equal(valueOf(field("split", "list[float]", []), "60/20/20"), "60/20/20");
});

test("a value goes to text and back unchanged", () => {
  for (const value of [0.002, 1e-7, 200, 0]) assert.equal(valueOf(field("x", "float", 0), textOf(value)), value);
  assert.equal(textOf([70, 15, 15]), "70/15/15");
  assert.equal(textOf(null), "");
});

test("only what differs from the default is sent", () => {
  const fields = [field("epochs", "int", 10), field("heads", "dict[str, float]", { candle: 1 })];
  assert.deepEqual(chosen(fields, { epochs: 10, heads: { candle: 1 } }), {});
  assert.deepEqual(chosen(fields, { epochs: 2, heads: { candle: 0.5 } }), { epochs: 2, heads: { candle: 0.5 } });
});

test("every field of the server stands in the form once, save those with a control elsewhere", () => {
  const fields = ["model", "epochs", "seed", "heads", "feed", "stride"].map((name) => field(name, "int", 1));
  const { first, more } = partFields(fields);
  assert.deepEqual(
    first.map((each) => each.name),
    ["epochs", "heads"],
  );
  assert.deepEqual(
    more.map((each) => each.name),
    ["seed", "stride"],
  );
});

test("limits and titles read well", () => {
  assert.equal(limitsOf({ ...field("epochs", "int", 1), least: 1, most: 10 }), "1 to 10");
  assert.equal(limitsOf({ ...field("patience", "int", 1), least: 1 }), "at least 1");
  assert.equal(limitsOf(field("x", "int", 1)), "");
  assert.equal(titleOf("batch_size"), "Batch size");
});

test("a refusal names its field, a head's weight the field heads", () => {
  const words = "heads.candle = 200: a weight from 0 to 100";
  assert.deepEqual(refusalOf({ message: words, details: { field: "heads.candle" } }), { field: "heads", message: words });
  assert.deepEqual(refusalOf({ message: "the disk is full" }), { field: null, message: "the disk is full" });
});
