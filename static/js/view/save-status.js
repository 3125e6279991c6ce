// Whether everything is saved, at the top of the page; changes that a person must settle, as cards in the panel.

import { formatShortTime } from "../model/format.js";
import { summaryText } from "../model/mark-text.js";
import { Zone } from "../model/zone.js";
import { button, element, fill } from "./element.js";

/** @typedef {import("../net/unsent.js").Change} Change */
/** @typedef {import("../model/annotation.js").Annotation} Annotation */

const UTC = new Zone("UTC");

/**
 * @param {HTMLElement} badge
 * @param {HTMLElement} problems
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 */
export function mountSaveStatus(badge, problems, book) {
  const { queue } = book;
  const draw = () => {
    const state = queue.state.get();
    const [text, tone] = textOf(state);
    if (badge.textContent !== text) badge.textContent = text;
    badge.className = `badge ${tone}`;
    badge.title = state.failing || (state.waiting ? "On their way to the server; they survive a reload" : "Every annotation is stored");
    if (!state.isSafe) badge.title += ". This browser keeps nothing for this page: do not close the tab";
    fill(problems, ...state.problems.map((change) => problemCard(change, book)));
  };
  queue.state.subscribe(draw);
  draw();
  addEventListener("online", () => queue.send());
  addEventListener("beforeunload", (event) => {
    if (!queue.state.get().isSafe) event.preventDefault();
  });
}

/**
 * @param {import("../net/save-queue.js").SaveState} state
 * @returns {[string, string]}
 */
function textOf({ waiting, failing }) {
  if (waiting === 0) return ["all saved", "ok"];
  return [`${waiting} not saved`, failing ? "danger" : "warning"];
}

/**
 * @param {Change} change
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 */
function problemCard(change, book) {
  const { mark, problem } = change;
  const isStale = problem?.code === "stale_revision";
  const stored = problem?.stored ?? null;
  const other = stored?.updated_by || stored?.author || "Someone";
  const title = isStale ? `${other} ${stored ? "changed" : "deleted"} this annotation too` : "Not saved";
  return element(
    "div",
    { class: "card warning", role: "alert" },
    element("h2", {}, title),
    isStale ? versions(mark, stored, other) : element("p", { class: "muted" }, problem?.message ?? ""),
    element(
      "div",
      { class: "row" },
      button(isStale ? "Take the stored one" : "Discard", () => book.takeStored(change)),
      button(isStale ? "Keep mine" : "Try again", () => book.queue.insist(change), { class: "primary" }),
    ),
  );
}

/**
 * @param {Annotation | null} mine
 * @param {Annotation | null} stored
 * @param {string} other who stored it
 */
function versions(mine, stored, other) {
  return element(
    "dl",
    { class: "versions" },
    element("dt", {}, "Mine"),
    element("dd", {}, mine ? summary(mine) : "deleted"),
    element("dt", {}, stored ? `Stored, by ${other}` : "Stored"),
    element("dd", {}, stored ? summary(stored) : "deleted"),
  );
}

/** @param {Annotation} mark */
function summary(mark) {
  return summaryText(mark, { time: utc, price: String });
}

/** @param {number} time */
function utc(time) {
  return formatShortTime(time, UTC, "1s");
}
