// The datasets: export at once, make one with a preview, the list of versions with what can be done to each.

import { configValue } from "../model/format-metrics.js";
import { createStore } from "../model/store.js";
import { showChanges } from "./changes-dialog.js";
import { editDataset, makeDataset } from "./dataset-dialog.js";
import { button, element, field } from "./element.js";
import { chooseFormat } from "./export-dialog.js";
import { fillKeyed } from "./keyed.js";
import { TaskRow } from "./task-row.js";

/** @typedef {import("./context.js").PageContext} PageContext */

/**
 * @typedef {object} Dataset
 * @property {number} id
 * @property {number} series_id
 * @property {number} version
 * @property {string} name
 * @property {string} note
 * @property {string} hash
 * @property {number} created
 * @property {Record<string, unknown>} manifest
 */

/** The section of the Data panel; `root` is its element. */
export class DatasetSection {
  root = element("section", { class: "stack", "aria-label": "Datasets" });
  #context;
  #task;
  #list = element("ul", { class: "data-list", "aria-label": "Datasets" });
  #name = element("input", { type: "text", id: "dataset-name", maxlength: 200, autocomplete: "off" });
  #export = button("Export dataset", () => void this.#exportNow(), { class: "primary", id: "export-dataset" });
  #prepare = button("Preview and options", () => this.#open(), { id: "preview-dataset" });
  /** @type {import("../model/store.js").Store<Dataset[]>} */
  #known = createStore(/** @type {Dataset[]} */ ([]));

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
    this.#task = new TaskRow(context);
    const words = "Candles and annotations as they are now, kept as a version. The zip holds everything; other formats are in the list below.";
    this.root.append(
      element("h2", {}, "Datasets"),
      field("Name", this.#name),
      element("div", { class: "row" }, this.#export, this.#prepare),
      element("small", { class: "muted" }, words),
      this.#task.root,
      this.#list,
    );
    context.series.subscribe(() => this.#paint());
    this.#known.subscribe(() => this.#paint());
    this.#paint();
    void this.#read();
  }

  #paint() {
    const { current } = this.#context.series.get();
    const rows = this.#known.get().map((dataset) => ({ key: JSON.stringify(dataset), make: () => this.#row(dataset) }));
    fillKeyed(this.#list, rows);
    this.#export.disabled = this.#prepare.disabled = current === null;
    this.#name.placeholder = current === null ? "" : `${current.symbol} ${current.timeframe}`;
  }

  async #read() {
    try {
      this.#known.set((await this.#context.api.get("/api/datasets")).items);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #exportNow() {
    this.#export.disabled = true;
    try {
      const dataset = await this.#make({});
      if (dataset) await this.#download(dataset);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#export.disabled = false;
    }
  }

  /** @param {Dataset} dataset */
  async #download(dataset) {
    try {
      await this.#task.export(`/api/datasets/${dataset.id}/exports`, { format: "dataset" });
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * @param {Record<string, unknown>} recipe
   * @returns {Promise<Dataset | null>} null without a series, or called off
   */
  async #make(recipe) {
    const { current } = this.#context.series.get();
    if (current === null) return null;
    const name = this.#name.value.trim() || `${current.symbol} ${current.timeframe}`;
    const { build: begun } = await this.#context.api.post("/api/datasets/builds", { series_id: current.id, name, ...recipe });
    const { dataset } = await this.#task.follow("/api/datasets/builds", "build", begun);
    if (!dataset) return null;
    this.#name.value = "";
    this.#context.toast(`Dataset ${dataset.name} is stored as version ${dataset.version}.`, { tone: "ok" });
    await this.#read();
    return dataset;
  }

  #open() {
    const { current } = this.#context.series.get();
    if (current !== null) makeDataset(this.#context, current, (recipe) => this.#make(recipe));
  }

  /** @param {Dataset} dataset */
  #row(dataset) {
    const { manifest, name } = dataset;
    const made = `${new Date(dataset.created).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    const facts = [`v${dataset.version}`, `${configValue(manifest["symbol"])} ${configValue(manifest["timeframe"])}`, made, dataset.hash.slice(0, 8)];
    /**
     * @param {string} text
     * @param {() => void} run
     */
    const act = (text, run) => button(text.replace(" of", ""), run, { class: "quiet small", "aria-label": `${text} dataset ${name}` });
    return element(
      "li",
      { class: "data-row tall" },
      element("span", { class: "clip" }, name),
      element("small", { class: "muted", title: `sha256 ${dataset.hash}` }, element("span", {}, facts.join(" · ")), element("span", {}, dataset.note)),
      element(
        "span",
        { class: "row actions" },
        act("Download", () => void this.#download(dataset)),
        act("Formats of", () => void chooseFormat(this.#context, dataset)),
        act("Compare", () => void showChanges(this.#context, dataset, this.#known.get())),
        act("Edit", () => editDataset(this.#context, dataset, () => this.#read())),
        act("Delete", () => void this.#remove(dataset)),
      ),
    );
  }

  /** @param {Dataset} dataset */
  async #remove(dataset) {
    const text = `The files of “${dataset.name}” are removed for good. The series and its annotations stay.`;
    if (!(await this.#context.dialog.confirm("Delete dataset", text, "Delete"))) return;
    try {
      await this.#context.api.delete(`/api/datasets/${dataset.id}`);
      await this.#read();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @param {unknown} error */
  #failed(error) {
    this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
  }
}
