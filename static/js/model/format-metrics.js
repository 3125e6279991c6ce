// How figures of learning are written: losses, shares, durations, sizes. Pure; no DOM.

import { numberText } from "./format.js";

const NONE = "–";

/**
 * A loss with three digits, without the leading zero of a trader's `.535`.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function loss(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const text = value.toFixed(3);
  return text.replace(/^(-?)0\./, "$1.");
}

/**
 * A share as a percentage, rounded to whole percents unless digits are given.
 * @param {number | null | undefined} fraction
 * @param {number} [digits]
 * @returns {string}
 */
export function percent(fraction, digits = 0) {
  if (fraction === null || fraction === undefined || !Number.isFinite(fraction)) return NONE;
  return `${(fraction * 100).toFixed(digits)}%`;
}

/**
 * A 95% interval of a share, in whole percents: `31–36%`.
 * @param {ReadonlyArray<number> | null | undefined} bounds
 * @returns {string}
 */
export function interval(bounds) {
  if (!bounds || bounds.length !== 2) return NONE;
  const [low, high] = bounds;
  return `${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)}%`;
}

/**
 * A coefficient from −1 to 1, such as Matthews correlation.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function coefficient(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  return numberText(value, 3);
}

/**
 * A count with thousands separators.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function count(value) {
  if (value === null || value === undefined) return NONE;
  return value.toLocaleString("en-US");
}

/**
 * A rate: two digits below 10, one below 100, whole above.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function rate(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (value < 10) return value.toFixed(2);
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
}

/**
 * A duration in the two largest units that say something: `1 h 4 min`, `2 min 5 s`, `0.4 s`.
 * @param {number | null | undefined} seconds
 * @returns {string}
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return NONE;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

/**
 * A size on the disk: `10.3 MB`, whole from 100 on.
 * @param {number} bytes
 * @returns {string}
 */
export function megabytes(bytes) {
  const size = bytes / 2 ** 20;
  return `${size < 100 ? size.toFixed(1) : Math.round(size).toLocaleString("en-US")} MB`;
}

/**
 * A config value as a person reads it in a table.
 * @param {unknown} value
 * @returns {string}
 */
export function configValue(value) {
  if (value === null || value === undefined) return NONE;
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.join("/");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, part]) => `${name} ${configValue(part)}`)
      .join(", ");
  return String(value);
}
