// Moves crosshair and view by keyboard, and says the candle that the crosshair came to.

import { formatPrice, formatTime } from "../model/format.js";
import { earliestView } from "../model/viewport.js";
import { Zone } from "../model/zone.js";
import { element } from "./element.js";

const UTC = new Zone("UTC");

/**
 * @param {import("./keyboard.js").Keyboard} keyboard
 * @param {import("./chart-view.js").ChartView} view
 * @param {import("./cursor.js").Cursor} cursor
 * @param {HTMLElement} root gets the words for a screen reader
 */
export function mountMoveKeys(keyboard, view, cursor, root) {
  const words = element("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  root.append(words);
  /** @param {number} index */
  const say = (index) => (words.textContent = candleWords(view, index));
  /** @param {number} step */
  const moveCursor = (step) => {
    const [now, range, candles] = [cursor.get(), view.visible(), view.window];
    if (!now || !range) return;
    const index = Math.min(candles.length - 1, Math.max(0, now.index + step));
    if (candles.columns.time[index] < range.from || candles.closeOf(index) > range.to) view.chart.scrollBy(step);
    cursor.set(index);
    say(index);
  };
  /** @param {number} share of a screen */
  const page = (share) => {
    const range = view.visible();
    if (range) view.showRange(view.window.turned(range, share));
  };
  /** @param {number} factor */
  const zoom = (factor) => {
    const [now, range] = [cursor.get(), view.visible()];
    if (!now || !range) return;
    const [at, most] = [view.window.positionOf(now.time), view.mostInView()];
    const zoomed = view.window.moved(range, (from, to) => {
      const share = Math.min(factor, most / (to - from)); // beyond it the library would push the candles out of view
      return [at - (at - from) * share, at + (to - at) * share];
    });
    view.showRange(zoomed);
  };
  const toStart = () => {
    const [bounds, width] = [view.bounds(), view.widthInView()];
    if (bounds && width) view.showRange(earliestView(bounds, width));
  };
  keyboard.on("cursor-left", () => moveCursor(-1));
  keyboard.on("cursor-right", () => moveCursor(1));
  keyboard.on("cursor-up", () => cursor.stepPrice(1));
  keyboard.on("cursor-down", () => cursor.stepPrice(-1));
  keyboard.on("page-left", () => page(-0.9));
  keyboard.on("page-right", () => page(0.9));
  keyboard.on("zoom-in", () => zoom(0.7));
  keyboard.on("zoom-out", () => zoom(1 / 0.7));
  keyboard.on("first", toStart);
  keyboard.on("last", () => view.goToEnd());
}

/**
 * @param {import("./chart-view.js").ChartView} view
 * @param {number} index
 */
function candleWords(view, index) {
  const { time, open, high, low, close } = view.window.candle(index);
  const said = formatTime(time, UTC, view.window.level);
  if (view.state.get().pricesHidden) return `${said}, ${close >= open ? "up" : "down"}`;
  const prices = /** @type {const} */ ([["open", open], ["high", high], ["low", low], ["close", close]]);
  return [said, ...prices.map(([name, price]) => `${name} ${formatPrice(price, view.decimals)}`)].join(", ");
}
