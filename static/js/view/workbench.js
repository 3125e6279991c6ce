// What the workbench has beyond drawing: walking over candles, the ruler, replay, panes, indicators, sessions,
// results and agreement. Loaded after the first view.

import { BlindBar } from "./blind-bar.js";
import { element } from "./element.js";
import { Indicators } from "./indicators.js";
import { Panes } from "./panes.js";
import { ReplayBar } from "./replay-bar.js";
import { openResults } from "./results-dialog.js";
import { Ruler } from "./ruler.js";
import { shadeSessions } from "./session-layer.js";
import { openView } from "./view-dialog.js";
import { WalkBar } from "./walk-bar.js";
import { followWorth } from "./worth-layer.js";

/**
 * @typedef {object} WorkbenchParts
 * @property {import("./annotator.js").Annotator} annotator
 * @property {import("../net/annotation-book.js").AnnotationBook} book
 * @property {import("../net/label-book.js").LabelBook} labels
 * @property {import("./lead-view.js").LeadView} view
 * @property {import("./cursor.js").Cursor} cursor
 * @property {import("./mark-layer.js").MarkLayer} layer
 * @property {import("./overview.js").Overview} overview
 */

/**
 * @param {{chart: HTMLElement, canvas: HTMLElement}} places
 * @param {import("./context.js").PageContext} context
 * @param {WorkbenchParts} parts
 * @returns {{openReplay: () => void, openView: () => void, openResults: () => void}} the dialogs that keys open
 */
export function mountWorkbench({ chart, canvas }, context, { annotator, book, labels, view, cursor, overview, layer }) {
  const { keyboard, toast, settings } = context;
  const bars = element("div", { class: "mode-bars" });
  chart.append(bars);
  new WalkBar(bars, { annotator, book, labels: labels.set, view, cursor, keyboard, toast });
  new Ruler(canvas, view, annotator);
  shadeSessions(view, settings);
  followWorth(context, book, layer);
  const panes = new Panes(chart, context, { view, canvas, annotator, layer, cursor });
  const indicators = new Indicators(context, view);
  const replay = new ReplayBar(bars, context, { view, book, overview });
  new BlindBar(bars, context, book);
  return { openReplay: () => replay.openDialog(), openView: () => openView(context, panes, indicators), openResults: () => void openResults(context, book) };
}
