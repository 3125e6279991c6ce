// The Log: the printed lines of a run, letter for letter. All are kept; only those in view are in the page.

import { button, element, fill } from "./element.js";
import { learningOf } from "./learning.js";
import { saveText } from "./save-text.js";

/** @typedef {import("./context.js").PageContext} PageContext */

const LINE_PX = 18;
const MARGIN_LINES = 20;

/**
 * Fill the log panel.
 * @param {HTMLElement} root
 * @param {PageContext} context
 */
export function mountLog(root, context) {
  new LogPanel(root, context);
}

class LogPanel {
  #context;
  #desk;
  #run = element("select", { "aria-label": "Run whose lines are shown" });
  #count = element("span", { class: "muted number" });
  #scroll = element("div", { class: "log-scroll", tabindex: 0, role: "log", "aria-live": "off", "aria-label": "Printed lines" });
  #all = element("div", { class: "log-all" });
  #text = element("pre", { class: "log-lines" });
  /** @type {number | null} */
  #picked = null;
  #follows = true;

  /**
   * @param {HTMLElement} root
   * @param {PageContext} context
   */
  constructor(root, context) {
    this.#context = context;
    this.#desk = learningOf(context).desk;
    this.#run.addEventListener("change", () => this.#pick(Number(this.#run.value)));
    this.#scroll.addEventListener("scroll", () => this.#scrolled());
    this.#all.append(this.#text);
    this.#scroll.append(this.#all);
    const copy = button("Copy", () => void this.#copy(), { class: "small", title: "Copies every line of this run" });
    const download = button("Download", () => saveText(`run-${this.#shown?.id}.log`, this.#joined), { class: "small" });
    const server = element("a", { href: "/api/log", download: "annotate.log" }, "server log");
    root.classList.add("log-panel");
    root.append(element("div", { class: "row panel-head" }, this.#run, copy, download, this.#count, server), this.#scroll);
    new ResizeObserver(() => this.#paint()).observe(this.#scroll);
    this.#desk.picked.subscribe(() => (this.#picked = null));
    this.#desk.onPaint(() => this.#paint());
  }

  /** @returns {import("../model/run.js").Run | undefined} */
  get #shown() {
    const followed = this.#followed;
    return followed.find((run) => run.id === this.#picked) ?? this.#desk.focus ?? followed[0];
  }

  get #followed() {
    return this.#desk.ofSeries.filter((run) => this.#desk.progressOf(run.id) !== undefined);
  }

  /** @returns {readonly string[]} */
  get #lines() {
    const run = this.#shown;
    return (run && this.#desk.progressOf(run.id)?.lines) ?? [];
  }

  get #joined() {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  /** @param {number} runId */
  #pick(runId) {
    this.#picked = runId;
    this.#follows = true;
    this.#paint();
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.#joined);
      this.#context.toast(`${this.#lines.length} lines are copied.`, { tone: "ok" });
    } catch {
      this.#context.toast("The browser does not allow copying here; use Download.", { tone: "danger" });
    }
  }

  #scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroll;
    this.#follows = scrollTop + clientHeight >= scrollHeight - LINE_PX;
    this.#paintLines();
  }

  #paint() {
    if (this.#scroll.clientHeight === 0) return; // the dock is closed
    this.#paintChoice();
    this.#count.textContent = `${this.#lines.length.toLocaleString("en-US")} lines`;
    this.#all.style.height = `${Math.max(1, this.#lines.length) * LINE_PX}px`;
    if (this.#follows) this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#paintLines();
  }

  #paintChoice() {
    const followed = this.#followed;
    const names = followed.map((run) => `Run ${run.id} · ${run.mode}`);
    if (names.join() !== [...this.#run.options].map((option) => option.textContent).join())
      fill(this.#run, ...followed.map((run, index) => element("option", { value: run.id }, names[index])));
    this.#run.value = String(this.#shown?.id ?? "");
    this.#run.disabled = followed.length === 0;
  }

  #paintLines() {
    const first = Math.max(0, Math.floor(this.#scroll.scrollTop / LINE_PX) - MARGIN_LINES);
    const shown = Math.ceil(this.#scroll.clientHeight / LINE_PX) + 2 * MARGIN_LINES;
    const text = this.#lines.slice(first, first + shown).join("\n");
    const words = this.#lines.length === 0 ? "No line yet. A run prints one a batch, an epoch or a candle." : text;
    if (this.#text.textContent !== words) this.#text.textContent = words;
    this.#text.style.transform = `translateY(${first * LINE_PX}px)`;
  }
}
