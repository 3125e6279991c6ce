// The part of the train form that says where a live run's candles come from.

import { FEED_KINDS, withKind } from "../model/feed.js";
import { element } from "./element.js";

/** @typedef {import("../model/feed.js").Feed} Feed */
/** @typedef {import("../model/train-settings.js").TrainSettings} TrainSettings */

const REPLAY_START = "First candle of the replay. Empty: where the model's own data ends, so that every score is on unseen candles.";

/** Kind of feed, and the fields of that kind. */
export class FeedForm {
  #kind = element("select", { id: "train-live-feed" }, ...FEED_KINDS.map(({ kind, title }) => element("option", { value: kind }, title)));
  #meaning = element("small", { class: "muted" });
  #refused = element("p", { class: "refused", role: "alert", hidden: true });
  #from = element("input", { id: "train-live-from", type: "datetime-local", step: 1 });
  #exchange = element("select", { id: "train-live-exchange" });
  #symbol = element("input", { id: "train-live-symbol", type: "text", maxlength: 50, autocomplete: "off", placeholder: "as the series" });
  #rows;
  #settings;

  /** @param {TrainSettings} settings */
  constructor(settings) {
    this.#settings = settings;
    this.#kind.addEventListener("change", () => this.#set(withKind(this.#feed, this.#kind.value)));
    this.#from.addEventListener("change", () =>
      this.#set({ ...this.#feed, from: this.#from.value === "" ? null : Date.parse(`${this.#from.value}Z`) }),
    );
    this.#exchange.addEventListener("change", () => this.#set({ ...this.#feed, exchange: this.#exchange.value }));
    this.#symbol.addEventListener("change", () => this.#set({ ...this.#feed, symbol: this.#symbol.value.trim() || null }));
    this.#rows = {
      replay: [row("Start at (UTC)", this.#from, REPLAY_START)],
      exchange: [row("Exchange", this.#exchange), row("Symbol there", this.#symbol, "Such as BTC/USDT.")],
    };
    const kind = row("Candles come from", this.#kind);
    kind.append(this.#meaning, this.#refused);
    this.root = element("div", { class: "stack" }, kind, ...this.#rows.replay, ...this.#rows.exchange);
  }

  /** Follow the settings. */
  show() {
    const feed = this.#feed;
    const names = Object.entries(this.#settings.exchanges);
    if (this.#exchange.options.length !== names.length)
      this.#exchange.replaceChildren(...names.map(([name, title]) => element("option", { value: name }, title)));
    this.#kind.value = feed.kind;
    this.#meaning.textContent = FEED_KINDS.find(({ kind }) => kind === feed.kind)?.meaning ?? "";
    for (const [kind, rows] of Object.entries(this.#rows)) for (const each of rows) each.hidden = kind !== feed.kind;
    this.#exchange.value = feed.exchange ?? "";
    if (document.activeElement !== this.#symbol) this.#symbol.value = feed.symbol ?? "";
    if (document.activeElement !== this.#from) this.#from.value = timeText(feed.from ?? null);
    const { refusal } = this.#settings;
    const mine = refusal?.field === "feed" ? refusal : null;
    this.#refused.hidden = mine === null;
    this.#refused.textContent = mine?.message ?? "";
    const folded = mine === null ? null : this.root.closest("details");
    if (folded) folded.open = true;
  }

  get #feed() {
    return /** @type {Feed} */ (this.#settings.get("live", "feed") ?? { kind: "replay" });
  }

  /** @param {Feed} feed */
  #set(feed) {
    this.#settings.set("live", "feed", feed);
  }
}

/**
 * @param {string} title
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
function row(title, control, hint) {
  const label = element("label", { for: control.id }, title);
  return element("div", { class: "train-field wide" }, label, control, hint && element("small", { class: "muted" }, hint));
}

/** @param {number | null} time */
function timeText(time) {
  return time === null ? "" : new Date(time).toISOString().slice(0, 19);
}
