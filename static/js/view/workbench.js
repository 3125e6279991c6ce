// What the workbench has beyond drawing: walking over candles, the ruler, replay, panes, indicators, sessions. Loaded after the first view.

import { Indicators } from "./indicators.js";
import { Panes } from "./panes.js";
import { ReplayBar } from "./replay-bar.js";
import { Ruler } from "./ruler.js";
import { shadeSessions } from "./session-layer.js";
import { openView } from "./view-dialog.js";
import { WalkBar } from "./walk-bar.js";

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
 * @returns {{replay: ReplayBar}}
 */
export function mountWorkbench({ chart, canvas }, context, { annotator, book, labels, view, cursor, overview, layer }) {
  const { keyboard, toast, settings } = context;
  new WalkBar(chart, { annotator, book, labels: labels.set, view, cursor, keyboard, toast });
  new Ruler(canvas, view, annotator);
  shadeSessions(view, settings);
  const panes = new Panes(chart, context, { view, canvas, annotator, layer, cursor });
  const indicators = new Indicators(context, view);
  keyboard.on("open-view", () => openView(context, panes, indicators));
  return { replay: new ReplayBar(chart, context, { view, book, overview }) };
}
