// Walk mode: the crosshair stands on a candle, an arrow or a digit gives it its class and goes on to the next one.

import { activeLabels, labelWithKey } from "../model/label-set.js";
import { stepMs } from "../model/timeframe.js";
import { classed, countClassed, walkLabels } from "../model/walk.js";
import { button, element, fill } from "./element.js";

const SHOWN = 120; // candles in view when walking starts where several stand in one drawn candle
const ARROWS = /** @type {const} */ ([["up", "↑"], ["flat", "→"], ["down", "↓"]]);
const ACTIONS = /** @type {Record<string, "up" | "flat" | "down">} */ ({ "cursor-up": "up", "cursor-right": "flat", "cursor-down": "down" });

/**
 * @typedef {object} WalkParts
 * @property {import("./annotator.js").Annotator} annotator
 * @property {import("../net/annotation-book.js").AnnotationBook} book
 * @property {import("../model/store.js").Store<import("../model/label-set.js").LabelSet | null>} labels
 * @property {import("./chart-view.js").ChartView} view
 * @property {import("./cursor.js").Cursor} cursor
 * @property {import("./keyboard.js").Keyboard} keyboard
 * @property {import("./toast.js").Toast} toast
 */

/** The bar over the chart while the walk tool is in hand. */
export class WalkBar {
  #parts;
  #bar = element("div", { class: "mode-bar", role: "group", "aria-label": "Walk over candles" });
  #arrows = element("span", { class: "row" });
  #count = element("span", { class: "muted number", "aria-live": "polite" });
  /** @type {Partial<import("../model/walk.js").WalkLabels>} */
  #chosen = {};
  /** @type {(() => void) | null} */
  #leave = null;

  /**
   * @param {HTMLElement} root
   * @param {WalkParts} parts
   */
  constructor(root, parts) {
    this.#parts = parts;
    const { annotator, labels, book } = parts;
    const skip = button("Skip", () => this.#advance(1), { class: "small", title: "Leave this candle without a class" });
    const back = button("Back", () => this.#advance(-1), { class: "small", title: `One candle back (${parts.keyboard.keyOf("cursor-left")})` });
    const done = button("Done", () => annotator.setTool("select"), { class: "small", title: "End walking (Esc)" });
    this.#bar.append(element("b", {}, "Walk"), this.#arrows, back, skip, this.#count, done);
    root.append(this.#bar);
    annotator.state.subscribe((now, before) => now.tool !== before.tool && this.#toggle());
    labels.subscribe(() => this.#draw());
    book.state.subscribe((now, before) => now.index !== before.index && this.#drawCount());
    this.#toggle();
  }

  #toggle() {
    const isOn = this.#parts.annotator.state.get().tool === "walk";
    this.#bar.hidden = !isOn;
    if (!isOn) {
      this.#leave?.();
      this.#leave = null;
      return;
    }
    this.#leave ??= this.#parts.keyboard.enter((action) => this.#take(action));
    this.#parts.annotator.select(null);
    this.#showCandles();
    this.#draw();
  }

  /** Zoom in where the drawn candles are coarser than those that are walked over, and put the crosshair on one. */
  #showCandles() {
    const { view, cursor } = this.#parts;
    const [at, { timeframe, level }] = [cursor.get(), view.drawn()];
    if (!at) return;
    const half = (SHOWN / 2) * stepMs(timeframe);
    if (level !== timeframe) view.showRange({ from: at.time - half, to: at.time + half });
    else cursor.set(at.index);
  }

  /** @param {string} action */
  #take(action) {
    const arrow = ACTIONS[action];
    if (arrow) this.#give(this.#labels()?.[arrow]);
    else if (action.startsWith("label-")) this.#give(labelWithKey(this.#parts.labels.get(), action.slice("label-".length))?.name);
    return Boolean(arrow) || action.startsWith("label-");
  }

  #labels() {
    return walkLabels(activeLabels(this.#parts.labels.get()).map(({ name }) => name), this.#chosen);
  }

  /** @param {string | undefined} label */
  #give(label) {
    const { view, cursor, book, annotator, toast } = this.#parts;
    const at = cursor.get();
    if (!at || !label) return toast("No label has that key; give it one with “Edit labels”");
    if (view.drawn().level !== view.drawn().timeframe) return toast("Zoom in first: several candles stand in one drawn candle");
    const candle = { start: view.window.columns.time[at.index], end: view.window.closeOf(at.index) };
    const standing = book.index.between(candle.start, candle.start).map(({ mark }) => mark);
    annotator.put(classed(standing, candle, label, () => crypto.randomUUID()));
    this.#advance(1);
  }

  /** @param {1 | -1} step */
  #advance(step) {
    const { view, cursor, toast } = this.#parts;
    const [at, range] = [cursor.get(), view.visible()];
    if (!at || !range) return;
    const index = at.index + step;
    if (index < 0 || index >= view.window.length) return toast(step > 0 ? "That was the last candle" : "That is the first candle");
    const { time } = view.window.columns;
    if (time[index] < range.from || view.window.closeOf(index) > range.to) view.showRange(view.window.turned(range, step / 2));
    cursor.set(index);
  }

  #draw() {
    if (this.#bar.hidden) return;
    const names = activeLabels(this.#parts.labels.get()).map(({ name }) => name);
    const now = this.#labels();
    fill(this.#arrows, ...(now ? ARROWS.map(([arrow, sign]) => this.#arrow(arrow, sign, names, now[arrow])) : []));
    this.#drawCount();
  }

  /**
   * @param {"up" | "flat" | "down"} arrow
   * @param {string} sign
   * @param {string[]} names
   * @param {string} chosen
   */
  #arrow(arrow, sign, names, chosen) {
    const menu = element("select", { "aria-label": `Class of ${sign}` }, ...names.map((name) => element("option", { value: name }, name)));
    menu.value = chosen;
    menu.addEventListener("change", () => {
      this.#chosen = { ...this.#chosen, [arrow]: menu.value };
      menu.blur();
    });
    return element("span", { class: "joined-key" }, button(sign, () => this.#give(this.#labels()?.[arrow]), { class: "icon", "aria-label": `Give ${chosen} and go on` }), menu);
  }

  #drawCount() {
    const { book, view } = this.#parts;
    const bounds = view.bounds();
    if (this.#bar.hidden || !bounds) return;
    this.#count.textContent = `${countClassed(book.index.all(), bounds, stepMs(view.timeframe)).toLocaleString("en-US")} classed`;
  }
}
