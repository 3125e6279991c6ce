// What a person is doing with annotations: tool, label, selection, and the gestures that change them.

import { endOf, sideOfLabel, startOf } from "../model/annotation.js";
import { changedBy } from "../model/bulk.js";
import { activeLabels, labelWithKey } from "../model/label-set.js";
import { snapped, withMagnet } from "../model/magnet.js";
import { edited, spanBetween, withinSeries } from "../model/mark-edit.js";
import { createStore } from "../model/store.js";
import { nextStretch, unlabelledStretches } from "../model/unlabelled.js";
import { takeStep } from "./undoing.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("../model/annotation.js").Anchor} Anchor */
/** @typedef {"select" | "span" | "point" | "trade" | "level" | "trend_line" | "chart_class" | "walk" | "ruler"} Tool */

/**
 * @typedef {object} AnnotatorState
 * @property {Tool} tool
 * @property {string | null} armed name of the label that drawing gives
 * @property {string | null} selected id of the annotation that the panel shows
 * @property {readonly string[]} chosen ids of all selected ones, that one included
 * @property {{kind: "span" | "trade" | "trend_line" | "chart_class", anchor: Anchor} | null} pending begun by key, not ended yet
 * @property {boolean} hidden
 */

/** @type {AnnotatorState} */
const OPENING = { tool: "select", armed: null, selected: null, chosen: [], pending: null, hidden: false };

/** Performs what pointer, keys and panel ask for. */
export class Annotator {
  #view;
  #book;
  #labels;
  #cursor;
  #toast;
  #settings;

  /**
   * @param {object} parts
   * @param {import("./chart-view.js").ChartView} parts.view
   * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
   * @param {import("../model/store.js").Store<import("../model/label-set.js").LabelSet | null>} parts.labels
   * @param {import("./cursor.js").Cursor} parts.cursor
   * @param {import("./toast.js").Toast} parts.toast
   * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} parts.settings
   */
  constructor({ view, book, labels, cursor, toast, settings }) {
    this.#view = view;
    this.#book = book;
    this.#labels = labels;
    this.#cursor = cursor;
    this.#toast = toast;
    this.#settings = settings;
    this.state = createStore(OPENING);
  }

  /** @param {import("./chart-view.js").ChartView} view the pane whose candles the next gesture is about */
  workOn(view) {
    this.#view = view;
  }

  get selected() {
    return this.#book.index.get(this.state.get().selected);
  }

  /** @returns {Annotation[]} every selected one that is still there */
  get chosen() {
    return this.state.get().chosen.flatMap((id) => this.#book.index.get(id) ?? []);
  }

  get isMagnetic() {
    return this.#settings.get().magnet;
  }

  toggleMagnet() {
    this.#settings.update((now) => ({ ...now, magnet: !now.magnet }));
  }

  /** @param {Tool} tool */
  setTool(tool) {
    this.change({ tool, pending: null });
  }

  /** @param {string | null} id */
  select(id) {
    this.change({ selected: id, chosen: id === null ? [] : [id], pending: null });
  }

  /** @param {string[]} ids the last one is shown in the panel */
  selectAll(ids) {
    this.change({ selected: ids.at(-1) ?? null, chosen: ids, pending: null });
  }

  /**
   * Add one to the selection, or take it out.
   * @param {string} id
   */
  toggle(id) {
    const { chosen } = this.state.get();
    this.selectAll(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  }

  /** Select what is in view. */
  selectShown() {
    const range = this.#view.visible();
    if (range) this.selectAll(this.#book.index.between(range.from, range.to).map(({ mark }) => mark.id));
  }

  /**
   * Give a label to every selected annotation, or arm it for drawing.
   * @param {string} name
   */
  useLabel(name) {
    const { tool } = this.state.get();
    const marks = this.chosen;
    this.change({ armed: name });
    if (marks.length) return this.changeAll(marks, { label: name });
    if (tool === "select") this.setTool("span");
  }

  /** @param {string} key */
  useLabelKey(key) {
    const label = labelWithKey(this.#labels.get(), key);
    if (label) this.useLabel(label.name);
    else this.#toast(`No label has the key ${key}; give it one with “Edit labels”`);
  }

  /** The label that drawing gives: the armed one while it exists, else the first. */
  labelName() {
    const names = activeLabels(this.#labels.get()).map(({ name }) => name);
    return names.find((name) => name === this.state.get().armed) ?? names[0] ?? null;
  }

  /**
   * Make an annotation that is not stored yet.
   * @param {object} place its kind and where it is
   * @param {string | null} [label]
   */
  draft(place, label = this.labelName()) {
    if (!label) return null;
    const common = { id: crypto.randomUUID(), label, comment: "", confidence: null, revision: 0 };
    return /** @type {Annotation} */ (/** @type {unknown} */ ({ ...common, ...place }));
  }

  /**
   * An annotation over the candles between two positions.
   * @param {number} one
   * @param {number} other
   * @param {"span" | "chart_class"} [kind]
   */
  spanDraft(one, other, kind = "span") {
    return this.draft({ kind, ...spanBetween(this.#view.window, one, other) });
  }

  /**
   * A trade or a trend line between two anchors.
   * @param {"trade" | "trend_line"} kind
   * @param {Anchor} one
   * @param {Anchor} other
   */
  pairDraft(kind, one, other) {
    const [first, last] = (one.time <= other.time ? [one, other] : [other, one]).map((anchor) => this.magnetic(anchor));
    if (kind === "trend_line") return last.time > first.time ? this.draft({ kind, start: first, end: last, extend: "none" }) : null;
    return this.draft({ kind, side: sideOfLabel(this.labelName() ?? ""), entry: first, exit: last, stop: null, target: null });
  }

  /**
   * What stands on one candle: a point, or a level from there on.
   * @param {"point" | "level"} kind
   * @param {Anchor} at
   */
  spotDraft(kind, at) {
    const { time, price } = this.magnetic(at);
    return this.draft(kind === "point" ? { kind, time, price } : { kind, time, price, until: null });
  }

  /** @param {Anchor} anchor its price on the candle's nearest one while the magnet is on */
  magnetic({ time, price }) {
    return this.isMagnetic ? snapped({ time, price }, this.#view.window) : { time, price };
  }

  /**
   * An annotation after a drag of one of its parts.
   * @param {Annotation} mark
   * @param {import("../model/mark-edit.js").Part} part
   * @param {import("../model/mark-edit.js").Moved} moved
   */
  dragged(mark, part, moved) {
    const changed = edited(mark, part, moved, this.#view.window);
    return this.isMagnetic ? withMagnet(changed, part, this.#view.window) : changed;
  }

  /**
   * Show and store an annotation.
   * @param {Annotation | null} mark
   */
  put(mark) {
    if (mark) this.#book.put(withinSeries(mark, this.#view.bounds()));
  }

  /**
   * Change many at once: one step of undo.
   * @param {Annotation[]} marks
   * @param {Parameters<typeof changedBy>[1]} change
   */
  changeAll(marks, change) {
    this.#book.putAll(changedBy(marks, change));
  }

  /**
   * Store what was just drawn; the tool stays, so that the next one can be drawn at once.
   * @param {Annotation | null} mark
   */
  putDrawn(mark) {
    if (!this.labelName()) return this.#toast("The label set is not loaded yet, so there is no label to draw with");
    if (!mark) return this.#toast("It ends on another candle than it begins on: drag further");
    const twin = this.#book.twinOf(mark);
    if (twin) this.#toast(`${twin.label} stands there already`);
    else this.put(mark);
    this.change({ pending: null, selected: null, chosen: [] });
  }

  deleteSelected() {
    const ids = this.chosen.map(({ id }) => id);
    if (ids.length) this.#book.removeAll(ids);
    this.select(null);
  }

  /**
   * Move an edge of the selected annotation by candles.
   * @param {"start" | "end"} edge
   * @param {1 | -1} step
   */
  stepEdge(edge, step) {
    const mark = this.selected;
    if (!mark) return;
    const ends = { start: /** @type {const} */ ("entry"), end: /** @type {const} */ ("exit") };
    const part = mark.kind === "trade" ? ends[edge] : mark.kind === "point" || mark.kind === "level" ? "body" : edge;
    const changed = edited(mark, part, { candles: step, price: 0 }, this.#view.window);
    if (startOf(changed) !== startOf(mark) || endOf(changed) !== endOf(mark)) this.put(changed);
  }

  /** @param {1 | -1} step */
  selectNeighbour(step) {
    const mark = this.#book.index.neighbour(this.state.get().selected, step);
    if (mark) this.jumpTo(mark);
  }

  /**
   * Select an annotation and bring it into view.
   * @param {Annotation} mark
   */
  jumpTo(mark) {
    this.select(mark.id);
    const range = this.#view.visible();
    const [start, end] = [startOf(mark), endOf(mark)];
    if (Number.isFinite(start) && !(range && start >= range.from && end <= range.to)) this.#view.goTo((start + end) / 2);
  }

  /** @param {1 | -1} direction */
  goToUnlabelled(direction) {
    const [bounds, at] = [this.#view.bounds(), this.#cursor.get()];
    if (!bounds || !at) return;
    const stretches = unlabelledStretches(this.#book.index.all(), bounds, this.#view.timeframe, this.#book.reviewed.get());
    const stretch = nextStretch(stretches, at.time, direction);
    if (!stretch) return this.#toast(direction > 0 ? "No unlabelled stretch after this one" : "No unlabelled stretch before this one");
    this.#view.goTo(stretch.from);
    this.#cursor.aim(stretch.from);
  }

  /** @param {"undo" | "redo"} direction */
  step(direction) {
    return takeStep(this.#book, this.#toast, direction);
  }

  /** Give up the drawing, then the selection, then the tool. */
  escape() {
    const { pending, selected } = this.state.get();
    if (pending) this.change({ pending: null });
    else if (selected) this.select(null);
    else this.setTool("select");
  }

  toggleHidden() {
    this.change({ hidden: !this.state.get().hidden });
  }

  /** @param {Partial<AnnotatorState>} part */
  change(part) {
    this.state.update((now) => ({ ...now, ...part }));
  }
}
