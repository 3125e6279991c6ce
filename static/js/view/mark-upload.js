// Import marks onto the open series: pick a file, answer what it leaves open, see what comes of it, then store it.

import { importRows } from "../model/dataset.js";
import { questionsOf } from "../model/questions.js";
import { button, element } from "./element.js";
import { askQuestions } from "./report-dialog.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../net/api.js").ApiError} ApiError */
/** @typedef {import("../model/dataset.js").MarkReport} MarkReport */

/** The section of the Data panel; `root` is its element. */
export class MarkUpload {
  root = element("section", { class: "stack", "aria-label": "Import annotations" });
  #context;
  #file = element("input", { type: "file", class: "visually-hidden", "aria-label": "File of annotations" });

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
    const choose = button("Import annotations", () => this.#file.click());
    const words = "Ours (JSONL, labels.csv, zip), Label Studio, TRAINSET, Candle Annotator, or a CSV of time and label.";
    this.#file.addEventListener("change", () => void this.#take(this.#file.files?.[0]));
    this.root.append(element("h2", {}, "Annotations"), element("div", { class: "row" }, choose, this.#file), element("small", { class: "muted" }, words));
    const paint = () => void (choose.disabled = context.series.get().current === null);
    context.series.subscribe(paint);
    paint();
  }

  /** @param {File | undefined} file */
  async #take(file) {
    const { current } = this.#context.series.get();
    this.#file.value = "";
    if (file === undefined || current === null) return;
    try {
      await this.#preview(file, current.id, {});
    } catch (error) {
      this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  }

  /**
   * @param {File} file
   * @param {number} seriesId
   * @param {Record<string, string>} answers
   * @returns {Promise<void>}
   */
  async #preview(file, seriesId, answers) {
    const report = await this.#send(file, seriesId, answers, { dry_run: "1" }).catch(async (error) => {
      const asked = questionsOf(/** @type {ApiError} */ (error), file.name);
      const more = asked.length > 0 ? await askQuestions(this.#context.dialog, file.name, asked) : null;
      if (more === null) throw error;
      return { ...answers, ...more };
    });
    if (!("new" in report)) return this.#preview(file, seriesId, report);
    this.#show(file, seriesId, answers, /** @type {MarkReport} */ (report));
  }

  /**
   * @param {File} file
   * @param {number} seriesId
   * @param {Record<string, string>} answers
   * @param {MarkReport} report
   */
  #show(file, seriesId, answers, report) {
    const rows = importRows(report).flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]);
    const replace = element("input", { type: "checkbox", id: "replace-marks" });
    const inConflict = report.conflicts.length > 0 && element("label", { class: "row", for: replace.id }, replace, "Let the file's marks take the place of stored ones");
    this.#context.dialog.open({
      title: `Import ${file.name}`,
      wide: true,
      body: [element("dl", { class: "facts report" }, ...rows), ...(inConflict ? [inConflict] : [])],
      actions: [{ text: "Import", tone: "primary", run: () => this.#store(file, seriesId, answers, replace.checked) }],
    });
  }

  /**
   * @param {File} file
   * @param {number} seriesId
   * @param {Record<string, string>} answers
   * @param {boolean} replace
   * @returns {Promise<boolean>} false keeps the dialog open
   */
  async #store(file, seriesId, answers, replace) {
    try {
      const report = await this.#send(file, seriesId, answers, replace ? { replace: "1" } : {});
      this.#context.toast(`${report.new} annotations of ${file.name} are stored; Undo takes them back.`, { tone: "ok" });
      return true;
    } catch (error) {
      this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
      return false;
    }
  }

  /**
   * @param {File} file
   * @param {number} seriesId
   * @param {Record<string, string>} answers
   * @param {Record<string, string>} fields
   */
  async #send(file, seriesId, answers, fields) {
    const body = new FormData();
    body.append("file", file);
    body.append("answers", JSON.stringify(answers));
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return (await this.#context.api.post(`/api/series/${seriesId}/annotations/import`, undefined, { body })).report;
  }
}
