// The list of annotations: filtered by label, kind and text; a click selects one and brings it into view.

import { isDraft, KIND_CHOICES, kindOf, passes } from "../model/annotation.js";
import { formatShortTime, zoneText } from "../model/format.js";
import { coloursOf } from "../model/label-set.js";
import { timeText } from "../model/mark-text.js";
import { Zone } from "../model/zone.js";
import { card } from "./card.js";
import { button, element, fill, redraw } from "./element.js";
import { swatch } from "./label-list.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */

const ROWS = 100; // drawn at first, and with each “more”

/**
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import("./annotator.js").Annotator} parts.annotator
 * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
 * @param {import("../net/label-book.js").LabelBook} parts.labels
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} parts.settings
 * @param {import("./keyboard.js").Keyboard} parts.keyboard
 */
export function mountAnnotationList(root, { annotator, book, labels, view, settings, keyboard }) {
  const filter = { label: "", kind: "", text: "", status: "" };
  let most = ROWS;
  const title = element("h2", {}, "Annotations");
  const zoneName = element("span", { class: "muted", title: "Zone of the times below" });
  const label = element("select", { "aria-label": "Only this label" });
  const kind = element("select", { "aria-label": "Only this kind" }, ...options([["", "All kinds"], ...KIND_CHOICES]));
  const status = element("select", { "aria-label": "Only this status" }, ...options([["", "Drafts and done"], ["draft", "Drafts"], ["done", "Done"]]));
  const results = button("Results", () => keyboard.perform("results"), { class: "quiet small", title: `What trades came to, and agreement (${keyboard.keyOf("results")})` });
  const all = button("Select all", () => annotator.selectAll(book.index.all().filter((mark) => passes(mark, filter)).map(({ id }) => id)), { class: "quiet small", title: "Select what the filter shows: a label, a status or Delete then goes to all of them" });
  const text = element("input", { type: "search", placeholder: "Search label, comment, author", "aria-label": "Search label, comment and author" });
  const rows = element("div", { class: "annotation-rows", role: "list", "aria-label": "Annotations" });
  root.append(element("div", { class: "row spread" }, element("span", { class: "row" }, title, zoneName), element("span", { class: "row" }, results, all)), element("div", { class: "filters" }, label, kind, text, status), rows);

  const draw = () => {
    const { index, isLoading, error } = book.state.get();
    if (error) return fill(rows, item(failure(error, book)));
    const found = index.all().filter((mark) => passes(mark, filter));
    title.textContent = found.length === index.size ? `Annotations (${index.size})` : `Annotations (${found.length} of ${index.size})`;
    const colours = coloursOf(labels.set.get());
    const zone = new Zone(settings.get().zone);
    zoneName.textContent = zoneText(zone, view.timeframe);
    const chosen = new Set(annotator.state.get().chosen);
    all.disabled = found.length === 0;
    /** @param {Annotation} mark */
    const one = (mark) => rowOf(mark, { colour: colours.get(mark.label), zone, timeframe: view.timeframe, isSelected: chosen.has(mark.id), onOpen: (adds) => (adds ? annotator.toggle(mark.id) : annotator.jumpTo(mark)) });
    const more = () => {
      most += ROWS;
      draw();
    };
    redraw(rows, () => fill(rows, ...found.slice(0, most).map(one), found.length > most && item(button(`${found.length - most} more`, more)), found.length === 0 && item(emptyText(index.size, isLoading, keyboard))));
  };
  const drawLabels = () => {
    fill(label, ...options([["", "All labels"], ...(labels.set.get()?.labels ?? []).map(({ name }) => [name, name])]));
    label.value = filter.label;
    if (label.selectedIndex < 0) label.value = filter.label = "";
    draw();
  };
  const change = () => {
    Object.assign(filter, { label: label.value, kind: kind.value, text: text.value, status: status.value });
    most = ROWS;
    draw();
  };
  for (const control of [label, kind, status]) control.addEventListener("change", change);
  text.addEventListener("input", change);
  labels.set.subscribe(drawLabels);
  book.state.subscribe(draw);
  annotator.state.subscribe((now, before) => now.chosen !== before.chosen && draw());
  settings.subscribe((now, before) => now.zone !== before.zone && draw());
  drawLabels();
}

/** @param {HTMLElement} content of the list */
function item(content) {
  return element("div", { role: "listitem" }, content);
}

/**
 * @param {number} total
 * @param {boolean} isLoading
 * @param {import("./keyboard.js").Keyboard} keyboard
 */
function emptyText(total, isLoading, keyboard) {
  if (isLoading) return element("p", { class: "muted" }, "Loading…");
  const text = total > 0 ? "No annotation passes the filter." : `None yet. Press 1 and drag over candles, or pick another tool. By keys: ← → to a candle, ${keyboard.keyOf("span-start")} begins a span, ${keyboard.keyOf("span-end")} ends it.`;
  return element("p", { class: "muted" }, text);
}

/**
 * @param {unknown} error
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 */
function failure(error, book) {
  const text = error instanceof Error ? error.message : String(error);
  return card({ title: "The annotations could not be loaded", text, tone: "danger", actions: [{ text: "Try again", run: () => void book.reload() }] });
}

/**
 * @param {Annotation} mark
 * @param {{colour: string | undefined, zone: Zone, timeframe: string, isSelected: boolean, onOpen: (adds: boolean) => void}} look
 */
function rowOf(mark, { colour, zone, timeframe, isSelected, onOpen }) {
  const place = timeText(mark, (time) => formatShortTime(time, zone, timeframe));
  return item(
    element(
      "button",
      { type: "button", class: "annotation-row", "data-focus": mark.id, "aria-current": isSelected ? "true" : null, onclick: (/** @type {MouseEvent} */ event) => onOpen(event.shiftKey || event.ctrlKey || event.metaKey), title: `${kindOf(mark).title} ${mark.label}, ${place}${mark.comment ? `: ${mark.comment}` : ""}` },
      swatch(colour ?? "#8c8c8c"),
      element("span", { "aria-hidden": "true", class: "muted" }, kindOf(mark).sign),
      element("span", { class: "clip name" }, mark.label),
      element("span", { class: "muted number clip grow" }, place.split(" – ")[0]),
      mark.review && element("span", { class: "badge" }, mark.review.verdict === "reject" ? "rejected" : `${mark.review.verdict}ed`),
      isDraft(mark) && element("span", { class: "badge" }, "draft"),
      mark.revision === 0 && element("span", { class: "muted", title: "Not saved yet" }, "•"),
      mark.comment && element("span", { class: "muted", title: mark.comment }, "✎"),
    ),
  );
}

/** @param {string[][]} pairs value and text */
function options(pairs) {
  return pairs.map(([value, text]) => element("option", { value }, text));
}
