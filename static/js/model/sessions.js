// Trading sessions as stretches of time, for the shading behind the candles.

/** @typedef {{from: number, to: number}} TimeRange half open, ms UTC */
/** @typedef {{name: string, title: string, zone: string, opens: number, closes: number}} Session hours of local clocks; every day where they are 0 and 24 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** @type {Session[]} */
export const SESSIONS = [
  { name: "days", title: "Every other day, in the axis' zone", zone: "", opens: 0, closes: 24 },
  { name: "tokyo", title: "Tokyo, 9:00 – 15:00", zone: "Asia/Tokyo", opens: 9, closes: 15 },
  { name: "london", title: "London, 8:00 – 16:30", zone: "Europe/London", opens: 8, closes: 16.5 },
  { name: "new-york", title: "New York, 9:30 – 16:00", zone: "America/New_York", opens: 9.5, closes: 16 },
];

/**
 * The session's stretches that touch a range; exchanges rest on Saturday and Sunday.
 * @param {Session} session
 * @param {TimeRange} range
 * @param {import("./zone.js").Zone} zone the session's own, or the axis' one
 * @returns {TimeRange[]}
 */
export function sessionRanges({ name, opens, closes }, range, zone) {
  const found = [];
  const first = Math.floor(zone.local(range.from) / DAY_MS) - 1;
  const last = Math.floor(zone.local(range.to) / DAY_MS) + 1;
  for (let day = first; day <= last; day += 1) {
    const weekday = (((day + 4) % 7) + 7) % 7; // 1970-01-01 was a Thursday
    const isShaded = name === "days" ? day % 2 === 0 : weekday !== 0 && weekday !== 6;
    if (!isShaded) continue;
    const from = zone.toUtc(day * DAY_MS + opens * HOUR_MS);
    const to = zone.toUtc(day * DAY_MS + closes * HOUR_MS);
    if (to > range.from && from < range.to) found.push({ from, to });
  }
  return found;
}
