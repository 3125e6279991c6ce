// What a person set for training, and the configs made of it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { TrainSettings } from "../../static/js/model/train-settings.js";

/**
 * @param {string} name
 * @param {unknown} value
 */
const field = (name, value) => ({ name, type: "float", default: value, meaning: "", least: null, most: null });
const LOAD = [field("model", "transformer"), field("batch_size", 16)];
const FIELDS = {
  load: LOAD,
  batch: [...LOAD, field("epochs", 10), field("learning_rate", 2e-3)],
  live: [...LOAD, field("learning_rate", 3e-4), field("feed", { kind: "replay", from: null, speed: 1 })],
};

/** @param {Record<string, string>} [kept] */
function settingsOn(kept = {}) {
  const settings = new TrainSettings({ getItem: (key) => kept[key] ?? null, setItem: (key, text) => void (kept[key] = text) });
  settings.describe(FIELDS);
  return settings;
}

test("untouched, a run is asked for with the model alone, so that the server's defaults hold", () => {
  const settings = settingsOn();
  assert.deepEqual(settings.modelConfig(), { model: "transformer" });
  assert.deepEqual(settings.batchConfig(), { model: "transformer" });
  assert.deepEqual(settings.liveConfig(), { model: "transformer", feed: { kind: "replay", from: null, speed: 1 } });
  assert.equal(settings.isTouched, false);
});

test("the two learning rates do not mix", () => {
  const settings = settingsOn();
  settings.set("batch", "learning_rate", 0.01);
  settings.set("live", "learning_rate", 0.0001);
  assert.equal(settings.batchConfig()["learning_rate"], 0.01);
  assert.equal(settings.liveConfig()["learning_rate"], 0.0001);
});

test("what was set is still set after a reload, and reset goes back but keeps the model", () => {
  /** @type {Record<string, string>} */
  const kept = {};
  const first = settingsOn(kept);
  first.set("model", "model", "gru");
  first.set("batch", "epochs", 2);
  const second = settingsOn(kept);
  assert.deepEqual(second.batchConfig(), { model: "gru", epochs: 2 });
  second.reset();
  assert.deepEqual(second.batchConfig(), { model: "gru" });
});

test("a refusal stands at its field until the value changes", () => {
  const settings = settingsOn();
  const error = { message: "learning_rate = 9.0: must be from 1e-07 to 1.0", details: { field: "learning_rate" } };
  assert.equal(settings.refuse(error, "live"), true);
  assert.deepEqual(settings.refusal, { group: "live", field: "learning_rate", message: error.message });
  settings.set("batch", "learning_rate", 0.001);
  assert.notEqual(settings.refusal, null);
  settings.set("live", "learning_rate", 0.001);
  assert.equal(settings.refusal, null);
});

test("a refusal of something else is not the form's", () => {
  const settings = settingsOn();
  assert.equal(settings.refuse({ message: "the disk is full" }), false);
  assert.equal(settings.refuse({ message: "unknown field", details: { field: "wings" } }), false);
});

test("a broken store in the browser gives the defaults", () => {
  assert.deepEqual(settingsOn({ "annotate.training": "[1" }).batchConfig(), { model: "transformer" });
});
