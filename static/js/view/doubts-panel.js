// What the marks teach, on request: doubted marks, what was learnt of how many, and whether more marks help.

import { formatShortTime } from "../model/format.js";
import { comparedText, lessonTitle, marksText, readerText } from "../model/suggestion.js";
import { Zone } from "../model/zone.js";
import { button, element, fill } from "./element.js";
import { learningCurve } from "./learning-curve.js";

/** @typedef {import("../net/suggestion-book.js").Doubt} Doubt */

/**
 * @typedef {object} DoubtParts
 * @property {import("../net/suggestion-book.js").SuggestionBook} book
 * @property {import("../net/annotation-book.js").AnnotationBook} marks
 * @property {import("./annotator.js").Annotator} annotator
 * @property {import("./chart-view.js").ChartView} view
 * @property {import("../model/store.js").Store<import("../model/settings.js").Settings>} pageSettings
 */

/** @type {Record<string, string>} */
const REASONS = { candles: "its candles look like another class", ends: "an end looks out of place", overlap: "it overlaps another mark", unread: "the model reads other edges there" };

/**
 * @param {HTMLElement} root
 * @param {DoubtParts} parts
 */
export function mountDoubtsPanel(root, parts) {
  const { book } = parts;
  const doubts = section("Doubted marks", async (body) => {
    const found = await book.doubts();
    fill(body, ...doubtRows(found, parts, () => doubts.refresh()));
  });
  const lessons = section("What was learnt", async (body) => fill(body, ...lessonRows(await book.lessons(), parts)));
  const curve = section("Do more marks help?", async (body) => fill(body, learningCurve(await book.curve())));
  root.append(doubts.root, lessons.root, curve.root);
  book.state.subscribe((now, before) => {
    if (now.task?.state !== "running" && now.task !== before.task) for (const each of [doubts, lessons, curve]) each.refresh();
  });
  parts.marks.state.subscribe((now, before) => now.index !== before.index && doubts.refreshSoon());
}

/**
 * A fold that asks for its content when it is opened, and again while it is open.
 * @param {string} title
 * @param {(body: HTMLElement) => Promise<void>} load
 */
function section(title, load) {
  const body = element("div", { class: "stack" });
  const root = element("details", { class: "fold" }, element("summary", {}, title), body);
  let timer = 0;
  const refresh = () => {
    if (!root.open) return;
    load(body).catch((error) => fill(body, element("p", { class: "muted" }, error instanceof Error ? error.message : String(error))));
  };
  root.addEventListener("toggle", () => {
    if (root.open && !body.childElementCount) fill(body, element("p", { class: "muted" }, "Looking…"));
    refresh();
  });
  const refreshSoon = () => {
    clearTimeout(timer);
    timer = window.setTimeout(refresh, 500);
  };
  return { root, refresh, refreshSoon };
}

/**
 * @param {Doubt[]} found
 * @param {DoubtParts} parts
 * @param {() => void} onSettled
 */
function doubtRows(found, parts, onSettled) {
  if (!found.length) return [element("p", { class: "muted" }, "No mark is doubted: each was confirmed or changed.")];
  const zone = new Zone(parts.pageSettings.get().zone);
  return [
    element("small", { class: "muted" }, "The most doubted first. Change a mark or confirm it, and it leaves the list."),
    element("div", { role: "list", "aria-label": "Doubted marks", class: "annotation-rows" }, ...found.map((doubt) => doubtRow(doubt, zone, parts, onSettled))),
  ];
}

/**
 * @param {Doubt} doubt
 * @param {Zone} zone
 * @param {DoubtParts} parts
 * @param {() => void} onSettled
 */
function doubtRow(doubt, zone, { book, marks, annotator, view }, onSettled) {
  const why = Object.entries(doubt.reasons).sort(([, one], [, other]) => other - one)[0][0];
  const instead = doubt.instead && doubt.instead.label !== doubt.label ? `; read as ${doubt.instead.label}` : "";
  const open = () => {
    const mark = marks.index.get(doubt.id);
    if (mark) annotator.jumpTo(mark);
  };
  return element(
    "div",
    { role: "listitem", class: "doubt" },
    element(
      "button",
      { type: "button", class: "annotation-row", onclick: open, title: `${REASONS[why] ?? why}${instead}` },
      element("span", { class: "clip name" }, doubt.label),
      element("span", { class: "muted number clip grow" }, formatShortTime(doubt.start, zone, view.timeframe)),
      element("span", { class: "number" }, `${Math.round(doubt.doubt * 100)}%`),
    ),
    button("✓", () => void book.confirm(doubt).then(onSettled), { class: "icon quiet", title: "This mark is right", "aria-label": "Confirm this mark" }),
  );
}

/**
 * @param {import("../model/suggestion.js").Lesson[]} lessons
 * @param {DoubtParts} parts
 */
function lessonRows(lessons, { view, pageSettings }) {
  const zone = new Zone(pageSettings.get().zone);
  if (!lessons.length) return [element("p", { class: "muted" }, "Nothing yet.")];
  return lessons.map((lesson) => {
    const { id, created, learnt, fates } = lesson;
    const compared = comparedText(lesson);
    const fate = Object.entries(fates).map(([name, count]) => `${count} ${name}`).join(", ");
    return element(
      "div",
      { class: "lesson" },
      element("div", { class: "row spread" }, element("b", {}, `${id} · ${lessonTitle(lesson)}`), element("span", { class: "muted number" }, formatShortTime(created, zone, view.timeframe))),
      ...learnt.map((each) => element("div", {}, `${[each.kind, each.layer].filter(Boolean).join(", ")}: ${marksText(each)}; ${readerText(each)}`)),
      compared && element("div", {}, compared),
      element("div", { class: "muted" }, fate ? `Suggestions: ${fate}` : "No suggestion left"),
    );
  });
}
