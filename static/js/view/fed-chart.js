// Candles that are fed to the open series while a person looks: closed ones join the chart, a forming one moves on it.

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/types.js").Candle} Candle */

/**
 * A notice of the series' room.
 * @typedef {object} Notice
 * @property {string} [what] left out after a cut: anything may have changed
 * @property {number} [first] open times of the first and last stored candle
 * @property {number} [last]
 * @property {number} [candles]
 * @property {Candle | null} [newest] null where only older ones came, or many from a file
 * @property {number | null} [previous] open time of the candle before the newest
 * @property {Candle} [candle] that forms
 */

/**
 * Keep the chart up with what is stored.
 * @param {PageContext} context
 * @param {import("../net/link.js").Link} link
 */
export function mountFedChart(context, link) {
  /** @type {(() => void) | null} */
  let leave = null;
  /** @type {Candle | null} the newest that forms; a window that is loaded meanwhile is drawn without it */
  let forming = null;
  const hear = (/** @type {Notice} */ notice) => {
    if (notice.what === "forming") forming = notice.candle ?? null;
    take(context, notice);
  };
  const follow = () => {
    leave?.();
    forming = null;
    const id = context.series.get().current?.id;
    leave = id === undefined ? null : link.followSeries(id, (notice) => hear(/** @type {Notice} */ (notice)));
  };
  context.series.subscribe((now, before) => now.current?.id !== before.current?.id && follow());
  context.chart.state.subscribe(() => forming && context.chart.showForming(forming));
  follow();
}

/**
 * @param {PageContext} context
 * @param {Notice} notice
 */
function take(context, notice) {
  if (notice.what === "forming" && notice.candle) context.chart.showForming(notice.candle);
  else if (notice.what === "candles") grow(context, notice);
  else if (notice.what === undefined) askAgain(context);
}

/**
 * Ask for the series again. Where that fails the badge of the connection says why, and its next message asks once more.
 * @param {Pick<PageContext, "reloadSeries">} context
 */
function askAgain({ reloadSeries }) {
  reloadSeries().catch(() => undefined);
}

/**
 * One candle more joins the chart at once; after a jump, or where older ones came too, the page asks again.
 * @param {PageContext} context
 * @param {Notice} notice
 */
function grow({ series, chart, reloadSeries }, { first = 0, last = 0, candles = 0, newest, previous }) {
  const { current } = series.get();
  if (current === null) return;
  if (!newest || previous !== current.last || candles !== current.candles + 1) return askAgain({ reloadSeries });
  const grown = { ...current, first, last, candles };
  series.update((now) => ({ ...now, current: grown, items: now.items.map((each) => (each.id === grown.id ? grown : each)) }));
  if (chart.state.get().until === null) chart.appendClosed(newest);
  else chart.refresh(grown);
}
