// The key table: no key twice, what a press is called, what the help shows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { actionOf, doubledKeys, KEY_TABLE, keyName, keyTitle, mayRepeat } from "../../static/js/model/keys.js";

const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

test("no key means two things", () => {
  assert.deepEqual(doubledKeys(KEY_TABLE), []);
});

test("a doubled key would be found", () => {
  const [first] = KEY_TABLE;
  assert.deepEqual(doubledKeys([...KEY_TABLE, { ...first, action: "other" }]), ["1"]);
});

test("no action stands twice and each says what it does", () => {
  const actions = KEY_TABLE.map(({ action }) => action);
  assert.equal(new Set(actions).size, actions.length);
  assert.ok(KEY_TABLE.every(({ title, group, keys }) => title && group && keys.length));
});

test("letters count in either case, signs without Shift, named keys with it", () => {
  assert.equal(keyName({ ...plain, key: "v" }), "V");
  assert.equal(keyName({ ...plain, key: "?", shiftKey: true }), "?");
  assert.equal(keyName({ ...plain, key: "Z", ctrlKey: true, shiftKey: true }), "Ctrl+Shift+Z");
  assert.equal(keyName({ ...plain, key: "ArrowLeft", shiftKey: true }), "Shift+ArrowLeft");
  assert.equal(keyName({ ...plain, key: " " }), "Space");
});

test("brackets made with AltGr are brackets, and Command is Control", () => {
  assert.equal(actionOf({ ...plain, key: "[", ctrlKey: true, altKey: true, altGraph: true }), "span-start");
  assert.equal(actionOf({ ...plain, key: "z", metaKey: true }), "undo");
});

test("keyboards of other scripts have every key at its place, and brackets made with Option are brackets", () => {
  assert.equal(actionOf({ ...plain, key: "м", code: "KeyV" }), "tool-select");
  assert.equal(actionOf({ ...plain, key: "Я", code: "KeyZ", ctrlKey: true, shiftKey: true }), "redo");
  assert.equal(actionOf({ ...plain, key: "х", code: "BracketLeft" }), "span-start");
  assert.equal(actionOf({ ...plain, key: "ı", code: "KeyI" }), "ignore");
  assert.equal(actionOf({ ...plain, key: "q", code: "KeyA" }), "reviewed", "a Latin keyboard is taken by its letters");
  assert.equal(actionOf({ ...plain, key: "[", code: "Digit5", altKey: true }), "span-start");
});

test("what a dead key, AltGr or an input method writes is no action", () => {
  assert.equal(actionOf({ ...plain, key: "ą", code: "KeyA", altKey: true, ctrlKey: true, altGraph: true }), null);
  assert.equal(actionOf({ ...plain, key: "Dead", code: "BracketLeft" }), null);
  assert.equal(actionOf({ ...plain, key: "Process", code: "KeyA" }), null);
  assert.equal(actionOf({ ...plain, key: "ö", code: "Semicolon" }), null);
});

test("a held key moves on and on, but draws, decides and switches once", () => {
  const repeated = ["cursor-left", "zoom-in", "next-annotation", "end-later", "replay-step", "undo"];
  assert.ok(repeated.every(mayRepeat));
  const once = ["span-start", "span-end", "trade-entry", "place", "accept", "reject", "reviewed", "hide", "replay", "delete", "paste", "label-1"];
  assert.deepEqual(once.filter(mayRepeat), []);
});

test("a press of the browser's own is left to the browser", () => {
  for (const press of [{ key: "r", ctrlKey: true }, { key: "ArrowLeft", altKey: true }, { key: "F5" }, { key: "1", ctrlKey: true }]) {
    assert.equal(actionOf({ ...plain, ...press }), null);
  }
});

test("keys read as people know them", () => {
  assert.deepEqual(["Shift+ArrowLeft", "Delete", "Ctrl+Z", "+"].map(keyTitle), ["Shift+←", "Del", "Ctrl+Z", "+"]);
});
