// Keeps how a series is looked at on the server too, so that it comes back in another browser of the same person.

import { usablePanes } from "../model/panes.js";
import { viewOf } from "../model/settings.js";
import { offeredTimeframes } from "../model/timeframe.js";
import { usableView } from "../model/viewport.js";

/** @typedef {import("./context.js").PageContext} PageContext */

const WAIT_MS = 1500;

/**
 * @typedef {object} KeeperParts
 * @property {import("./chart-view.js").ChartView} view
 * @property {import("./panes.js").Panes} panes
 * @property {import("./indicators.js").Indicators} indicators
 * @property {ReadonlySet<number>} known series whose view this browser had when the page was opened
 */

/**
 * Send the view once it stands still; take the kept one where this browser never saw the series.
 * @param {PageContext} context
 * @param {KeeperParts} parts
 */
export function keepViews({ api, series, settings }, { view, panes, indicators, known }) {
  const seen = new Set(known);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  let sent = "";

  const send = async () => {
    const { current } = series.get();
    const shown = current && viewOf(settings.get(), current.id);
    if (!current || !shown || !seen.has(current.id)) return;
    const { timeframe, from, to, panes: beside, indicators: drawn } = shown;
    const body = { timeframe, from, to, panes: beside, indicators: drawn };
    const text = JSON.stringify([current.id, body]);
    if (text === sent) return;
    try {
      await api.put(`/api/series/${current.id}/view`, body);
      sent = text;
    } catch {
      // The view is kept in this browser all the same, and is sent again with its next change.
    }
  };

  const take = async () => {
    const { current } = series.get();
    if (!current || seen.has(current.id)) return;
    try {
      const kept = (await api.get(`/api/series/${current.id}/view`)).view;
      await untilKept(settings, current.id);
      const bounds = view.bounds();
      if (series.get().current?.id !== current.id || !bounds) return;
      if (offeredTimeframes(current.timeframe).includes(kept.timeframe)) view.setTimeframe(kept.timeframe);
      const range = usableView(kept, bounds);
      if (range) view.showRange(range);
      const wanted = usablePanes(kept.panes, offeredTimeframes(current.timeframe));
      if (wanted.length) panes.show(wanted);
      indicators.take(kept.indicators);
    } catch {
      // Nothing is kept, or it cannot be read now: the series opens with its newest candles.
    } finally {
      seen.add(current.id);
    }
  };

  settings.subscribe((now, before) => {
    if (now.views === before.views) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => void send(), WAIT_MS);
  });
  series.subscribe((now, before) => now.current?.id !== before.current?.id && void take());
  void take();
}

/**
 * Resolves once this browser keeps a view of the series, to which panes and indicators belong.
 * @param {PageContext["settings"]} settings
 * @param {number} seriesId
 * @returns {Promise<void>}
 */
function untilKept(settings, seriesId) {
  if (viewOf(settings.get(), seriesId)) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = settings.subscribe((now) => {
      if (!viewOf(now, seriesId)) return;
      stop();
      resolve();
    });
  });
}
