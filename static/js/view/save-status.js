// Whether everything is saved, at the top of the page; changes that a person must settle, as cards in the panel.

import { formatShortTime } from "../model/format.js";
import { summaryText } from "../model/mark-text.js";
import { Zone } from "../model/zone.js";
import { button, element, fill } from "./element.js";

const MOST_CARDS = 20; // settled one by one; the next come when these are

/** @typedef {import("../net/unsent.js").Change} Change */
/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {{zone: Zone, price: (amount: number) => string, author: string}} Words how times and prices are told, and to whom */

/**
 * @param {HTMLElement} badge
 * @param {HTMLElement} problems
 * @param {object} parts
 * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
 * @param {import("./toast.js").Toast} parts.toast
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} parts.settings
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {() => void} parts.showPanel
 */
export function mountSaveStatus(badge, problems, { book, toast, settings, view, showPanel }) {
  const { queue } = book;
  let told = 0;
  const show = () => {
    showPanel();
    problems.scrollIntoView({ block: "nearest" });
  };
  const draw = () => {
    const state = queue.state.get();
    const [text, tone] = textOf(state);
    if (badge.textContent !== text) badge.textContent = text;
    badge.className = `badge ${tone}`;
    badge.title = state.failing || (state.waiting ? "On their way to the server; they survive a reload" : "Every annotation is stored");
    if (!state.isSafe) badge.title += ". This browser keeps nothing for this page: do not close the tab";
    const { zone, author } = settings.get();
    const words = { zone: new Zone(zone), price: view.state.get().pricesHidden ? () => "…" : String, author };
    fill(problems, ...state.problems.slice(0, MOST_CARDS).map((change) => problemCard(change, book, words)));
    const isHidden = state.problems.length > told && !isInSight(problems);
    told = state.problems.length;
    if (isHidden) toast(told === 1 ? "An annotation waits for you to settle it" : `${told} annotations wait for you to settle them`, { tone: "danger", action: "Show", onAction: show });
  };
  queue.state.subscribe(draw);
  settings.subscribe((now, before) => now.zone !== before.zone && draw());
  view.state.subscribe((now, before) => now.pricesHidden !== before.pricesHidden && draw());
  draw();
  addEventListener("online", () => queue.send());
  addEventListener("beforeunload", (event) => {
    if (!queue.state.get().isSafe) event.preventDefault();
  });
}

/** @param {HTMLElement} part whether a person sees its beginning, the panel being neither closed nor scrolled past it */
function isInSight(part) {
  const { top, bottom } = part.getBoundingClientRect();
  const panel = part.parentElement?.getBoundingClientRect();
  return bottom > top && panel !== undefined && top >= panel.top - 1 && top < Math.min(panel.bottom, innerHeight);
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
 * @param {Words} words
 */
function problemCard(change, book, words) {
  const { mark, problem } = change;
  const isStale = problem?.code === "stale_revision";
  const stored = problem?.stored ?? null;
  const by = stored?.updated_by || stored?.author || "Someone";
  const isOwn = by === words.author;
  const title = isStale ? `${isOwn ? "You" : by} ${stored ? "changed" : "deleted"} this annotation ${isOwn ? "elsewhere " : ""}too` : "Not saved";
  return element(
    "div",
    { class: "card warning", role: "alert" },
    element("h2", {}, title),
    isStale ? versions(mark, stored, isOwn ? "you" : by, words) : element("p", { class: "muted" }, problem?.message ?? ""),
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
 * @param {Words} words
 */
function versions(mine, stored, other, { zone, price }) {
  const summary = (/** @type {Annotation} */ mark) => summaryText(mark, { time: (time) => formatShortTime(time, zone, "1s"), price });

  return element(
    "dl",
    { class: "versions" },
    element("dt", {}, "Mine"),
    element("dd", {}, mine ? summary(mine) : "deleted"),
    element("dt", {}, stored ? `Stored, by ${other}` : "Stored"),
    element("dd", {}, stored ? summary(stored) : "deleted"),
    element("dt", {}, "Times"),
    element("dd", {}, zone.name),
  );
}
