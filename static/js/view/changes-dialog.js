// What changed since a version: up to now, or up to another version of the series.

import { changeLines } from "../model/dataset.js";
import { element, field, fill } from "./element.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("./dataset-section.js").Dataset} Dataset */

/**
 * @param {PageContext} context
 * @param {Dataset} dataset
 * @param {readonly Dataset[]} known
 */
export async function showChanges(context, dataset, known) {
  const others = known.filter(({ id, series_id: seriesId }) => seriesId === dataset.series_id && id !== dataset.id);
  const choice = element(
    "select",
    {},
    element("option", { value: "" }, "the series as it is now"),
    ...others.map(({ id, version, name }) => element("option", { value: id }, `v${version} ${name}`)),
  );
  const shown = element("ul", { "aria-label": "Changes", "aria-live": "polite" });
  const paint = async () => {
    try {
      const changes = await context.api.get(`/api/datasets/${dataset.id}/changes`, { query: { to: choice.value || null } });
      fill(shown, ...changeLines(changes).map((line) => element("li", {}, line)));
    } catch (error) {
      fill(shown, element("li", {}, /** @type {Error} */ (error).message));
    }
  };
  choice.addEventListener("change", () => void paint());
  const title = `What changed since v${dataset.version} ${dataset.name}`;
  context.dialog.open({ title, body: [field("Up to", choice), shown], cancel: "Close", wide: true });
  await paint();
}
