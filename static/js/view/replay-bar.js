// Honest replay: the bar with its start, step, play and back. The server hides what comes after the cursor.

import { formatTime, formatShortTime, parseTime } from "../model/format.js";
import { dueSteps, SPEEDS, TICK_MS } from "../model/replay.js";
import { Zone } from "../model/zone.js";
import { ReplayDesk } from "../net/replay-desk.js";
import { button, element, field } from "./element.js";
import { learningOf } from "./learning.js";

/** @typedef {import("./context.js").PageContext} PageContext */

const ACTIONS = /** @type {Record<string, "toggle" | 1 | -1>} */ ({ replay: "toggle", "replay-step": 1, "replay-back": -1 });
const REFRESH_MS = 700;

/**
 * @typedef {object} ReplayParts
 * @property {import("./chart-view.js").ChartView} view
 * @property {import("../net/annotation-book.js").AnnotationBook} book
 * @property {import("./overview.js").Overview} overview
 */

/** The replay of the open series, as a bar over the chart. */
export class ReplayBar {
  #context;
  #parts;
  #desk;
  #bar = element("div", { class: "mode-bar replay-bar", role: "group", "aria-label": "Replay", hidden: true });
  #play = button("▶", () => this.#toggle(), { class: "icon", "aria-label": "Play", title: "Play or pause (Space)" });
  #speed = element("select", { "aria-label": "Candles a second", title: "Candles a second" }, ...SPEEDS.map((speed) => element("option", { value: speed }, `${speed}×`)));
  #time = element("span", { class: "number", "aria-live": "off" });
  #price = button("", () => void this.#ask(() => this.#desk.change({ hide_price: !this.#desk.state.get()?.hide_price })), { class: "small" });
  #isPlaying = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #refreshing;
  /** @type {number | null} the cursor up to which the chart is drawn */
  #drawn = null;

  /**
   * @param {HTMLElement} root
   * @param {PageContext} context
   * @param {ReplayParts} parts
   */
  constructor(root, context, parts) {
    this.#context = context;
    this.#parts = parts;
    this.#desk = new ReplayDesk(context.api, context.series);
    const { keyboard } = context;
    const back = button("◂", () => void this.#step(-1), { class: "icon", "aria-label": "One candle back", title: `Back (${keyboard.keyOf("replay-back")})` });
    const on = button("▸", () => void this.#step(1), { class: "icon", "aria-label": "One candle on", title: `Step (${keyboard.keyOf("replay-step")})` });
    const end = button("End replay", () => void this.end(), { class: "small" });
    this.#bar.append(element("b", {}, "Replay"), back, this.#play, on, this.#speed, this.#time, this.#price, end);
    root.append(this.#bar);
    keyboard.enter((action) => this.#take(action));
    for (const action of ["replay-step", "replay-back"]) keyboard.on(action, () => context.toast("Start a replay first"));
    this.#desk.state.subscribe(() => this.#draw());
    learningOf(context).desk.replay.onRest(() => void this.#ask(() => this.#desk.read()));
    context.series.subscribe((now, before) => now.current?.id !== before.current?.id && this.#opened());
    context.settings.subscribe((now, before) => {
      if (now.author !== before.author) this.#otherAuthor();
      if (now.zone !== before.zone) this.#draw();
    });
    this.#opened();
  }

  /** Ask where to start, or end the replay that is open. */
  openDialog() {
    if (this.#desk.state.get()) return void this.end();
    const { dialog, settings, toast } = this.#context;
    const bounds = this.#parts.view.bounds();
    if (!bounds) return toast("There are no candles to replay");
    const zone = new Zone(settings.get().zone);
    const { timeframe } = this.#parts.view.drawn();
    const visible = this.#parts.view.visible() ?? bounds;
    const input = element("input", { value: formatShortTime(Math.max(bounds.from, (visible.from + visible.to) / 2), zone, timeframe), autocomplete: "off", required: true });
    const opened = dialog.open({
      title: "Replay",
      body: [
        element("p", { class: "muted" }, "Candles, marks, indicators and predictions after the cursor are hidden by the server until you end the replay. Marks that you make now are stored as made in replay."),
        field("Start at", input, `${formatShortTime(bounds.from, zone, timeframe)} to ${formatShortTime(bounds.to, zone, timeframe)}, in ${zone.shortName(bounds.to)}`),
        element("div", { class: "row" }, button("At a random time, prices hidden", () => void this.#begin({ random: true, hide_price: true }).then((done) => done && opened.close()))),
      ],
      actions: [{ text: "Start", tone: "primary", run: () => this.#beginAt(input, zone) }],
    });
    input.select();
    void opened.closed.then(() => this.#desk.state.get() && this.#play.focus()); // not the button that would end it
  }

  /** Leave the replay; the chart shows everything again. */
  async end() {
    this.#pause();
    await this.#ask(() => this.#desk.end());
  }

  /**
   * @param {HTMLInputElement} input
   * @param {Zone} zone
   */
  #beginAt(input, zone) {
    const at = parseTime(input.value, zone);
    input.setCustomValidity(at === null ? "Write a time such as 2017-03-01 14:30" : "");
    return input.reportValidity() && at !== null ? this.#begin({ at }) : false;
  }

  /** @param {Parameters<ReplayDesk["begin"]>[0]} start */
  #begin(start) {
    return this.#ask(() => this.#desk.begin(start));
  }

  /** The chart goes from one author's cursor to the other's, or to none. */
  #otherAuthor() {
    this.#pause();
    void this.#ask(() => this.#desk.read());
  }

  /** A series came: is there a replay of it? */
  #opened() {
    this.#pause();
    this.#drawn = null;
    this.#desk.state.set(null);
    void this.#ask(() => this.#desk.read());
  }

  /** @param {string} action */
  #take(action) {
    const what = ACTIONS[action];
    if (!what || !this.#desk.state.get()) return false;
    if (what === "toggle") this.#toggle();
    else void this.#step(what);
    return true;
  }

  #toggle() {
    if (this.#isPlaying) return this.#pause();
    this.#isPlaying = true;
    this.#drawPlay();
    void this.#playOn();
  }

  #pause() {
    this.#isPlaying = false;
    this.#drawPlay();
  }

  /** Go on tick by tick; each waits for the server's answer, so that nothing piles up. */
  async #playOn() {
    let [before, left] = [performance.now(), 0];
    while (this.#isPlaying) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      const due = dueSteps(Number(this.#speed.value), performance.now() - before, left);
      [before, left] = [performance.now(), due.left];
      if (!this.#isPlaying || due.steps === 0) continue;
      if (!(await this.#step(due.steps)) || this.#desk.state.get()?.at_end) this.#pause();
    }
  }

  /** @param {number} step candles of the chosen timeframe */
  #step(step) {
    return this.#ask(() => this.#desk.change({ step, timeframe: this.#parts.view.timeframe }));
  }

  #draw() {
    const replay = this.#desk.state.get();
    this.#bar.hidden = replay === null;
    this.#parts.view.setPricesHidden(replay?.hide_price ?? false);
    if (replay) {
      const { timeframe } = this.#context.series.get().current ?? { timeframe: "1m" };
      this.#time.textContent = `${formatTime(replay.cursor, new Zone(this.#context.settings.get().zone), timeframe)} · ${replay.candles.toLocaleString("en-US")} candles${replay.at_end ? " · end" : ""}`;
      this.#price.textContent = replay.hide_price ? "Show prices" : "Hide prices";
    }
    this.#drawPlay();
    void this.#follow(replay?.cursor ?? null);
  }

  #drawPlay() {
    this.#play.textContent = this.#isPlaying ? "❚❚" : "▶";
    this.#play.setAttribute("aria-label", this.#isPlaying ? "Pause" : "Play");
  }

  /**
   * Bring the chart to the cursor: forward candle by candle, else by loading anew, so that nothing of before stays.
   * @param {number | null} cursor
   */
  async #follow(cursor) {
    const before = this.#drawn;
    if (cursor === before) return;
    this.#drawn = cursor;
    if (before === null || cursor === null || cursor < before) return this.#loadAnew(cursor);
    const candles = await this.#ask(() => this.#desk.candlesBetween(before, cursor));
    if (Array.isArray(candles)) for (const candle of candles) this.#parts.view.appendClosed(candle);
    else await this.#loadAnew(cursor);
    if ((this.#parts.view.visible()?.to ?? Infinity) < cursor) this.#parts.view.goToEnd();
    this.#refreshSoon();
  }

  /** @param {number | null} cursor */
  async #loadAnew(cursor) {
    const { view } = this.#parts;
    const shown = view.visible();
    view.forget();
    await this.#ask(() => this.#context.reloadSeries());
    const { current } = this.#context.series.get();
    if (current) view.open(current, view.timeframe, shown ?? undefined);
    const bounds = view.bounds();
    if (cursor !== null && shown && bounds && (shown.to > bounds.to || shown.to < bounds.from)) view.goToEnd();
    await this.#parts.book.refresh();
  }

  /** Marks and overview follow once the candles stand still for a moment. */
  #refreshSoon() {
    clearTimeout(this.#refreshing);
    this.#refreshing = setTimeout(() => {
      void this.#parts.book.refresh();
      void this.#parts.overview.open(this.#parts.view.series);
    }, REFRESH_MS);
  }

  /**
   * @template T
   * @param {() => Promise<T>} call
   * @returns {Promise<T | true | false>} false where it failed, which is said
   */
  async #ask(call) {
    try {
      return (await call()) ?? true;
    } catch (error) {
      this.#context.toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
      return false;
    }
  }
}
