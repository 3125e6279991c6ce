// Undo and redo: what was done, in words, and a way out where someone changed the mark meanwhile.

import { ApiError } from "../net/api.js";

/**
 * Take back this author's last gesture, or make it again.
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 * @param {import("./toast.js").Toast} toast
 * @param {"undo" | "redo"} direction
 * @param {boolean} [skip] leaves out the step that someone else's change stands before
 * @returns {Promise<void>}
 */
export async function takeStep(book, toast, direction, skip = false) {
  const { failing } = book.queue.state.get();
  if (failing) return toast(`Nothing can be ${direction === "undo" ? "undone" : "redone"} while changes are not saved: ${failing}`, { tone: "danger" });
  try {
    const title = await book.step(direction, skip);
    const done = skip ? "Skipped" : direction === "undo" ? "Undone" : "Redone";
    toast(title ? `${done}: ${title}` : `Nothing to ${direction}`);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const isBlocked = error instanceof ApiError && error.code === "changed_since";
    if (!isBlocked) return toast(text, { tone: "danger" });
    toast(text, { tone: "danger", action: "Skip that step", onAction: () => void takeStep(book, toast, direction, true) });
  }
}
