// The Data panel: upload, the series, annotations from files, the datasets, the whole workspace.

import { DatasetSection } from "./dataset-section.js";
import { element } from "./element.js";
import { ImportSection } from "./import-section.js";
import { fillKeyed } from "./keyed.js";
import { MarkUpload } from "./mark-upload.js";
import { newSeriesForm } from "./new-series.js";
import { seriesRow } from "./series-list.js";
import { WorkspaceSection } from "./workspace-section.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/types.js").Series} Series */

/**
 * Fill the Data panel.
 * @param {HTMLElement} root
 * @param {PageContext} context
 */
export function mountDataPanel(root, context) {
  const list = element("ul", { class: "data-list", "aria-label": "Series" });
  const imports = new ImportSection(context);
  root.classList.add("data-panel");
  root.append(
    imports.root,
    element("section", { class: "stack", "aria-label": "Series" }, element("h2", {}, "Series"), list, newSeriesForm(context)),
    new DatasetSection(context).root,
    new MarkUpload(context).root,
    new WorkspaceSection(context).root,
  );
  const paint = () => paintSeries(list, context);
  context.series.subscribe(paint);
  paint();
  return { takeFiles: (/** @type {Iterable<File>} */ files) => imports.takeAll(files) };
}

/**
 * @param {HTMLElement} list
 * @param {PageContext} context
 */
function paintSeries(list, context) {
  const { items, current } = context.series.get();
  const isOpen = (/** @type {Series} */ series) => series.id === current?.id;
  fillKeyed(
    list,
    items.map((series) => ({
      key: JSON.stringify([series, isOpen(series)]),
      make: () => seriesRow(context, series, isOpen(series)),
    })),
  );
}
