// Drawing at the crosshair, without a mouse: edges of spans, ends of trades and lines, points and levels.

import { edited, spanBetween } from "../model/mark-edit.js";

/** @typedef {import("../model/annotation.js").Anchor} Anchor */
/** @typedef {import("./annotator.js").AnnotatorState} AnnotatorState */

const INSIDE = 1e-6; // of a candle: a position just inside the candle that opens there

/** Performs the keys that draw. */
export class KeyDrawing {
  #annotator;
  #view;
  #cursor;
  #toast;

  /**
   * @param {import("./annotator.js").Annotator} annotator
   * @param {import("./chart-view.js").ChartView} view
   * @param {import("./cursor.js").Cursor} cursor
   * @param {import("./toast.js").Toast} toast
   */
  constructor(annotator, view, cursor, toast) {
    this.#annotator = annotator;
    this.#view = view;
    this.#cursor = cursor;
    this.#toast = toast;
  }

  /**
   * A span edge at the crosshair: moves the selected one's, begins a span, or ends the begun one.
   * @param {"start" | "end"} edge
   */
  spanEdge(edge) {
    const at = this.#at();
    if (!at) return;
    const mark = this.#annotator.selected;
    const { pending, tool } = this.#annotator.state.get();
    if (mark && "start" in mark && typeof mark.start === "number") return this.#moveEdgeTo(/** @type {import("../model/annotation.js").Span} */ (mark), edge, at.position);
    const isBegun = pending?.kind === "span" || pending?.kind === "chart_class";
    if (!isBegun || edge === "start") return this.#begin(tool === "chart_class" ? "chart_class" : "span", at);
    const begun = this.#view.window.positionOf(pending.anchor.time) + INSIDE;
    this.#annotator.putDrawn(this.#annotator.spanDraft(begun, at.position, pending.kind === "chart_class" ? "chart_class" : "span"));
  }

  /** @param {"entry" | "exit"} end */
  tradeEnd(end) {
    const at = this.#at();
    if (!at) return;
    const { pending } = this.#annotator.state.get();
    if (end === "entry") return this.#begin("trade", at);
    if (pending?.kind !== "trade") return this.#toast("Mark where the trade enters first");
    this.#annotator.putDrawn(this.#annotator.pairDraft("trade", pending.anchor, at));
  }

  /** Place what the tool in hand draws: a point, a level, or an end of a trend line. */
  place() {
    const at = this.#at();
    if (!at) return;
    const { tool, pending } = this.#annotator.state.get();
    if (tool === "point" || tool === "level") this.#annotator.putDrawn(this.#annotator.spotDraft(tool, at));
    if (tool === "chart_class") this.wholeChart();
    if (tool !== "trend_line") return;
    if (pending?.kind !== "trend_line") return this.#begin("trend_line", at);
    if (pending.anchor.time === at.time) return this.#toast("A trend line ends on another candle than it begins on");
    this.#annotator.putDrawn(this.#annotator.pairDraft("trend_line", pending.anchor, at));
  }

  /** The crosshair, whose candles are the lead chart's. */
  #at() {
    this.#annotator.workOn(this.#view);
    return this.#cursor.get();
  }

  /** Give the armed label to the whole chart. */
  wholeChart() {
    this.#annotator.putDrawn(this.#annotator.draft({ kind: "chart_class", start: null, end: null }));
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
    this.#annotator.put(edited(mark, edge, { candles, price: 0 }, window));
  }

  /**
   * @param {NonNullable<AnnotatorState["pending"]>["kind"]} kind
   * @param {Anchor} at
   */
  #begin(kind, { time, price }) {
    this.#annotator.change({ pending: { kind, anchor: { time, price } }, selected: null, chosen: [] });
  }
}
