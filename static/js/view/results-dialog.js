// Results and agreement: what trades came to in total, how far two people or two passes agree, and blind passes.

import { agreementRows } from "../model/agreement.js";
import { totalRows } from "../model/worth.js";
import { ApiError } from "../net/api.js";
import { button, element, field, fill } from "./element.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {{id: number, author: string, hides: string, started: number, ended: number | null}} Pass */

const RULE = "A trade is filled at the open of the candle after its decision; stop and target count by high and low, and where both lie in one candle, the stop first.";
const HIDES = /** @type {const} */ ([["others", "Hide what others marked"], ["all", "Hide every earlier mark, my own too"]]);

/**
 * Open the dialog on the open series.
 * @param {PageContext} context
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 */
export async function openResults(context, book) {
  const { dialog, toast } = context;
  const dialogs = new Results(context, book);
  try {
    await dialogs.read();
  } catch (error) {
    return toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
  }
  dialog.open({ title: "Results and agreement", body: dialogs.body(), cancel: "Close", wide: true });
}

class Results {
  #context;
  #book;
  #worth = /** @type {import("../model/worth.js").Worth | null} */ (null);
  #authors = /** @type {{author: string, marks: number}[] | null} null where they are hidden */ ([]);
  #passes = /** @type {Pass[]} */ ([]);
  #totals = element("div", { class: "table-holder" });
  #people = element("div", { class: "stack" });
  #figures = element("div", { class: "table-holder", "aria-live": "polite" });
  #blind = element("div", { class: "stack" });
  #problem = element("p", { class: "problem", role: "alert" });

  /**
   * @param {PageContext} context
   * @param {import("../net/annotation-book.js").AnnotationBook} book
   */
  constructor(context, book) {
    this.#context = context;
    this.#book = book;
  }

  get #path() {
    return `/api/series/${this.#context.series.get().current?.id}`;
  }

  get #author() {
    return this.#context.settings.get().author;
  }

  async read() {
    const { api } = this.#context;
    const [worth, passes] = await Promise.all([api.get(`${this.#path}/worth`), api.get(`${this.#path}/blind`)]);
    this.#worth = worth;
    this.#passes = passes.items;
    this.#authors = this.#openPass ? null : await this.#whoMarked();
  }

  /** @returns {Promise<{author: string, marks: number}[] | null>} null in a replay, which hides it */
  async #whoMarked() {
    try {
      return (await this.#context.api.get(`${this.#path}/authors`)).items;
    } catch (error) {
      if (error instanceof ApiError && error.code === "replay") return null;
      throw error;
    }
  }

  get #openPass() {
    return this.#passes.find(({ author, ended }) => author === this.#author && ended === null);
  }

  /** @returns {HTMLElement[]} */
  body() {
    this.#draw();
    return [
      this.#problem,
      element("section", { class: "stack" }, element("h3", {}, "Trades"), element("p", { class: "muted" }, RULE), this.#costs(), this.#totals),
      element("section", { class: "stack" }, element("h3", {}, "Agreement"), this.#people, this.#figures),
      element("section", { class: "stack" }, element("h3", {}, "Blind pass"), this.#blind),
    ];
  }

  #draw() {
    this.#drawTotals();
    this.#drawBlind();
    const text = this.#openPass ? "It can be looked at when the blind pass is over." : "It can be looked at when the replay is over.";
    fill(this.#people, this.#authors ? this.#comparison(this.#authors) : element("p", { class: "muted" }, text));
    fill(this.#figures);
  }

  #costs() {
    const { fee_bps: fee, slippage_bps: slippage } = this.#worth?.costs ?? { fee_bps: 0, slippage_bps: 0 };
    const inputs = [fee, slippage].map((value) => element("input", { type: "number", min: 0, step: "any", value, class: "short", required: true }));
    const keep = () =>
      this.#ask(async () => {
        if (!inputs.every((input) => input.reportValidity())) return;
        await this.#context.api.put("/api/costs", { fee_bps: Number(inputs[0].value), slippage_bps: Number(inputs[1].value) });
        await this.read();
        this.#drawTotals();
        await this.#book.refresh();
      });
    for (const input of inputs) input.addEventListener("change", () => void keep());
    return element("div", { class: "row" }, field("Fee a side, bps", inputs[0]), field("Slippage a side, bps", inputs[1]));
  }

  #drawTotals() {
    if (!this.#worth) return;
    const rows = totalRows(this.#worth.totals);
    const head = ["", "Trades", "Closed", "Won", "Sum", "Mean", "Mean R"];
    const lines = rows.map(({ group, name, cells }) => [group ? `${group}: ${name}` : name, ...cells]);
    fill(this.#totals, this.#worth.items.length ? table("Totals of trades", head, lines) : element("p", { class: "muted" }, "No trade is marked yet."));
  }

  /** @param {{author: string}[]} authors */
  #comparison(authors) {
    const names = authors.map(({ author }) => author);
    const people = (/** @type {string} */ label, /** @type {string | undefined} */ chosen) => {
      const menu = element("select", { "aria-label": label }, ...names.map((name) => element("option", { value: name }, name)));
      if (chosen) menu.value = chosen;
      return menu;
    };
    const me = names.includes(this.#author) ? this.#author : names[0];
    const [first, second] = [people("First person", me), people("Second person", names.find((name) => name !== me))];
    const pass = element("select", { "aria-label": "Blind pass" }, element("option", { value: "" }, "two people"), ...this.#passes.map(({ id, author, started }) => element("option", { value: id }, `${author}'s pass of ${new Date(started).toISOString().slice(0, 10)} against before`)));
    const tolerance = element("input", { type: "number", min: 0, max: 100, step: 1, value: 2, class: "short", "aria-label": "Tolerance in candles", title: "Candles apart that still match" });
    const compare = () =>
      this.#ask(async () => {
        const who = pass.value ? { pass: pass.value } : { first: first.value, second: second.value };
        const answer = await this.#context.api.get(`${this.#path}/agreement`, { query: { ...who, tolerance: tolerance.value } });
        fill(this.#figures, table(`Agreement of ${answer.first} and ${answer.second}`, ["", answer.first, answer.second, "Matched", "Agreement"], agreementRows(answer)));
      });
    pass.addEventListener("change", () => [first, second].forEach((menu) => (menu.disabled = pass.value !== "")));
    return element("div", { class: "row people" }, pass, first, second, element("label", { class: "row" }, "within ±", tolerance, "candles"), button("Compare", () => void compare(), { disabled: names.length < 2 && this.#passes.length === 0 }));
  }

  #drawBlind() {
    const open = this.#openPass;
    const change = (/** @type {() => Promise<unknown>} */ call) => () =>
      void this.#ask(async () => {
        await call();
        await this.#book.refresh();
        await this.read();
        this.#draw();
      });
    const { api } = this.#context;
    const actions = open
      ? [button("End the blind pass", change(() => api.delete(`${this.#path}/blind`)), { class: "primary" })]
      : HIDES.map(([hides, text]) => button(text, change(() => api.post(`${this.#path}/blind`, { hides }))));
    const text = open
      ? "A blind pass is open: the server hides the other marks from you until you end it."
      : "Mark the series again without seeing what was marked, then compare: with another person, or with yourself a week ago.";
    fill(this.#blind, element("p", { class: "muted" }, text), element("div", { class: "row" }, ...actions));
  }

  /** @param {() => Promise<void>} call */
  async #ask(call) {
    this.#problem.textContent = "";
    try {
      await call();
    } catch (error) {
      this.#problem.textContent = error instanceof Error ? error.message : String(error);
    }
  }
}

/**
 * @param {string} name
 * @param {string[]} head
 * @param {string[][]} rows
 */
function table(name, head, rows) {
  return element(
    "table",
    { "aria-label": name },
    element("thead", {}, element("tr", {}, ...head.map((text) => (text ? element("th", { scope: "col" }, text) : element("td", {}))))),
    element("tbody", {}, ...rows.map(([title, ...cells]) => element("tr", {}, element("th", { scope: "row" }, title), ...cells.map((cell) => element("td", {}, cell))))),
  );
}
