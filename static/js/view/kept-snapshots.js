// The kept snapshots of a live run: which there are, their room, and the way back to one: "forget since".

import { formatShortTime } from "../model/format.js";
import { megabytes } from "../model/format-metrics.js";
import { hasEnded } from "../model/run.js";
import { Zone } from "../model/zone.js";
import { button, element, fill } from "./element.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {{number: number, step: number, data_cut: number | null, created: number, bytes: number}} Kept */

const REFRESH_MS = 5000;

/** A folded section of the Train panel; while it is open it keeps itself up to date. */
export class KeptSnapshots {
  root = element("details", { class: "kept-snapshots" });
  #context;
  #desk;
  #runId;
  #since = element("input", { type: "datetime-local", step: 1, "aria-label": "Forget since (UTC)" });
  #body = element("div", { class: "stack" });
  #shown = "";

  /**
   * @param {PageContext} context
   * @param {import("../net/run-desk.js").RunDesk} desk
   * @param {number} runId
   */
  constructor(context, desk, runId) {
    this.#context = context;
    this.#desk = desk;
    this.#runId = runId;
    const forget = button("Forget since …", () => void this.#forgetSince(), { class: "small" });
    this.root.append(
      element("summary", {}, "Snapshots to go back to"),
      element("div", { class: "row" }, this.#since, forget),
      element(
        "small",
        { class: "muted" },
        "UTC. Goes back to the newest snapshot that had learnt nothing from then on, and learns none of those candles again.",
      ),
      this.#body,
    );
    this.root.addEventListener("toggle", () => void this.#refresh());
  }

  async #refresh() {
    if (!this.root.open || !this.root.isConnected) return;
    try {
      this.#paint(await this.#context.api.get(`/api/runs/${this.#runId}/snapshots`));
    } catch (error) {
      this.#shown = "";
      fill(this.#body, element("p", { class: "refused" }, /** @type {Error} */ (error).message));
    }
    setTimeout(() => void this.#refresh(), REFRESH_MS);
  }

  /** @param {{items: Kept[], bytes: number, most_bytes: number}} kept */
  #paint(kept) {
    const isLive = !hasEnded(this.#desk.runs.get().find((run) => run.id === this.#runId)?.state ?? "");
    const shown = JSON.stringify([kept, isLive]);
    if (shown === this.#shown) return; // a button under the pointer stays the same
    this.#shown = shown;
    const room = `${kept.items.length} kept, ${megabytes(kept.bytes)} of at most ${megabytes(kept.most_bytes)}: the newest 20, one an hour of the last day, one a day before that`;
    const rows = kept.items.map((each) => this.#row(each, isLive));
    const head = ["Snapshot", "Learnt up to", ""].map((title) => element("th", { scope: "col" }, title));
    fill(
      this.#body,
      element("p", { class: "muted number" }, room),
      rows.length > 0 &&
        element(
          "table",
          { class: "figures" },
          element("thead", {}, element("tr", {}, ...head)),
          element("tbody", {}, ...rows),
        ),
    );
  }

  /**
   * @param {Kept} kept
   * @param {boolean} isLive
   */
  #row(kept, isLive) {
    const back = button("Go back", () => void this.#forget({ snapshot: kept.number }, `snapshot ${kept.number}`), {
      class: "quiet small",
      title: "Forgets every candle that was learnt after this snapshot",
    });
    return element(
      "tr",
      {},
      element("td", {}, kept.number === 1 ? "1, the start" : String(kept.number)),
      element("td", {}, kept.data_cut === null ? "nothing yet" : this.#time(kept.data_cut)),
      element("td", {}, isLive && back),
    );
  }

  async #forgetSince() {
    const since = Date.parse(`${this.#since.value}Z`);
    if (Number.isNaN(since)) this.#context.toast("Say since when: a date and a time, UTC.", { tone: "danger" });
    else await this.#forget({ since }, `what it was before ${this.#time(since)}`);
  }

  /**
   * @param {{since: number} | {snapshot: number}} what
   * @param {string} words
   */
  async #forget(what, words) {
    const text = `The live run goes back to ${words}. What it learnt later is gone for good; every score that was given stays.`;
    if (!(await this.#context.dialog.confirm("Forget what was learnt since", text, "Forget"))) return;
    try {
      const { snapshot } = await this.#context.api.post(`/api/runs/${this.#runId}/forget`, what);
      this.#context.toast(`It goes on from snapshot ${snapshot.number}.`, { tone: "ok" });
    } catch (error) {
      this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  }

  /** @param {number} time */
  #time(time) {
    const timeframe = this.#context.series.get().current?.timeframe ?? "1m";
    return formatShortTime(time, new Zone(this.#context.settings.get().zone), timeframe);
  }
}
