// The format picker: what each format cannot hold is said before the download; a build shows its progress.

import { element, field, fill } from "./element.js";
import { TaskRow } from "./task-row.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("./dataset-section.js").Dataset} Dataset */
/** @typedef {{name: string, title: string, meaning: string, options: string[], lost: string[]}} Format */

const OPTIONS = /** @type {Record<string, {title: string, value: number}>} */ ({
  sequence_length: { title: "Candles in a window", value: 200 },
  stride: { title: "Candles from one window to the next", value: 50 },
});

/**
 * Let a person choose a format and export a dataset in it.
 * @param {PageContext} context
 * @param {Dataset} dataset
 */
export async function chooseFormat(context, dataset) {
  try {
    const { items } = await context.api.get(`/api/datasets/${dataset.id}/formats`);
    new Picker(context, dataset, items);
  } catch (error) {
    context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
  }
}

class Picker {
  #dataset;
  #formats;
  #choice = element("select", { name: "format" });
  #about = element("div", { class: "stack" });
  #failed = element("div");
  #task;
  #isOpen = true;
  /** @type {Map<string, HTMLInputElement>} */
  #options = new Map();

  /**
   * @param {PageContext} context
   * @param {Dataset} dataset
   * @param {Format[]} formats
   */
  constructor(context, dataset, formats) {
    this.#dataset = dataset;
    this.#formats = formats;
    this.#task = new TaskRow(context);
    this.#choice.append(...formats.map(({ name, title }) => element("option", { value: name }, title)));
    this.#choice.addEventListener("change", () => this.#describe());
    this.#describe();
    const handle = context.dialog.open({
      title: `Export ${dataset.name}`,
      wide: true,
      body: [field("Format", this.#choice), this.#about, this.#failed, this.#task.root],
      actions: [{ text: "Export", tone: "primary", run: () => this.#build() }],
    });
    void handle.closed.then(() => void (this.#isOpen = false));
  }

  get #format() {
    return this.#formats.find(({ name }) => name === this.#choice.value) ?? this.#formats[0];
  }

  #describe() {
    const { meaning, lost, options } = this.#format;
    this.#options = new Map(options.map((name) => [name, element("input", { type: "number", min: 1, value: OPTIONS[name]?.value ?? 1 })]));
    fill(
      this.#about,
      element("p", {}, meaning),
      ...[...this.#options].map(([name, control]) => field(OPTIONS[name]?.title ?? name, control)),
      element("h3", {}, lost.length > 0 ? "This format cannot hold" : "This format holds everything."),
      lost.length > 0 && element("ul", { "aria-label": "What is lost" }, ...lost.map((line) => element("li", {}, line))),
    );
  }

  /** @returns {Promise<boolean>} false keeps the dialog open */
  async #build() {
    const options = Object.fromEntries([...this.#options].map(([name, control]) => [name, Number(control.value)]));
    const body = { format: this.#format.name, ...options };
    fill(this.#failed);
    try {
      return await this.#task.export(`/api/datasets/${this.#dataset.id}/exports`, body, () => this.#isOpen);
    } catch (error) {
      fill(this.#failed, element("p", { class: "card danger", role: "alert" }, /** @type {Error} */ (error).message));
      return false;
    }
  }
}
