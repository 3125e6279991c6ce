// What a person chose for this browser: theme, zone, name; kept as one JSON text.

import { usableKeys } from "./keys.js";

/**
 * @typedef {object} Settings
 * @property {"system" | "dark" | "light"} theme
 * @property {"green-red" | "blue-orange"} palette
 * @property {string} zone `UTC`, `browser` or an IANA name
 * @property {"normal" | "log" | "percent"} scale of the prices
 * @property {string[]} sessions that are shaded, by name
 * @property {boolean} tourSeen the tour is shown once, on the first start
 * @property {boolean} magnet prices snap to those of their candle
 * @property {Record<string, string[]>} keys where a person gave an action other keys than the table's
 * @property {string} author
 * @property {number | null} seriesId the series that was open last
 * @property {SeriesView[]} views how each series was left, the newest last
 */

/**
 * @typedef {object} SeriesView
 * @property {number} seriesId
 * @property {string} timeframe
 * @property {number} from first visible time, ms UTC
 * @property {number} to
 * @property {string[]} [panes] timeframes of the panes beside the chart
 * @property {import("./indicators.js").Indicator[]} [indicators]
 */

/** @typedef {{getItem: (key: string) => string | null, setItem: (key: string, text: string) => void}} TextStorage */

const KEY = "annotate.settings";
const MAX_VIEWS = 50;

/** @type {Settings} */
export const DEFAULTS = {
  theme: "system",
  palette: "green-red",
  zone: "UTC",
  scale: "normal",
  sessions: [],
  tourSeen: false,
  magnet: false,
  keys: {},
  author: "me",
  seriesId: null,
  views: [],
};

/**
 * Read the settings; what is missing or of the wrong type falls back to its default.
 * @param {TextStorage} storage
 * @returns {Settings}
 */
export function loadSettings(storage) {
  const stored = parsed(storage.getItem(KEY));
  const fits = Object.entries(DEFAULTS).filter(([name, usual]) => sameType(stored[name], usual));
  const settings = { ...DEFAULTS, ...Object.fromEntries(fits.map(([name]) => [name, stored[name]])) };
  return { ...settings, keys: usableKeys(settings.keys) };
}

/**
 * Keep the settings, with the views of the last 50 series.
 * @param {TextStorage} storage
 * @param {Settings} settings
 */
export function saveSettings(storage, settings) {
  storage.setItem(KEY, JSON.stringify({ ...settings, views: settings.views.slice(-MAX_VIEWS) }));
}

/**
 * Give settings in which this view is the newest of its series; what it does not say stays as it was.
 * @param {Settings} settings
 * @param {SeriesView} view
 * @returns {Settings}
 */
export function withView(settings, view) {
  const others = settings.views.filter((kept) => kept.seriesId !== view.seriesId);
  const before = viewOf(settings, view.seriesId);
  return { ...settings, seriesId: view.seriesId, views: [...others, { ...before, ...view }] };
}

/**
 * Give settings in which the panes or indicators of a series are others.
 * @param {Settings} settings
 * @param {number} seriesId
 * @param {Partial<Pick<SeriesView, "panes" | "indicators">>} part
 * @returns {Settings}
 */
export function withLook(settings, seriesId, part) {
  return { ...settings, views: settings.views.map((view) => (view.seriesId === seriesId ? { ...view, ...part } : view)) };
}

/**
 * Find how a series was left.
 * @param {Settings} settings
 * @param {number} seriesId
 * @returns {SeriesView | undefined}
 */
export function viewOf(settings, seriesId) {
  return settings.views.find((view) => view.seriesId === seriesId);
}

/**
 * @param {string | null} text
 * @returns {Record<string, any>}
 */
function parsed(text) {
  try {
    const value = JSON.parse(text ?? "{}");
    return value && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}

/**
 * @param {unknown} value
 * @param {unknown} usual
 */
function sameType(value, usual) {
  if (usual === null) return value === null || Number.isInteger(value);
  return typeof value === typeof usual && Array.isArray(value) === Array.isArray(usual) && value !== null;
}
