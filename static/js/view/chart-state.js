// What the chart says of itself to the parts around it.

/**
 * @typedef {object} ChartState
 * @property {string} timeframe what the person chose
 * @property {string} level what is drawn
 * @property {boolean} busy
 * @property {unknown} error why candles could not be loaded
 * @property {number} unseen live candles that are not drawn yet, since the newest ones are out of view
 * @property {boolean} isEmpty the series has no candle to show
 * @property {boolean} pricesHidden axis and read-out show no price
 * @property {number | null} until candles from this time on are hidden
 */

/**
 * The state before a series is open.
 * @type {ChartState}
 */
export const OPENING = { timeframe: "1m", level: "1m", busy: false, error: null, unseen: 0, isEmpty: false, pricesHidden: false, until: null };
