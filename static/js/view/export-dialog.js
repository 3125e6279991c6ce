// The format picker: what each format cannot hold is said before the download; a build shows its progress.

import { button, element, field, fill } from "./element.js";
import { saveFrom } from "./save-text.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("./dataset-section.js").Dataset} Dataset */
/** @typedef {{name: string, title: string, meaning: string, options: string[], lost: string[]}} Format */
/** @typedef {{id: number, state: string, progress: number, cause: string | null}} Build */

const ASK_MS = 250;
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
  #context;
  #dataset;
  #formats;
  #choice = element("select", { name: "format" });
  #about = element("div", { class: "stack" });
  #state = element("div", { class: "row", role: "status" });
  #isOpen = true;
  /** @type {Map<string, HTMLInputElement>} */
  #options = new Map();

  /**
   * @param {PageContext} context
   * @param {Dataset} dataset
   * @param {Format[]} formats
   */
  constructor(context, dataset, formats) {
    this.#context = context;
    this.#dataset = dataset;
    this.#formats = formats;
    this.#choice.append(...formats.map(({ name, title }) => element("option", { value: name }, title)));
    this.#choice.addEventListener("change", () => this.#describe());
    this.#describe();
    const handle = context.dialog.open({
      title: `Export ${dataset.name}`,
      wide: true,
      body: [field("Format", this.#choice), this.#about, this.#state],
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
    try {
      const begun = await this.#context.api.post(`/api/datasets/${this.#dataset.id}/exports`, body);
      const ended = await this.#follow(begun.export);
      if (ended.state === "failed") throw new Error(ended.cause ?? "the export failed");
      if (ended.state === "finished") saveFrom("", `/api/exports/${ended.id}/download`);
      return ended.state === "finished";
    } catch (error) {
      fill(this.#state, element("p", { class: "card danger", role: "alert" }, /** @type {Error} */ (error).message));
      return false;
    }
  }

  /**
   * Show progress until the build is over; closing the dialog calls it off.
   * @param {Build} build
   * @returns {Promise<Build>}
   */
  async #follow(build) {
    const bar = element("progress", { max: 1, value: 0 });
    const cancel = () => void this.#context.api.delete(`/api/exports/${build.id}`);
    fill(this.#state, bar, button("Cancel export", cancel, { class: "small" }));
    let now = build;
    while (now.state === "queued" || now.state === "running") {
      if (!this.#isOpen) cancel();
      bar.value = now.progress;
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      now = (await this.#context.api.get(`/api/exports/${build.id}`)).export;
    }
    fill(this.#state, now.state === "cancelled" && "The export was called off.");
    return now;
  }
}
