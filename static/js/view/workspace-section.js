// The whole workspace as one file: out with this browser's views, and in beside what is here.

import { viewsIn, viewsOut } from "../model/views.js";
import { button, element } from "./element.js";
import { TaskRow } from "./task-row.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {{id: number, symbol: string, timeframe: string, known: boolean, new: number}} TakenSeries */
/** @typedef {{series: TakenSeries[], conflicts: {what: string, name: string, why?: string}[], runs: number, views: unknown}} WorkspaceReport */

/** The section of the Data panel; `root` is its element. */
export class WorkspaceSection {
  root = element("section", { class: "stack", "aria-label": "Workspace" });
  #context;
  #file = element("input", { type: "file", class: "visually-hidden", accept: ".zip", "aria-label": "File of a workspace" });
  #task;
  #runs = element("input", { type: "checkbox", id: "workspace-runs" });

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
    this.#task = new TaskRow(context);
    this.#file.addEventListener("change", () => void this.#take(this.#file.files?.[0]));
    const words = "Every series with its candles, annotations and label sets. A dataset's zip can be imported too.";
    this.root.append(
      element("h2", {}, "Workspace"),
      element("div", { class: "row" }, button("Export workspace", () => void this.#save()), button("Import workspace", () => this.#file.click()), this.#file),
      element("label", { class: "row", for: this.#runs.id }, this.#runs, "With runs and their events"),
      element("small", { class: "muted" }, words),
      this.#task.root,
    );
  }

  async #save() {
    const views = viewsOut(this.#context.settings.get(), this.#context.series.get().items);
    try {
      await this.#task.export("/api/workspace/exports", { views, runs: this.#runs.checked });
    } catch (error) {
      this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  }

  /** @param {File | undefined} file */
  async #take(file) {
    this.#file.value = "";
    if (file === undefined) return;
    const body = new FormData();
    body.append("file", file);
    try {
      const { import: begun } = await this.#context.api.post("/api/workspace/imports", undefined, { body });
      const ended = await this.#task.follow("/api/workspace/imports", "import", begun);
      if (ended.state === "cancelled") return;
      const report = /** @type {WorkspaceReport} */ (ended.report);
      this.#context.settings.update((now) => viewsIn(now, report.views, report.series));
      await this.#context.reloadSeries();
      this.#show(file.name, report);
    } catch (error) {
      this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  }

  /**
   * @param {string} name
   * @param {WorkspaceReport} report
   */
  #show(name, { series, conflicts, runs }) {
    const taken = series.map((each) => `${each.symbol} ${each.timeframe}: ${each.known ? "known" : "new"}, ${each.new} annotations came`);
    const listed = conflicts.map((each) => `${each.name}: ${each.why ?? "a stored annotation differs and stays"}`);
    const list = (/** @type {string} */ title, /** @type {string[]} */ lines) => [element("h3", {}, title), element("ul", { "aria-label": title }, ...lines.map((line) => element("li", {}, line)))];
    const body = [...list("Series", taken), ...(listed.length > 0 ? list("In conflict", listed) : []), element("p", {}, `${runs} runs came.`)];
    this.#context.dialog.open({ title: `${name} is imported`, body, cancel: "Close", wide: true });
  }
}
