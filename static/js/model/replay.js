// Playing a replay: how many candles each tick goes on, and how fast people may choose.

export const SPEEDS = [1, 2, 5, 10, 60, 200, 1000]; // candles a second
export const TICK_MS = 200;

/**
 * A replay as the server keeps it for an author.
 * @typedef {object} Replay
 * @property {number} cursor close of the last candle that is shown
 * @property {boolean} random whether it began at a random time
 * @property {boolean} hide_price
 * @property {number} candles how many are shown
 * @property {boolean} at_end
 */

/**
 * The whole candles that are due, and what is left of one.
 * @param {number} speed candles a second
 * @param {number} elapsedMs since the last tick
 * @param {number} left share of a candle from before
 * @returns {{steps: number, left: number}}
 */
export function dueSteps(speed, elapsedMs, left) {
  // After a pause of the browser no more than a second is made up for: nobody saw those candles come.
  const due = left + (speed * Math.min(elapsedMs, 1000)) / 1000;
  const steps = Math.floor(due);
  return { steps, left: due - steps };
}
