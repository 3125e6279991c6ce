// Import marks onto the open series: pick a file, see how it is read and what comes of it, change that, then store it.

import { importRows, sampleRows } from "../model/dataset.js";
import { answersToSend, askedControl } from "../model/import-plan.js";
import { questionsOf } from "../model/questions.js";
import { Zone } from "../model/zone.js";
import { button, element, fill } from "./element.js";
import { askedField, controlTable } from "./import-controls.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../net/api.js").ApiError} ApiError */
/** @typedef {import("../model/dataset.js").MarkReport} MarkReport */
/** @typedef {import("../model/questions.js").Question} Question */
/** @typedef {import("../model/types.js").Series} Series */

/** The section of the Data panel; `root` is its element. */
export class MarkUpload {
  root = element("section", { class: "stack", "aria-label": "Import annotations" });
  #context;
  #file = element("input", { type: "file", class: "visually-hidden", "aria-label": "File of annotations" });

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
    const choose = button("Import annotations", () => this.#file.click());
    const words = "Ours (JSONL, labels.csv, zip), Label Studio, TRAINSET, Candle Annotator, or a table of time and label.";
    this.#file.addEventListener("change", () => this.#take(this.#file.files?.[0]));
    this.root.append(element("h2", {}, "Annotations"), element("div", { class: "row" }, choose, this.#file), element("small", { class: "muted" }, words));
    const paint = () => void (choose.disabled = context.series.get().current === null);
    context.series.subscribe(paint);
    paint();
  }

  /** @param {File | undefined} file */
  #take(file) {
    const { current } = this.#context.series.get();
    this.#file.value = "";
    if (file !== undefined && current !== null) new MarkImport(this.#context, file, current);
  }
}

/** The dialog about one file: asks, previews, stores. */
class MarkImport {
  #context;
  #file;
  #series;
  #asked = element("div", { class: "stack" });
  #shown = element("div", { class: "stack" });
  #choices = element("div");
  #replace = element("input", { type: "checkbox", id: "replace-marks" });
  /** @type {Record<string, string>} */
  #answers = {};
  #looks = 0;

  /**
   * @param {PageContext} context
   * @param {File} file
   * @param {Series} series
   */
  constructor(context, file, series) {
    this.#context = context;
    this.#file = file;
    this.#series = series;
    context.dialog.open({
      title: `Import ${file.name}`,
      wide: true,
      body: [this.#asked, this.#shown, this.#choices],
      actions: [{ text: "Import", tone: "primary", run: () => this.#store() }],
    });
    void this.#look();
  }

  /** Ask what would come of the file, as it is read now. */
  async #look() {
    this.#looks += 1;
    const look = this.#looks;
    try {
      const report = await this.#send({ dry_run: "1" });
      if (look !== this.#looks) return;
      this.#paintReport(report);
    } catch (error) {
      if (look === this.#looks) this.#refused(/** @type {ApiError} */ (error));
    }
  }

  /**
   * Ask what the file leaves open and go on with the likely answers; say what is wrong with any other file.
   * @param {ApiError} error
   */
  #refused(error) {
    const open = questionsOf(error, this.#file.name).filter(({ name }) => this.#answers[name] === undefined);
    if (open.length === 0) {
      fill(this.#shown, element("p", { class: "card danger", role: "alert" }, error.message));
      return;
    }
    this.#asked.append(...open.map((question) => askedField(askedControl(question, this.#answers), this.#change)));
    this.#answers = answersToSend(open, this.#answers);
    void this.#look();
  }

  /** @param {MarkReport} report */
  #paintReport(report) {
    const zone = new Zone(this.#context.settings.get().zone);
    const rows = importRows(report).flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]);
    const marks = sampleRows(report, zone, this.#series.timeframe).map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))));
    fill(
      this.#shown,
      element("dl", { class: "facts report" }, ...rows),
      marks.length > 0 && element("table", { class: "figures first-marks", "aria-label": "First marks" }, element("tbody", {}, ...marks)),
      report.conflicts.length > 0 && element("label", { class: "row", for: this.#replace.id }, this.#replace, "Let the file's marks take the place of stored ones"),
    );
    this.#paintChoices(report.options);
  }

  /** @param {Question[]} options */
  #paintChoices(options) {
    const controls = options.map((option) => askedControl(option, {}));
    const table = element("details", { open: this.#choices.querySelector("details[open]") !== null }, element("summary", {}, "How the file is read"), controlTable(controls, this.#change));
    fill(this.#choices, controls.length > 0 && table);
  }

  /** @type {(name: string, value: string) => void} */
  #change = (name, value) => {
    this.#answers = { ...this.#answers, [name]: value };
    void this.#look();
  };

  /** @returns {Promise<boolean>} false keeps the dialog open */
  async #store() {
    try {
      const report = await this.#send(this.#replace.checked ? { replace: "1" } : {});
      this.#context.toast(`${report.new} annotations of ${this.#file.name} are stored; Undo takes them back.`, { tone: "ok" });
      return true;
    } catch (error) {
      this.#refused(/** @type {ApiError} */ (error));
      return false;
    }
  }

  /**
   * @param {Record<string, string>} fields
   * @returns {Promise<MarkReport>}
   */
  async #send(fields) {
    const body = new FormData();
    body.append("file", this.#file);
    body.append("answers", JSON.stringify(this.#answers));
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return (await this.#context.api.post(`/api/series/${this.#series.id}/annotations/import`, undefined, { body })).report;
  }
}
