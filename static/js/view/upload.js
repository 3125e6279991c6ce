// Upload a file of candles: pick or drop it, answer what it leaves open, see what came of it or where it is wrong.

import { placeOf, questionsOf } from "../model/questions.js";
import { button, element, field, fill } from "./element.js";
import { askQuestions, showReport } from "./report-dialog.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../net/api.js").ApiError} ApiError */
/** @typedef {{series: import("../model/types.js").Series, report: Record<string, unknown>}} Made */

/** The upload form; a refused file stays named with the line and the cell that are wrong. */
export class Upload {
  root = element("section", { class: "stack upload", "aria-label": "Upload candles" });
  #context;
  #symbol = element("input", {
    type: "text",
    id: "upload-symbol",
    name: "symbol",
    placeholder: "ETH/USDT",
    autocomplete: "off",
    maxlength: 100,
  });
  #file = element("input", {
    type: "file",
    id: "upload-file",
    class: "visually-hidden",
    accept: ".csv,.txt,.tsv,.gz,.zip,text/csv",
  });
  #state = element("div", { class: "upload-state", role: "status" });
  #drop = element("div", { class: "drop" });
  #busy = false;

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
    const choose = button("Choose a file", () => this.#file.click(), { class: "primary" });
    this.#drop.append(choose, element("span", { class: "muted" }, " or drop it here"), this.#file);
    this.#file.setAttribute("aria-label", "File of candles");
    this.#file.addEventListener("change", () => void this.#take(this.#file.files?.[0]));
    this.#listenForDrops();
    this.root.append(
      element("h2", {}, "Upload candles"),
      field("Symbol", this.#symbol, "Empty: as the file says. CSV with a header, or Binance klines."),
      this.#drop,
      this.#state,
    );
  }

  #listenForDrops() {
    const over = (/** @type {boolean} */ is) => this.#drop.classList.toggle("over", is);
    this.root.addEventListener("dragover", (event) => {
      event.preventDefault();
      over(true);
    });
    this.root.addEventListener("dragleave", () => over(false));
    this.root.addEventListener("drop", (event) => {
      event.preventDefault();
      over(false);
      void this.#take(event.dataTransfer?.files[0]);
    });
  }

  /** @param {File | undefined} file */
  async #take(file) {
    if (file === undefined || this.#busy) return;
    this.#busy = true;
    fill(this.#state, element("p", { class: "muted" }, `Reading ${file.name} …`));
    try {
      await this.#send(file, {});
    } catch (error) {
      this.#refused(file, /** @type {ApiError} */ (error));
    } finally {
      this.#busy = false;
      this.#file.value = "";
    }
  }

  /**
   * @param {File} file
   * @param {Record<string, string>} answers
   * @returns {Promise<void>}
   */
  async #send(file, answers) {
    const body = new FormData();
    body.append("file", file);
    const symbol = this.#symbol.value.trim();
    if (symbol !== "") body.append("symbol", symbol);
    body.append("answers", JSON.stringify(answers));
    try {
      const made = await this.#context.api.post("/api/series", undefined, { body });
      await this.#made(file, made);
    } catch (error) {
      const questions = questionsOf(/** @type {ApiError} */ (error), file.name);
      const more = questions.length === 0 ? null : await askQuestions(this.#context.dialog, file.name, questions);
      if (more !== null) return this.#send(file, { ...answers, ...more });
      throw error;
    }
  }

  /**
   * @param {File} file
   * @param {{items: Made[]}} made one item a series
   */
  async #made(file, { items }) {
    fill(this.#state, ...items.map((item) => this.#madeLine(file, item)));
    this.#symbol.value = "";
    await this.#context.reloadSeries();
    this.#context.openSeries(items[0].series.id);
  }

  /**
   * @param {File} file
   * @param {Made} made
   */
  #madeLine(file, { series, report }) {
    const title = `${file.name} is ${series.symbol} ${series.timeframe}`;
    const stored = `${series.candles.toLocaleString("en-US")} candles are stored.`;
    const words = report["identical"] === true ? "The same bytes were uploaded before; this is the series they made." : stored;
    const show = () => showReport(this.#context.dialog, title, report);
    return element("p", {}, `${title}. ${words} `, button("Show the report", show, { class: "small" }));
  }

  /**
   * @param {File} file
   * @param {ApiError} error
   */
  #refused(file, error) {
    const place = placeOf(error);
    fill(
      this.#state,
      element(
        "div",
        { class: "card danger", role: "alert" },
        element("h2", {}, `${file.name} was not stored`),
        element("p", {}, error.message),
        place !== "" && element("p", { class: "place" }, place),
        element(
          "div",
          { class: "row" },
          button("Choose another file", () => this.#file.click()),
        ),
      ),
    );
  }
}
