// The head of the metrics: which run, how smooth, downloads; of compared runs where they differ and what they reached.

import { configValue, percent } from "../model/format-metrics.js";
import { choices } from "../net/browser-storage.js";
import { button, element, fill } from "./element.js";

/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {{field: string, values: unknown[]}} Row */
/** @typedef {{runs: number[], differences: Row[], facts: Row[]}} Comparison */

const KEY = "annotate.smoothing";
const SMOOTHEST = 0.95;
const kept = choices();

/** Says what is drawn, and holds what a person chose about it. */
export class MetricsHead {
  #words = element("span", { class: "muted" });
  #links = element("span", { class: "row" });
  /** Goes below the figures: curves are what a person looks for first. */
  tables = element("div", { class: "comparison" });
  #slider = element("input", {
    type: "range",
    id: "smoothing",
    min: 0,
    max: SMOOTHEST,
    step: 0.05,
    value: kept.getItem(KEY) ?? 0,
    title: "Averages each curve over its past; the raw line stays behind it",
  });
  root = element(
    "div",
    {},
    element(
      "div",
      { class: "row panel-head wrap" },
      this.#words,
      element("span", { class: "row" }, element("label", { class: "muted", for: "smoothing" }, "Smoothing"), this.#slider),
      this.#links,
    ),
  );
  #picture;

  /**
   * @param {() => void} changed
   * @param {() => void} picture saves the figures as one image
   */
  constructor(changed, picture) {
    this.#picture = picture;
    this.#slider.addEventListener("input", () => {
      kept.setItem(KEY, this.#slider.value);
      changed();
    });
  }

  /** @returns {number} weight of the past, 0: raw curves alone */
  get smoothing() {
    const weight = Number(this.#slider.value);
    return weight >= 0 && weight <= SMOOTHEST ? weight : 0;
  }

  clear() {
    this.#words.textContent = "";
    fill(this.#links);
    fill(this.tables);
  }

  /** @returns {string} what the figures are of */
  get words() {
    return this.#words.textContent ?? "";
  }

  /** @param {Run} run */
  showRun(run) {
    const kind = { live: "live: prequential, unseen candles only", skill: "is it skill?" }[/** @type {"live"} */ (run.mode)] ?? "batch";
    this.#words.textContent = `Run ${run.id} · ${kind} · baselines are the grey dashed lines`;
    if (this.#links.dataset["run"] !== String(run.id))
      fill(this.#links, download(`${run.id}/figures.csv`, "CSV"), this.#png(), download(`${run.id}/report.html`, "HTML"));
    this.#links.dataset["run"] = String(run.id);
    fill(this.tables);
  }

  /**
   * @param {Comparison} comparison
   * @param {() => void} end goes back to one run
   */
  showComparison({ runs, differences, facts }, end) {
    this.#words.textContent = `Runs ${runs.join(", ")} compared`;
    this.#links.dataset["run"] = "";
    const ids = runs.join(",");
    fill(
      this.#links,
      download(`compare.csv?ids=${ids}`, "CSV"),
      this.#png(),
      download(`compare.html?ids=${ids}`, "HTML"),
      button("End comparing", end, { class: "small" }),
    );
    const same = element("p", { class: "muted" }, "Their settings are the same.");
    const table = (/** @type {string} */ title, /** @type {Row[]} */ rows) => comparisonTable(title, runs, rows);
    fill(this.tables, differences.length === 0 ? same : table("Settings that differ", differences), table("What they reached", facts));
  }

  #png() {
    const look = { type: "button", class: "link-button", title: "Save the figures as one picture" };
    return element("button", { ...look, onclick: this.#picture }, "PNG");
  }
}

/**
 * @param {string} path below that of the runs
 * @param {string} text
 */
function download(path, text) {
  return element("a", { href: `/api/runs/${path}`, download: "" }, text);
}

/**
 * @param {string} title
 * @param {number[]} runs
 * @param {Row[]} rows
 */
function comparisonTable(title, runs, rows) {
  return element(
    "table",
    { class: "figures" },
    element("caption", {}, title),
    element("thead", {}, element("tr", {}, ...["", ...runs.map((run) => `run ${run}`)].map((name) => element("th", { scope: "col" }, name)))),
    element(
      "tbody",
      {},
      ...rows.map(({ field, values }) =>
        element("tr", {}, element("th", { scope: "row" }, field), ...values.map((value) => element("td", {}, written(value, field)))),
      ),
    ),
  );
}

/**
 * @param {unknown} value
 * @param {string} field
 */
function written(value, field) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number" && field.endsWith("accuracy")) return percent(value, 1);
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(5))) : configValue(value);
}
