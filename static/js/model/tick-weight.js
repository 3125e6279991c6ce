// How much a tick on the time axis matters: a new year more than a new hour, by the clocks of the shown zone.

const YEAR = 70;
const MONTH = 60;
const DAY = 50;
const DAY_MS = 86_400_000;
const INTRADAY = /** @type {const} */ ([
  [43_200_000, 33],
  [21_600_000, 32],
  [10_800_000, 31],
  [3_600_000, 30],
  [1_800_000, 22],
  [300_000, 21],
  [60_000, 20],
  [1000, 10],
]);

/**
 * Weight of a candle's tick, on the scale of the chart library.
 * @param {number} before local time of the candle before, as UTC ms
 * @param {number} now local time of the candle
 * @returns {number}
 */
export function tickWeight(before, now) {
  if (Math.floor(before / DAY_MS) !== Math.floor(now / DAY_MS)) {
    const [then, date] = [new Date(before), new Date(now)];
    if (then.getUTCFullYear() !== date.getUTCFullYear()) return YEAR;
    return then.getUTCMonth() === date.getUTCMonth() ? DAY : MONTH;
  }
  const changed = INTRADAY.find(([length]) => Math.floor(before / length) !== Math.floor(now / length));
  return changed ? changed[1] : 0;
}
