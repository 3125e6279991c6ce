// What the model said of each candle and what came of it, by open time; bounded; no DOM.

/** @typedef {import("./events.js").RunEvent} RunEvent */
/** @typedef {import("./events.js").CandlePredicted} CandlePredicted */
/** @typedef {import("./events.js").CandleScored} CandleScored */

/**
 * One candle as the model saw it.
 * @typedef {object} Told
 * @property {CandlePredicted | null} predicted made before the candle came
 * @property {CandleScored | null} scored null until it closed
 * @property {number | null} trendUp P(up) told when this candle closed
 * @property {boolean | null} trendCorrect whether that came true; null while it is not due or when the price stood still
 * @property {Record<string, number> | null} labels suggested when it closed: label → probability; null without a label head
 */

/** @typedef {"hit" | "miss" | "waiting" | "skipped"} Outcome */

/** Names of the five classes, from the strongest fall to the strongest rise. */
export const CLASS_NAMES = ["strong fall", "fall", "flat", "rise", "strong rise"];

/** Candles kept: more than a chart holds at once, far fewer than a run of weeks gives. */
const KEEP = 5000;

/** Predictions and outcomes of the last candles of a live run. */
export class Predictions {
  /** @type {Map<number, Told>} */
  #told = new Map();
  /** @type {CandlePredicted | null} */
  #latest = null;

  /** @returns {CandlePredicted | null} the prediction of the candle that has not come yet */
  get latest() {
    return this.#latest;
  }

  /** @returns {IterableIterator<[number, Told]>} open time and what is known, oldest first */
  entries() {
    return this.#told.entries();
  }

  /** @returns {boolean} whether the model suggests labels */
  get hasLabels() {
    return Boolean(this.#latest?.label_probabilities);
  }

  /** @returns {number} */
  get size() {
    return this.#told.size;
  }

  /** @param {readonly RunEvent[]} events */
  take(events) {
    for (const event of events) {
      if (event.type === "candle_predicted") this.#predicted(event);
      else if (event.type === "candle_scored") this.#scored(event);
    }
    this.#forget();
  }

  /**
   * @param {number} time open time of a candle, ms UTC
   * @returns {Told | undefined}
   */
  at(time) {
    return this.#told.get(time);
  }

  /**
   * Find the candle that holds a moment: the last one that opened at it or less than a candle's length before.
   * @param {number} moment ms UTC
   * @param {number} length of a drawn candle, ms
   * @returns {{time: number, told: Told} | null}
   */
  within(moment, length) {
    let found = null;
    for (const [time, told] of this.#told) if (time <= moment && moment < time + length && time > (found?.time ?? -1)) found = { time, told };
    return found;
  }

  /** @param {CandlePredicted} event */
  #predicted(event) {
    this.#latest = event;
    this.#entry(event.candle_time).predicted = event;
    if (event.as_of === null) return;
    const told = this.#entry(event.as_of);
    told.trendUp = event.trend_up;
    told.labels = event.label_probabilities;
  }

  /** @param {CandleScored} event */
  #scored(event) {
    this.#entry(event.candle_time).scored = event;
    if (event.trend_as_of !== null) this.#entry(event.trend_as_of).trendCorrect = event.trend_correct;
  }

  /**
   * @param {number} time
   * @returns {Told}
   */
  #entry(time) {
    const known = this.#told.get(time);
    if (known !== undefined) return known;
    const made = { predicted: null, scored: null, trendUp: null, trendCorrect: null, labels: null };
    this.#told.set(time, made);
    return made;
  }

  #forget() {
    for (const time of this.#told.keys()) {
      if (this.#told.size <= KEEP) return;
      this.#told.delete(time);
    }
  }
}

/**
 * Give the label that a model suggests for a candle.
 * @param {Told} told
 * @returns {{label: string, probability: number} | null} the likeliest; null without a label head
 */
export function suggestionOf(told) {
  const [best] = Object.entries(told.labels ?? {}).sort(([, a], [, b]) => b - a);
  return best === undefined ? null : { label: best[0], probability: best[1] };
}

/**
 * Say what came of a prediction.
 * @param {Told} told
 * @returns {Outcome}
 */
export function outcomeOf(told) {
  if (told.scored === null) return "waiting";
  if (told.scored.correct === null) return "skipped";
  return told.scored.correct ? "hit" : "miss";
}

/**
 * Give the class with the largest probability.
 * @param {readonly number[]} probabilities
 * @returns {number}
 */
export function likeliest(probabilities) {
  let best = 0;
  probabilities.forEach((value, index) => {
    if (value > (probabilities[best] ?? -1)) best = index;
  });
  return best;
}

/**
 * A class of the next candle as a band of closing prices.
 * @typedef {object} Band
 * @property {number} from
 * @property {number} to
 * @property {number} probability
 * @property {number} index class, 0 to 4
 */

/**
 * Turn the class probabilities of the next candle into price bands around the last close.
 *
 * Class edges are in units of log return over σ; the outer classes are open, and are drawn one σ wide.
 * @param {CandlePredicted} predicted
 * @returns {Band[]} from the lowest price up; empty where no last candle is known
 */
export function bandsOf(predicted) {
  const { closed, candle_edges: edges, candle_probabilities: probabilities, sigma } = predicted;
  if (closed === null || edges.length === 0) return [];
  const first = /** @type {number} */ (edges[0]);
  const last = /** @type {number} */ (edges.at(-1));
  const price = [first - 1, ...edges, last + 1].map((edge) => closed.close * Math.exp(edge * sigma));
  return probabilities.map((probability, index) => ({
    from: /** @type {number} */ (price[index]),
    to: /** @type {number} */ (price[index + 1]),
    probability,
    index,
  }));
}
