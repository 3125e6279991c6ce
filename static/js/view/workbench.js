// What the workbench has beyond drawing: walking over candles, the ruler. Loaded after the first view.

import { Ruler } from "./ruler.js";
import { WalkBar } from "./walk-bar.js";

/**
 * @typedef {object} WorkbenchParts
 * @property {import("./annotator.js").Annotator} annotator
 * @property {import("../net/annotation-book.js").AnnotationBook} book
 * @property {import("../net/label-book.js").LabelBook} labels
 * @property {import("./chart-view.js").ChartView} view
 * @property {import("./cursor.js").Cursor} cursor
 * @property {import("./mark-layer.js").MarkLayer} layer
 */

/**
 * @param {{chart: HTMLElement, canvas: HTMLElement}} places
 * @param {import("./context.js").PageContext} context
 * @param {WorkbenchParts} parts
 */
export function mountWorkbench({ chart, canvas }, { keyboard, toast }, { annotator, book, labels, view, cursor }) {
  new WalkBar(chart, { annotator, book, labels: labels.set, view, cursor, keyboard, toast });
  new Ruler(canvas, view, annotator);
}
