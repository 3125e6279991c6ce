// A file before it is imported: its candles, what it leaves open, and how it is read, each with its reason and changeable.

import { count } from "../model/format-metrics.js";
import { answersToSend, askedControl, controlsOf } from "../model/import-plan.js";
import { askedField, controlTable } from "./import-controls.js";
import { candleFigure, candleTable } from "./import-figure.js";
import { element, field, fill } from "./element.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/import-plan.js").Preview} Preview */
/** @typedef {import("../model/questions.js").Question} Question */
/** @typedef {{answers: Record<string, string>, series_id: number | null}} Choices */

/**
 * Show how a file would be read and let a person change it.
 * @param {PageContext} context
 * @param {{id: string, filename: string}} upload
 * @param {Choices} choices what was said so far
 * @returns {Promise<{choices: Choices, isAccepted: boolean}>} what was chosen, also when a person gave up; rejects when
 *   the file is refused
 */
export async function lookAt(context, upload, choices) {
  const look = new Look(context, upload, choices);
  await look.ask();
  return look.open();
}

/** One file under a person's eyes. */
class Look {
  #context;
  #upload;
  /** @type {Record<string, string>} */
  #answers;
  /** @type {number | null} */
  #seriesId;
  /** @type {Preview} */
  #preview = { series: [], questions: [], ready: false, problem: null, known_series: [] };
  /** @type {Map<string, Question>} every question asked so far, so that an answered one stays in view */
  #asked = new Map();
  #shownSeries = 0;
  #refusal = "";
  #turn = 0;
  #body = element("div", { class: "import-preview stack" });
  /** @type {Promise<void>} the answer to the newest change */
  #latest = Promise.resolve();

  /**
   * @param {PageContext} context
   * @param {{id: string, filename: string}} upload
   * @param {Choices} choices
   */
  constructor(context, upload, choices) {
    this.#context = context;
    this.#upload = upload;
    this.#answers = { ...choices.answers };
    this.#seriesId = choices.series_id;
  }

  /** Ask the server how it would read the file now; the newest question wins. */
  async ask() {
    const turn = ++this.#turn;
    const body = { answers: this.#answers, series_id: this.#seriesId };
    const { preview } = await this.#context.api.post(`/api/uploads/${this.#upload.id}/preview`, body);
    if (turn !== this.#turn) return;
    this.#preview = preview;
    for (const question of preview.questions) this.#asked.set(question.name, question);
    this.#refusal = "";
  }

  /** @returns {Promise<{choices: Choices, isAccepted: boolean}>} */
  async open() {
    this.#paint();
    let isAccepted = false;
    const take = async () => {
      await this.#latest;
      isAccepted = this.#refusal === "";
      return isAccepted;
    };
    await this.#context.dialog.open({
      title: `Import ${this.#upload.filename}`,
      body: [this.#body],
      actions: [{ text: "Import", tone: "primary", run: take }],
      wide: true,
    }).closed;
    const answers = isAccepted ? answersToSend(this.#asked.values(), this.#answers) : this.#answers;
    return { choices: { answers, series_id: this.#seriesId }, isAccepted };
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  #change(name, value) {
    if (value === "") delete this.#answers[name];
    else this.#answers[name] = value;
    this.#again();
  }

  #again() {
    this.#body.setAttribute("aria-busy", "true");
    this.#latest = this.ask()
      .catch((error) => void (this.#refusal = /** @type {Error} */ (error).message))
      .then(() => {
        this.#body.removeAttribute("aria-busy");
        this.#paint();
      });
  }

  #paint() {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.getAttribute("name") : null;
    const shown = this.#preview.series[Math.min(this.#shownSeries, this.#preview.series.length - 1)];
    const problem = this.#refusal || this.#preview.problem;
    fill(
      this.#body,
      problem && element("p", { class: "card danger", role: "alert" }, problem),
      this.#knownNote(),
      ...this.#questions(),
      shown && this.#head(shown),
      shown && candleFigure(shown),
      shown && candleTable(shown),
      shown && shown.report.notes.length > 0 && element("ul", { class: "notes" }, ...shown.report.notes.map((note) => element("li", {}, note))),
      this.#target(),
      shown && this.#choices(shown),
    );
    const again = focused && this.#body.querySelector(`[name="${CSS.escape(focused)}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  #knownNote() {
    const names = this.#context.series.get().items.filter(({ id }) => this.#preview.known_series.includes(id));
    if (names.length === 0) return null;
    const list = names.map(({ symbol, timeframe }) => `${symbol} ${timeframe}`).join(", ");
    return element("p", { class: "card" }, `The same bytes were uploaded before and made ${list}; importing them again gives that.`);
  }

  #questions() {
    if (this.#asked.size === 0) return [];
    const fields = [...this.#asked.values()].map((question) => askedField(askedControl(question, this.#answers), (...change) => this.#change(...change)));
    const title = this.#asked.size === 1 ? "The file leaves one thing open" : `The file leaves ${this.#asked.size} things open`;
    return [element("section", { class: "card warning", "aria-label": "Questions" }, element("h3", {}, title), ...fields)];
  }

  /** @param {import("../model/import-plan.js").Shown} shown */
  #head(shown) {
    const { symbol, timeframe, candles, report } = shown;
    const asked = this.#asked.get("symbol");
    const named = symbol ?? (asked ? askedControl(asked, this.#answers).value : "");
    const words = `${named} · ${timeframe} · ${count(candles)} candles · ${report.format}`;
    if (this.#preview.series.length < 2) return element("h3", {}, words);
    const choose = element(
      "select",
      { "aria-label": "Series shown" },
      ...this.#preview.series.map((each, at) => element("option", { value: at }, `${each.symbol ?? "unnamed"} ${each.timeframe}`)),
    );
    choose.value = String(this.#preview.series.indexOf(shown));
    choose.addEventListener("change", () => {
      this.#shownSeries = Number(choose.value);
      this.#paint();
    });
    return element("div", { class: "row" }, element("h3", {}, words), choose);
  }

  #target() {
    const choose = element("select", { name: "series_id" }, element("option", { value: "" }, "A new series"));
    for (const { id, symbol, timeframe, simulated } of this.#context.series.get().items) {
      if (!simulated) choose.append(element("option", { value: id }, `Add to ${symbol} ${timeframe}`));
    }
    choose.value = String(this.#seriesId ?? "");
    choose.addEventListener("change", () => {
      this.#seriesId = choose.value === "" ? null : Number(choose.value);
      if (this.#seriesId !== null) this.#asked.delete("symbol");
      this.#again();
    });
    return field("Import into", choose);
  }

  /** @param {import("../model/import-plan.js").Shown} shown */
  #choices(shown) {
    const among = { isOnly: this.#preview.series.length === 1, isNew: this.#seriesId === null, asked: new Set(this.#asked.keys()) };
    return element(
      "section",
      { class: "stack", "aria-label": "How it is read" },
      element("h3", {}, "How it is read"),
      controlTable(controlsOf(shown, this.#answers, among), (...change) => this.#change(...change)),
    );
  }
}
