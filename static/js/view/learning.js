// What the panels of training share: the connection, the runs, the settings. One a page.

import { TrainSettings } from "../model/train-settings.js";
import { choices } from "../net/browser-storage.js";
import { RunDesk } from "../net/run-desk.js";
import { connect } from "../net/socket.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {{link: import("../net/link.js").Link, desk: RunDesk, settings: TrainSettings}} Learning */

/** @type {WeakMap<PageContext, Learning>} */
const made = new WeakMap();

/**
 * Give what the panels of one page share; the first call connects.
 * @param {PageContext} context
 * @returns {Learning}
 */
export function learningOf(context) {
  const known = made.get(context);
  if (known !== undefined) return known;
  const link = connect(context.api, () => context.settings.get().author);
  const desk = new RunDesk(context.api, link, context.series, (paint) => requestAnimationFrame(paint));
  const settings = new TrainSettings(choices());
  const learning = { link, desk, settings };
  made.set(context, learning);
  desk.catalogue.subscribe((catalogue) => catalogue !== null && settings.describe(catalogue.fields, catalogue.exchanges));
  desk.start();
  context.settings.subscribe((now, before) => {
    if (now.author === before.author) return;
    link.rejoin();
    desk.replay.moved({ series_id: desk.seriesId ?? 0 }); // what was told to the one before is asked for anew
  });
  // For a person at the browser's console and for the tests of the page: what this page has of a run.
  Object.assign(window, { annotate: { events: (/** @type {number} */ runId) => desk.eventsOf(runId) } });
  return learning;
}
