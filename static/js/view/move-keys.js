// Moves crosshair and view by keyboard.

/**
 * @param {import("./keyboard.js").Keyboard} keyboard
 * @param {import("./chart-view.js").ChartView} view
 */
export function mountMoveKeys(keyboard, view) {
  /** @type {number | null} time of the candle that the crosshair is on */
  let time = null;
  view.chart.onCrosshair((at) => {
    if (at && at.index >= 0 && at.index < view.window.length) time = view.window.columns.time[at.index];
  });

  /** @param {number} step */
  const moveCursor = (step) => {
    const candles = view.window;
    const range = view.visible();
    if (!candles.length || !range) return;
    const inView = time !== null && time >= range.from && time < range.to;
    const start = inView && time !== null ? candles.indexAt(time) : candles.indexAt((range.from + range.to) / 2);
    const index = Math.min(candles.length - 1, Math.max(0, start + step));
    time = candles.columns.time[index];
    if (time < range.from || candles.closeOf(index) > range.to) view.chart.scrollBy(step);
    view.chart.pointAt(index, candles.columns.close[index]);
  };
  /** @param {number} share of a screen */
  const page = (share) => {
    const range = view.visible();
    const step = range ? (range.to - range.from) * share : 0;
    if (range) view.showRange({ from: range.from + step, to: range.to + step });
  };
  /** @param {number} factor */
  const zoom = (factor) => {
    const range = view.visible();
    if (!range) return;
    const middle = time !== null && time > range.from && time < range.to ? time : (range.from + range.to) / 2;
    view.showRange({ from: middle - (middle - range.from) * factor, to: middle + (range.to - middle) * factor });
  };
  keyboard.on("cursor-left", () => moveCursor(-1));
  keyboard.on("cursor-right", () => moveCursor(1));
  keyboard.on("page-left", () => page(-0.9));
  keyboard.on("page-right", () => page(0.9));
  keyboard.on("zoom-in", () => zoom(0.7));
  keyboard.on("zoom-out", () => zoom(1 / 0.7));
  keyboard.on("first", () => view.goTo(view.bounds()?.from ?? 0));
  keyboard.on("last", () => view.goToEnd());
}
