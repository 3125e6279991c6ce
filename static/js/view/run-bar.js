// The bar at the bottom: pick a model, load it, train, go live, stop; what runs, what waits, and how it goes.

import { withKind } from "../model/feed.js";
import { button, element, fill } from "./element.js";
import { learningOf } from "./learning.js";
import { RunLines } from "./run-lines.js";
import { setText } from "./set-text.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/run.js").Run} Run */

const SPEEDS = [1, 10, 60, "max"];
const LIVE_TITLE = "Live Inference + Per-Candle Training";
const FORCE_AFTER_MS = 10_000;

/**
 * Fill the run bar.
 * @param {HTMLElement} root
 * @param {PageContext} context
 */
export function mountRunBar(root, context) {
  new RunBar(root, context);
}

class RunBar {
  #context;
  #desk;
  #settings;
  #model = element("select", { id: "model", "aria-label": "Model", title: "Which network to load, train or run live" });
  #speed = element(
    "select",
    { id: "speed", "aria-label": "Replay speed", title: "Candles a second for the next live run; max: as fast as it learns" },
    ...SPEEDS.map((speed) => element("option", { value: speed }, speed === "max" ? "max" : `${speed}×`)),
  );
  #load = button("Load", () => void this.#ask(() => this.#desk.load(this.#settings.modelConfig())), { id: "load-model" });
  #batch = button("Start batch training", () => void this.#ask(() => this.#start("batch")), {
    id: "start-batch",
    class: "primary",
  });
  #live = button("Start live training", () => void this.#ask(() => this.#start("live"), "live"), {
    id: "start-live",
    class: "primary",
    title: LIVE_TITLE,
  });
  #controls = { batch: this.#runControls("batch"), live: this.#runControls("live") };
  #idleStop = button("Stop", () => undefined, { disabled: true, title: "Nothing runs" });
  #bar = element("div", {
    class: "run-progress",
    role: "progressbar",
    "aria-label": "Progress of the batch run",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  #lines;
  /** @type {Map<number, number>} run → when its stop was asked for, ms */
  #stopping = new Map();
  #link = element("span", { class: "badge", id: "link-state" });

  /**
   * @param {HTMLElement} root
   * @param {PageContext} context
   */
  constructor(root, context) {
    const { desk, settings } = learningOf(context);
    this.#context = context;
    this.#desk = desk;
    this.#settings = settings;
    this.#model.addEventListener("change", () => settings.set("model", "model", this.#model.value));
    this.#speed.addEventListener("change", () => this.#setSpeed());
    this.#lines = new RunLines(context);
    root.append(this.#bar, this.#controlRow(), ...this.#lines.roots);
    settings.onChange(() => desk.repaint());
    desk.onPaint(() => this.#paint());
    context.keyboard.on("replay", () => void this.#ask(() => this.#pauseOrResume(desk.active("live") ? "live" : "batch")));
    setInterval(() => desk.active("live") && desk.repaint(), 1000); // the snapshot's age
  }

  #controlRow() {
    return element(
      "div",
      { class: "run-controls" },
      element("label", { class: "muted", for: "model" }, "Model"),
      this.#model,
      this.#load,
      this.#batch,
      element("span", { class: "joined" }, this.#live, this.#speed),
      this.#controls.batch.root,
      this.#controls.live.root,
      this.#idleStop,
      this.#link,
    );
  }

  #setSpeed() {
    const speed = this.#speed.value === "max" ? "max" : Number(this.#speed.value);
    const feed = /** @type {import("../model/feed.js").Feed} */ (this.#settings.get("live", "feed"));
    this.#settings.set("live", "feed", { ...withKind(feed, "replay"), speed });
  }

  /** @param {"batch" | "live"} mode */
  #runControls(mode) {
    const pause = button("Pause", () => void this.#ask(() => this.#pauseOrResume(mode)));
    const stop = button("Stop", () => void this.#ask(() => this.#command(mode, "stop")));
    return {
      root: element(
        "span",
        { class: "joined", role: "group", "aria-label": mode === "batch" ? "Batch run" : "Live run", hidden: true },
        pause,
        stop,
      ),
      pause,
      stop,
    };
  }

  /** @param {"batch" | "live"} mode */
  #pauseOrResume(mode) {
    return this.#command(mode, this.#desk.active(mode)?.state === "paused" ? "resume" : "pause");
  }

  /**
   * @param {"batch" | "live"} mode
   * @param {"stop" | "pause" | "resume"} action
   */
  async #command(mode, action) {
    const run = this.#desk.active(mode);
    if (run !== undefined) await this.#desk.command(run.id, action);
  }

  /** @param {"batch" | "live"} mode */
  #start(mode) {
    return this.#desk.begin(mode, mode === "batch" ? this.#settings.batchConfig() : this.#settings.liveConfig());
  }

  /**
   * Ask the server; a refused value is shown at its field, everything else as a message that stays.
   * @param {() => Promise<unknown>} call
   * @param {"batch" | "live"} [mode]
   */
  async #ask(call, mode) {
    try {
      this.#settings.refuse(null);
      await call();
    } catch (error) {
      if (this.#settings.refuse(/** @type {Error} */ (error), mode)) this.#context.tabs.show("train");
      else this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  }

  #paint() {
    this.#paintModels();
    this.#paintControls();
    this.#lines.paint();
    this.#paintProgress();
    this.#paintLink();
    document.title = this.#title();
  }

  #paintModels() {
    const choices = this.#desk.catalogue.get()?.items ?? [];
    if (this.#model.options.length !== choices.length)
      fill(this.#model, ...choices.map(({ name, title }) => element("option", { value: name }, title)));
    const picked = this.#settings.get("model", "model");
    if (picked !== undefined) this.#model.value = String(picked);
    setText(this.#load, `Load ${this.#model.selectedOptions[0]?.textContent ?? "model"}`);
    const feed = /** @type {import("../model/feed.js").Feed | undefined} */ (this.#settings.get("live", "feed"));
    this.#speed.value = String(feed?.speed ?? 1);
    this.#speed.hidden = (feed?.kind ?? "replay") !== "replay";
  }

  #paintControls() {
    const ready = this.#desk.catalogue.get() !== null && this.#desk.seriesId !== null;
    const active = { batch: this.#desk.active("batch"), live: this.#desk.active("live") };
    const both = active.batch !== undefined && active.live !== undefined;
    this.#load.disabled = !ready || this.#desk.active("load") !== undefined;
    this.#batch.disabled = !ready;
    this.#live.disabled = !ready || active.live !== undefined;
    this.#idleStop.hidden = active.batch !== undefined || active.live !== undefined;
    for (const mode of /** @type {const} */ (["batch", "live"])) this.#paintRunControls(mode, active[mode], both);
  }

  /**
   * @param {"batch" | "live"} mode
   * @param {Run | undefined} run
   * @param {boolean} named
   */
  #paintRunControls(mode, run, named) {
    const { root, pause, stop } = this.#controls[mode];
    root.hidden = run === undefined;
    if (run === undefined) return;
    const suffix = named ? ` ${mode}` : "";
    setText(pause, (run.state === "paused" ? "Resume" : "Pause") + suffix);
    pause.disabled = run.state !== "running" && run.state !== "paused";
    const isForced = this.#mayForce(run);
    setText(stop, (isForced ? "Force stop" : run.state === "stopping" ? "Stopping …" : "Stop") + suffix);
    stop.disabled = run.state === "stopping" && !isForced;
  }

  /**
   * A second stop, after a while, ends the process that did not react to the first.
   * @param {Run} run
   */
  #mayForce(run) {
    if (run.state !== "stopping") return false;
    const since = this.#stopping.get(run.id) ?? Date.now();
    this.#stopping.set(run.id, since);
    return Date.now() - since > FORCE_AFTER_MS;
  }

  #title() {
    const { current } = this.#context.series.get();
    const parts = [this.#desk.active("live") && LIVE_TITLE, current && `${current.symbol} ${current.timeframe}`, "Annotate"];
    return parts.filter(Boolean).join(" · ");
  }

  #paintProgress() {
    const run = this.#desk.active("batch");
    const share = run === undefined ? 0 : (this.#desk.progressOf(run.id)?.share ?? 0);
    this.#bar.style.setProperty("--share", String(share));
    this.#bar.setAttribute("aria-valuenow", String(Math.round(share * 100)));
    this.#bar.hidden = run === undefined;
  }

  #paintLink() {
    const words = { live: "● connected", connecting: "connecting …", reconnecting: "reconnecting …", refused: "signed out" }[
      this.#desk.linkState
    ];
    setText(this.#link, words);
    this.#link.className = `badge link ${this.#desk.linkState === "live" ? "ok" : "warning"}`;
    this.#link.title =
      this.#desk.linkState === "live"
        ? "New events arrive as they happen"
        : "Nothing is lost: what is missed now is fetched afterwards";
  }
}
