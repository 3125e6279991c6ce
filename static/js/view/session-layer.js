// Shades trading sessions behind the candles, where candles are shorter than a session.

import { faint } from "../model/colour.js";
import { SESSIONS, sessionRanges } from "../model/sessions.js";
import { stepMs } from "../model/timeframe.js";
import { Zone } from "../model/zone.js";

const LONGEST_MS = 4 * 3_600_000; // candles longer than this would not show where a session begins
const MOST_SHADES = 400;
const COLOURS = ["#7f8ea3", "#b07aa1", "#4e79a7", "#59a14f"]; // one a session, in their order

/**
 * Shade on a chart what the settings name.
 * @param {import("./chart-geometry.js").ChartGeometry} view
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} settings
 * @returns {() => void} takes it off
 */
export function shadeSessions(view, settings) {
  /** @type {Map<string, Zone>} */
  const zones = new Map();
  /** @param {string} name */
  const zoneOf = (name) => {
    const known = zones.get(name) ?? new Zone(name);
    zones.set(name, known);
    return known;
  };
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{width: number, height: number}} size
   */
  const paint = (context, size) => {
    const range = view.visible();
    const { sessions, zone } = settings.get();
    if (!range || sessions.length === 0 || stepMs(view.drawn().level) > LONGEST_MS) return;
    SESSIONS.forEach((session, index) => {
      if (!sessions.includes(session.name)) return;
      const stretches = sessionRanges(session, range, zoneOf(session.zone || zone));
      if (stretches.length > MOST_SHADES) return;
      context.fillStyle = faint(COLOURS[index], 0.12);
      for (const { from, to } of stretches) fillStretch(context, view, { from, to }, size);
    });
  };
  const renderer = { draw: (/** @type {any} */ target) => target.useMediaCoordinateSpace((/** @type {any} */ { context, mediaSize }) => paint(context, mediaSize)) };
  const remove = view.addPrimitive(/** @type {any} */ ({ paneViews: () => [{ zOrder: () => "bottom", renderer: () => renderer }] }));
  const unwatch = settings.subscribe((now, before) => (now.sessions !== before.sessions || now.zone !== before.zone) && view.repaint());
  return () => {
    unwatch();
    remove();
  };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./chart-geometry.js").ChartGeometry} view
 * @param {{from: number, to: number}} stretch
 * @param {{width: number, height: number}} size
 */
function fillStretch(context, view, { from, to }, { width, height }) {
  const [left, right] = [view.chart.positionToX(view.window.positionOf(from)), view.chart.positionToX(view.window.positionOf(to))];
  if (left === null || right === null || right - left < 1) return;
  context.fillRect(Math.max(-1, left), 0, Math.min(width + 1, right) - Math.max(-1, left), height);
}
