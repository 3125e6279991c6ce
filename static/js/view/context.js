// What the page hands to every panel that it mounts, as types only.

/** @typedef {import("../net/api.js").Api} Api */
/** @typedef {import("../model/types.js").SeriesState} SeriesState */
/** @typedef {import("../model/types.js").Candle} Candle */
/** @typedef {import("../model/settings.js").Settings} Settings */

/**
 * The chart as other modules see it. Times are ms UTC, x and y are CSS pixels inside the chart.
 * @typedef {object} ChartAdapter
 * @property {(primitive: import("../../vendor/lightweight-charts.standalone.production.mjs").ISeriesPrimitive) => () => void} addPrimitive
 *   draws on the candle series; gives the function that takes it off
 * @property {() => void} repaint asks for one frame, after a primitive's data changed
 * @property {(timeMs: number | null, came?: number) => void} showUntil hides every candle from that open time on; null shows all. `came`:
 *   how many candles are seen more than before, where a replay jumps ahead
 * @property {(candle: Candle) => void} appendClosed adds a candle of the source timeframe at the end, and moves `showUntil` past it
 * @property {(candle: Candle) => void} showForming draws a candle that still changes after the newest one; nothing holds it
 * @property {(series: import("../model/types.js").Series) => void} refresh takes new facts about the open series, such as more candles
 * @property {() => {from: number, to: number} | null} visible
 * @property {() => void} goToEnd brings the newest candles into view
 * @property {() => void} retry asks again for what is in view
 * @property {import("../model/store.js").Store<import("./chart-state.js").ChartState>} state
 * @property {(watch: (range: {from: number, to: number}) => void) => () => void} onVisibleRange
 * @property {(timeMs: number) => number | null} timeToX middle of the candle that holds that time, also beyond the last one
 * @property {(x: number) => number | null} xToTime
 * @property {(price: number) => number | null} priceToY
 * @property {(y: number) => number | null} yToPrice
 * @property {() => number} candleWidth distance between two candles, px
 * @property {(timeMs: number) => void} goTo brings that time to the middle
 * @property {() => {timeframe: string, level: string}} drawn the user's timeframe and the one that is drawn
 */

/** @typedef {import("./keyboard.js").Keyboard} Keyboard panels say what happens for an action of `model/keys.js` */

/**
 * @typedef {object} PageContext
 * @property {Api} api
 * @property {import("../model/store.js").Store<SeriesState>} series
 * @property {() => Promise<void>} reloadSeries asks the server for the list again
 * @property {(id: number) => void} openSeries puts a series on the chart
 * @property {ChartAdapter} chart
 * @property {import("./toast.js").Toast} toast
 * @property {import("./dialog.js").Dialog} dialog
 * @property {import("../model/store.js").Store<Settings>} settings
 * @property {Keyboard} keyboard
 * @property {import("./tabs.js").Tabs} tabs side tabs: annotate, train, data
 * @property {{show: () => void, hide: () => void, toggle: () => void, tabs: import("./tabs.js").Tabs}} dock metrics and log below the chart
 */

export {};
