// What a person is doing with annotations: tool, label, selection, and the gestures that change them.

import { endOf, sideOfLabel, startOf } from "../model/annotation.js";
import { activeLabels, labelWithKey } from "../model/label-set.js";
import { edited, spanBetween } from "../model/mark-edit.js";
import { createStore } from "../model/store.js";
import { nextStretch, unlabelledStretches } from "../model/unlabelled.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("../model/annotation.js").Anchor} Anchor */
/** @typedef {"select" | "span" | "point" | "trade"} Tool */

/**
 * @typedef {object} AnnotatorState
 * @property {Tool} tool
 * @property {string | null} armed name of the label that drawing gives
 * @property {string | null} selected id of an annotation
 * @property {{kind: "span" | "trade", anchor: Anchor} | null} pending begun by key, not ended yet
 * @property {boolean} hidden
 */

const INSIDE = 1e-6; // of a candle: a position just inside the candle that opens there

/** Performs what pointer, keys and panel ask for. */
export class Annotator {
  #view;
  #book;
  #labels;
  #cursor;
  #toast;

  /**
   * @param {object} parts
   * @param {import("./chart-view.js").ChartView} parts.view
   * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
   * @param {import("../model/store.js").Store<import("../model/label-set.js").LabelSet | null>} parts.labels
   * @param {import("./cursor.js").Cursor} parts.cursor
   * @param {import("./toast.js").Toast} parts.toast
   */
  constructor({ view, book, labels, cursor, toast }) {
    this.#view = view;
    this.#book = book;
    this.#labels = labels;
    this.#cursor = cursor;
    this.#toast = toast;
    /** @type {import("../model/store.js").Store<AnnotatorState>} */
    this.state = createStore(/** @type {AnnotatorState} */ ({ tool: "select", armed: null, selected: null, pending: null, hidden: false }));
  }

  get selected() {
    return this.#book.index.get(this.state.get().selected);
  }

  /** @param {Tool} tool */
  setTool(tool) {
    this.#change({ tool, pending: null });
  }

  /** @param {string | null} id */
  select(id) {
    this.#change({ selected: id, pending: null });
  }

  /**
   * Give a label to the selected annotation, or arm it for drawing.
   * @param {string} name
   */
  useLabel(name) {
    const { tool } = this.state.get();
    const mark = this.selected;
    this.#change({ armed: name });
    if (mark) return this.put({ ...mark, label: name });
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
    const labels = activeLabels(this.#labels.get());
    const { armed } = this.state.get();
    return labels.find(({ name }) => name === armed)?.name ?? labels[0]?.name ?? null;
  }

  /**
   * Make an annotation that is not stored yet.
   * @template {object} Place
   * @param {Place} place its kind and where it is
   */
  draft(place) {
    const label = this.labelName();
    if (!label) return null;
    const common = { id: crypto.randomUUID(), label, comment: "", confidence: null, revision: 0 };
    return /** @type {Annotation} */ (/** @type {unknown} */ ({ ...common, ...place }));
  }

  /**
   * @param {number} one position
   * @param {number} other position
   */
  spanDraft(one, other) {
    return this.draft({ kind: "span", ...spanBetween(this.#view.window, one, other) });
  }

  /**
   * @param {Anchor} one
   * @param {Anchor} other
   */
  tradeDraft(one, other) {
    const [entry, exit] = one.time <= other.time ? [one, other] : [other, one];
    return this.draft({ kind: "trade", side: sideOfLabel(this.labelName() ?? ""), entry, exit, stop: null, target: null });
  }

  /**
   * Show and store an annotation.
   * @param {Annotation | null} mark
   */
  put(mark) {
    if (mark) this.#book.put(mark);
  }

  /**
   * Store what was just drawn; the tool stays, so that the next one can be drawn at once.
   * @param {Annotation | null} mark
   */
  putDrawn(mark) {
    if (!mark) return this.#toast("The label set is not loaded yet, so there is no label to draw with");
    this.#book.put(mark);
    this.#change({ pending: null, selected: null });
  }

  deleteSelected() {
    const mark = this.selected;
    if (!mark) return;
    this.#book.remove(mark.id);
    this.select(null);
  }

  /**
   * A span edge at the crosshair: moves the selected span's, begins a span, or ends the begun one.
   * @param {"start" | "end"} edge
   */
  spanEdge(edge) {
    const at = this.#cursor.get();
    if (!at) return;
    const [mark, { pending }] = [this.selected, this.state.get()];
    if (mark?.kind === "span") return this.#moveEdgeTo(mark, edge, at.position);
    if (pending?.kind === "span" && edge === "end") {
      const begun = this.#view.window.positionOf(pending.anchor.time) + INSIDE;
      return this.putDrawn(this.spanDraft(begun, at.position));
    }
    this.#begin("span", at);
  }

  /** @param {"entry" | "exit"} end */
  tradeEnd(end) {
    const at = this.#cursor.get();
    if (!at) return;
    const anchor = { time: at.time, price: at.price };
    const { pending } = this.state.get();
    if (end === "entry") return this.#begin("trade", at);
    if (pending?.kind !== "trade") return this.#toast("Press E where the trade enters first");
    this.putDrawn(this.tradeDraft(pending.anchor, anchor));
  }

  /** Place a point at the crosshair, while the point tool is in hand. */
  place() {
    const at = this.#cursor.get();
    if (at && this.state.get().tool === "point") this.putDrawn(this.draft({ kind: "point", time: at.time, price: at.price }));
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
    const part = mark.kind === "trade" ? ends[edge] : mark.kind === "span" ? edge : "body";
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
    const isInView = range && startOf(mark) >= range.from && endOf(mark) <= range.to;
    if (!isInView) this.#view.goTo((startOf(mark) + endOf(mark)) / 2);
  }

  /** @param {1 | -1} direction */
  goToUnlabelled(direction) {
    const [bounds, at] = [this.#view.bounds(), this.#cursor.get()];
    if (!bounds || !at) return;
    const stretch = nextStretch(unlabelledStretches(this.#book.index.all(), bounds, this.#view.timeframe), at.time, direction);
    if (!stretch) return this.#toast(direction > 0 ? "No unlabelled stretch after this one" : "No unlabelled stretch before this one");
    this.#view.goTo(stretch.from);
    this.#cursor.aim(stretch.from);
  }

  /** @param {"undo" | "redo"} direction */
  async step(direction) {
    const { failing } = this.#book.queue.state.get();
    if (failing) return this.#toast(`Nothing can be ${direction === "undo" ? "undone" : "redone"} while changes are not saved: ${failing}`, { tone: "danger" });
    try {
      const title = await this.#book.step(direction);
      const done = direction === "undo" ? "Undone" : "Redone";
      this.#toast(title ? `${done}: ${title}` : `Nothing to ${direction}`);
    } catch (error) {
      this.#toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
    }
  }

  /** Give up the drawing, then the selection, then the tool. */
  escape() {
    const { pending, selected } = this.state.get();
    if (pending) this.#change({ pending: null });
    else if (selected) this.select(null);
    else this.setTool("select");
  }

  toggleHidden() {
    this.#change({ hidden: !this.state.get().hidden });
  }

  /**
   * @param {import("../model/annotation.js").Span} mark
   * @param {"start" | "end"} edge
   * @param {number} position
   */
  #moveEdgeTo(mark, edge, position) {
    const { window } = this.#view;
    const wanted = spanBetween(window, position, position)[edge];
    const candles = window.positionOf(wanted) - window.positionOf(mark[edge]);
    this.put(edited(mark, edge, { candles, price: 0 }, window));
  }

  /**
   * @param {"span" | "trade"} kind
   * @param {Anchor} at
   */
  #begin(kind, { time, price }) {
    this.#change({ pending: { kind, anchor: { time, price } }, selected: null });
  }

  /** @param {Partial<AnnotatorState>} part */
  #change(part) {
    this.state.update((now) => ({ ...now, ...part }));
  }
}
