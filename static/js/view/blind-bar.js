// A blind pass that is open on this series: said over the chart, so that nobody wonders where marks are, and ended there.

import { button, element } from "./element.js";
import { learningOf } from "./learning.js";

/** @typedef {{author: string, hides: "others" | "all", ended: number | null}} Pass */

const HIDDEN = { others: "what others marked is hidden", all: "every earlier mark is hidden" };

/** The author's blind pass over the open series, as a bar. */
export class BlindBar {
  #context;
  #text = element("span", { class: "muted" });
  #bar = element("div", { class: "mode-bar", role: "group", "aria-label": "Blind pass", hidden: true });
  #asked = 0;

  /**
   * @param {HTMLElement} root
   * @param {import("./context.js").PageContext} context
   * @param {import("../net/annotation-book.js").AnnotationBook} book
   */
  constructor(root, context, book) {
    this.#context = context;
    const end = async () => {
      await context.api.delete(this.#path);
      await Promise.all([book.refresh(), this.#read()]);
    };
    this.#bar.append(element("b", {}, "Blind pass"), this.#text, button("End the pass", () => void this.#ask(end), { class: "small" }));
    root.append(this.#bar);
    const read = () => void this.#ask(() => this.#read());
    learningOf(context).desk.replay.onRest(read);
    context.series.subscribe((now, before) => now.current?.id !== before.current?.id && read());
    context.settings.subscribe((now, before) => now.author !== before.author && read());
    read();
  }

  get #path() {
    return `/api/series/${this.#context.series.get().current?.id}/blind`;
  }

  async #read() {
    const { api, series, settings } = this.#context;
    const asked = (this.#asked += 1);
    const passes = /** @type {Pass[]} */ (series.get().current ? (await api.get(this.#path)).items : []);
    if (asked !== this.#asked) return;
    const open = passes.find(({ author, ended }) => author === settings.get().author && ended === null);
    this.#bar.hidden = !open;
    if (open) this.#text.textContent = HIDDEN[open.hides];
  }

  /** @param {() => Promise<unknown>} call */
  async #ask(call) {
    try {
      await call();
    } catch (error) {
      this.#context.toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
    }
  }
}
