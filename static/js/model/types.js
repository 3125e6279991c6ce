// The shapes that several modules share, as types only.

/**
 * One series as `GET /api/series` gives it.
 * @typedef {object} Series
 * @property {number} id
 * @property {string} symbol
 * @property {string} timeframe its source timeframe
 * @property {string} source
 * @property {number} candles
 * @property {number | null} first open time of the first candle, ms UTC
 * @property {number | null} last open time of the last candle, ms UTC
 * @property {boolean} simulated
 * @property {number | null} precision decimals of its prices; null when they are not known
 * @property {number} label_set_id
 * @property {Record<string, unknown>} facts
 */

/**
 * What the page knows of series: all of them and the one on the chart.
 * @typedef {object} SeriesState
 * @property {Series[]} items
 * @property {Series | null} current
 * @property {boolean} isLoaded whether the list was read at least once
 */

/**
 * What the server is asked for.
 * @typedef {object} CandleRequest
 * @property {number} seriesId
 * @property {string} source the series' own timeframe
 * @property {string} timeframe
 * @property {{from: number, to: number}} range
 * @property {number} beside of the series' own candles, on each side of the range, however long the gaps there are
 * @property {number} most candles; a coarser level comes where there are more
 * @property {number | null} until nothing from this time on may be seen, not even inside a coarser candle
 */

/**
 * One closed candle.
 * @typedef {object} Candle
 * @property {number} time open time, ms UTC
 * @property {number} open
 * @property {number} high
 * @property {number} low
 * @property {number} close
 * @property {number | null} volume
 */

export {};
