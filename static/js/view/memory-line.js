// What a run with the settings of the form will need of memory, told before it starts, and what to change.

import { element, fill } from "./element.js";

/** @typedef {import("../model/train-settings.js").TrainSettings} TrainSettings */
/** @typedef {import("../net/api.js").Api} Api */
/** @typedef {{fits: boolean, words: string, savings: {change: string, saves: number}[]}} Told */

const WAIT_MS = 400;

/** One line below the form; asks again once the settings have stood still for a moment. */
export class MemoryLine {
  root = element("p", { class: "muted memory-line", role: "status", "aria-label": "Memory that a run will need" });
  #api;
  #settings;
  #asked = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {Api} api
   * @param {TrainSettings} settings
   */
  constructor(api, settings) {
    this.#api = api;
    this.#settings = settings;
    settings.onChange(() => this.#later());
    this.#later();
  }

  #later() {
    const config = this.#settings.batchConfig();
    const wanted = JSON.stringify(config);
    if (wanted === this.#asked || config["model"] === undefined) return;
    this.#asked = wanted;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(config), WAIT_MS);
  }

  /** @param {Record<string, unknown>} config */
  async #ask(config) {
    try {
      this.#show(await this.#api.post("/api/memory", { mode: "batch", config }));
    } catch {
      fill(this.root); // a value that cannot be taken is said at its field, once a run is asked for
    }
  }

  /** @param {Told} told */
  #show({ fits, words, savings }) {
    this.root.classList.toggle("refused", !fits);
    this.root.classList.toggle("muted", fits);
    this.root.title = savings.map(({ change, saves }) => `${change} saves ${Math.round(saves / 1e6)} MB`).join("\n");
    fill(this.root, `Memory: ${words}.`);
  }
}
