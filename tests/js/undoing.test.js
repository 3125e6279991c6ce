// Undo in the page: it says what it did, and offers a way on where someone else's change stands before it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createStore } from "../../static/js/model/store.js";
import { ApiError } from "../../static/js/net/api.js";
import { takeStep } from "../../static/js/view/undoing.js";

/**
 * A book whose newest step is blocked until it is skipped.
 * @param {string} failing why changes are not saved
 */
function blocked(failing = "") {
  const asked = /** @type {boolean[]} */ ([]);
  const step = async (/** @type {string} */ _direction, /** @type {boolean} */ skip) => {
    asked.push(skip);
    if (!skip) throw new ApiError(409, "changed_since", "Ada changed it since");
    return "draw Long";
  };
  const book = /** @type {any} */ ({ queue: { state: createStore({ failing }) }, step });
  const said = /** @type {{message: string, options?: import("../../static/js/view/toast.js").ToastOptions}[]} */ ([]);
  return { book, asked, said, toast: (/** @type {string} */ message, /** @type {any} */ options) => void said.push({ message, options }) };
}

test("a blocked undo says who changed the mark and can be skipped", async () => {
  const { book, asked, said, toast } = blocked();
  await takeStep(book, toast, "undo");
  assert.equal(said[0].message, "Ada changed it since");
  assert.equal(said[0].options?.action, "Skip that step");
  said[0].options?.onAction?.();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(asked, [false, true]);
  assert.equal(said[1].message, "Skipped: draw Long");
});

test("nothing is undone while changes wait for the server", async () => {
  const { book, asked, said, toast } = blocked("signed out");
  await takeStep(book, toast, "redo");
  assert.deepEqual(asked, []);
  assert.match(said[0].message, /Nothing can be redone .* signed out/);
});
