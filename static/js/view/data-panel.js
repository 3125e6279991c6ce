// The Data panel: upload, the series, export as a dataset, the datasets.

import { configValue } from "../model/format-metrics.js";
import { createStore } from "../model/store.js";
import { button, element, field } from "./element.js";
import { fillKeyed } from "./keyed.js";
import { saveFrom } from "./save-text.js";
import { seriesRow } from "./series-list.js";
import { Upload } from "./upload.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/types.js").Series} Series */

/**
 * @typedef {object} Dataset
 * @property {number} id
 * @property {number} series_id
 * @property {string} name
 * @property {string} hash
 * @property {number} created
 * @property {Record<string, unknown>} manifest
 */

/**
 * Fill the Data panel.
 * @param {HTMLElement} root
 * @param {PageContext} context
 */
export function mountDataPanel(root, context) {
  new DataPanel(root, context);
}

class DataPanel {
  #context;
  #series = element("ul", { class: "data-list", "aria-label": "Series" });
  #datasets = element("ul", { class: "data-list", "aria-label": "Datasets" });
  #name = element("input", { type: "text", id: "dataset-name", maxlength: 200, autocomplete: "off" });
  #export = button("Export dataset", () => void this.#exportDataset(), { class: "primary", id: "export-dataset" });
  /** @type {import("../model/store.js").Store<Dataset[]>} */
  #known = createStore(/** @type {Dataset[]} */ ([]));

  /**
   * @param {HTMLElement} root
   * @param {PageContext} context
   */
  constructor(root, context) {
    this.#context = context;
    root.classList.add("data-panel");
    root.append(new Upload(context).root, this.#seriesSection(), this.#exportSection());
    context.series.subscribe(() => this.#paint());
    this.#known.subscribe(() => this.#paint());
    this.#paint();
    void this.#readDatasets();
  }

  #seriesSection() {
    return element("section", { class: "stack", "aria-label": "Series" }, element("h2", {}, "Series"), this.#series);
  }

  #exportSection() {
    const words =
      "Candles and annotations as they are now: a zip with manifest.json, candles.arrow, annotations.jsonl, labels.csv and candles.csv.";
    return element(
      "section",
      { class: "stack", "aria-label": "Datasets" },
      element("h2", {}, "Datasets"),
      field("Name", this.#name),
      this.#export,
      element("small", { class: "muted" }, words),
      this.#datasets,
    );
  }

  #paint() {
    const { items, current } = this.#context.series.get();
    const isOpen = (/** @type {Series} */ series) => series.id === current?.id;
    fillKeyed(
      this.#series,
      items.map((series) => ({
        key: JSON.stringify([series, isOpen(series)]),
        make: () => seriesRow(this.#context, series, isOpen(series)),
      })),
    );
    fillKeyed(
      this.#datasets,
      this.#known.get().map((dataset) => ({ key: JSON.stringify(dataset), make: () => this.#datasetRow(dataset) })),
    );
    this.#export.disabled = current === null;
    this.#name.placeholder = current === null ? "" : `${current.symbol} ${current.timeframe}`;
  }

  async #readDatasets() {
    try {
      this.#known.set((await this.#context.api.get("/api/datasets")).items);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #exportDataset() {
    const { current } = this.#context.series.get();
    if (current === null) return;
    this.#export.disabled = true;
    try {
      const name = this.#name.value.trim() || `${current.symbol} ${current.timeframe}`;
      const { dataset } = await this.#context.api.post("/api/datasets", { series_id: current.id, name });
      this.#name.value = "";
      this.#download(dataset);
      this.#context.toast(`Dataset ${dataset.id} is stored; the download begins.`, { tone: "ok" });
      await this.#readDatasets();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#export.disabled = false;
    }
  }

  /** @param {Dataset} dataset */
  #download(dataset) {
    saveFrom("", `/api/datasets/${dataset.id}/download`);
  }

  /** @param {Dataset} dataset */
  #datasetRow(dataset) {
    const { manifest } = dataset;
    const facts = [
      `${configValue(manifest["symbol"])} ${configValue(manifest["timeframe"])}`,
      new Date(dataset.created).toISOString().slice(0, 16).replace("T", " "),
    ];
    return element(
      "li",
      { class: "data-row" },
      element("span", { class: "clip" }, dataset.name),
      element("small", { class: "muted", title: `sha256 ${dataset.hash}` }, `${facts.join(" · ")} · ${dataset.hash.slice(0, 8)}`),
      element(
        "span",
        { class: "row actions" },
        button("Download", () => this.#download(dataset), {
          class: "quiet small",
          "aria-label": `Download dataset ${dataset.name}`,
        }),
        button("Delete", () => void this.#remove(dataset), {
          class: "quiet small",
          "aria-label": `Delete dataset ${dataset.name}`,
        }),
      ),
    );
  }

  /** @param {Dataset} dataset */
  async #remove(dataset) {
    const text = `The files of “${dataset.name}” are removed for good. The series and its annotations stay.`;
    if (!(await this.#context.dialog.confirm("Delete dataset", text, "Delete"))) return;
    try {
      await this.#context.api.delete(`/api/datasets/${dataset.id}`);
      await this.#readDatasets();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @param {unknown} error */
  #failed(error) {
    this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
  }
}
