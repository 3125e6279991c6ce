// Indicators of a view: which are chosen, how they are asked for, how their lines lie on the candles that are drawn.

/** @typedef {{name: string, default: number, least: number, most: number}} Parameter */
/** @typedef {{name: string, title: string, pane: "price" | "own", parameters: Parameter[]}} Offer what the server computes */
/** @typedef {{name: string, values: number[]}} Indicator one that is chosen, with its numbers in the order of the offer */

export const MOST_INDICATORS = 8;
const COLOURS = ["#e69f00", "#56b4e9", "#cc79a7", "#009e73", "#d55e00", "#0072b2", "#b8860b", "#9467bd"];

/**
 * How an indicator is written in a question: `macd:12-26-9`.
 * @param {Indicator} indicator
 */
export function writtenAs({ name, values }) {
  return values.length ? `${name}:${values.join("-")}` : name;
}

/**
 * An indicator with the numbers that are usual.
 * @param {Offer} offer
 * @returns {Indicator}
 */
export function usual({ name, parameters }) {
  return { name, values: parameters.map((parameter) => parameter.default) };
}

/**
 * What of a kept choice the server offers, its numbers within their limits.
 * @param {unknown} kept
 * @param {Offer[]} offers
 * @returns {Indicator[]}
 */
export function usableIndicators(kept, offers) {
  if (!Array.isArray(kept)) return [];
  return kept.slice(0, MOST_INDICATORS).flatMap((each) => {
    const offer = offers.find(({ name }) => name === each?.name);
    if (!offer) return [];
    const values = offer.parameters.map((parameter, index) => {
      const value = Number(each.values?.[index]);
      return value >= parameter.least && value <= parameter.most ? value : parameter.default;
    });
    return [{ name: offer.name, values }];
  });
}

/**
 * The colour of a line: one an indicator, fainter ones for its further lines.
 * @param {number} place of the indicator
 * @param {number} line of the indicator's lines
 */
export function lineColour(place, line) {
  return COLOURS[(place + 3 * line) % COLOURS.length];
}

/**
 * A line's values at the window's candles; NaN where there is none, as during the warm-up.
 * @param {import("./candle-window.js").CandleWindow} window
 * @param {ArrayLike<number>} times open times of the values, ascending
 * @param {ArrayLike<number>} values
 * @returns {Float64Array}
 */
export function onWindow(window, times, values) {
  const found = new Float64Array(window.length).fill(NaN);
  const { time } = window.columns;
  for (let place = 0, index = 0; place < times.length && index < window.length; ) {
    if (times[place] === time[index]) found[index] = values[place];
    if (times[place] <= time[index]) place += 1;
    else index += 1;
  }
  return found;
}
