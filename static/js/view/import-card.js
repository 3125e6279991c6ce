// What becomes of one file, in the Data panel: sent, read, asked about, stored or refused.

import { placeOf } from "../model/questions.js";
import { flaggedMarks, resultLines } from "../model/import-result.js";
import { button, element, fill } from "./element.js";
import { showReport } from "./report-dialog.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../net/api.js").ApiError} ApiError */
/** @typedef {import("../model/import-result.js").Made} Made */

/** The card of one file; `root` is its list item. */
export class ImportCard {
  root = element("li", { class: "import-card" });
  #context;
  #name;
  #onClose;

  /**
   * @param {PageContext} context
   * @param {string} name of the file
   * @param {() => void} onClose a person wants it gone
   */
  constructor(context, name, onClose) {
    this.#context = context;
    this.#name = name;
    this.#onClose = onClose;
    fill(this.root, element("p", { class: "muted" }, `${name} waits for the file before it.`));
  }

  /**
   * Show how far it is.
   * @param {string} doing such as `Sending`
   * @param {() => void} onCancel
   * @returns {(share: number) => void}
   */
  progress(doing, onCancel) {
    const bar = element("progress", { max: 1, "aria-label": `${doing} ${this.#name}` }); // moves to and fro until a share is known
    const share = element("span", { class: "number muted" });
    const cancel = button("Cancel", onCancel, { class: "small", "aria-label": `Cancel ${this.#name}` });
    fill(this.root, element("p", {}, `${doing} ${this.#name} …`), element("div", { class: "row" }, bar, share, cancel));
    return (done) => {
      bar.value = done;
      share.textContent = `${Math.floor(done * 100)}%`;
    };
  }

  /**
   * Show that it was not imported and may still be.
   * @param {() => void} onLook
   */
  waits(onLook) {
    fill(
      this.root,
      element("p", {}, `${this.#name} is not imported.`),
      element("div", { class: "row" }, button("Look at it again", onLook, { class: "small" }), this.#close()),
    );
  }

  /** Show that it was called off. */
  cancelled() {
    fill(this.root, this.#close("corner"), element("p", { class: "muted" }, `${this.#name} was called off; nothing is stored.`));
  }

  /**
   * Show what came of it.
   * @param {Made[]} items one a series
   */
  finished(items) {
    fill(this.root, this.#close("corner"), ...items.flatMap((made) => this.#made(made)));
    this.#bringIntoView();
  }

  /**
   * Show why it cannot be taken.
   * @param {ApiError} error
   * @param {(() => void) | null} onLook looks at how it was read, where that is possible
   */
  refused(error, onLook) {
    const place = placeOf(error);
    fill(
      this.root,
      element(
        "div",
        { class: "card danger", role: "alert" },
        this.#close("corner"),
        element("h2", {}, `${this.#name} was not stored`),
        element("p", {}, error.message),
        place !== "" && element("p", { class: "place" }, place),
        onLook && button("Look at how it is read", onLook, { class: "small" }),
      ),
    );
    this.#bringIntoView();
  }

  /** On a narrow page the panel lies below the chart, and its cards below the fold. */
  #bringIntoView() {
    this.root.scrollIntoView({ block: "nearest" });
  }

  /** @param {Made} made */
  #made(made) {
    const { series, report } = made;
    const title = `${this.#name} is ${series.symbol} ${series.timeframe}`;
    const [head, ...rest] = resultLines(made);
    const marks = flaggedMarks(report).map((mark) => element("li", {}, this.#markButton(series.id, mark), ` ${mark.why}`));
    return [
      element("p", {}, `${title}. ${head.text}`),
      rest.length > 0 && element("ul", { class: "notes" }, ...rest.map(({ text, isWarning }) => element("li", { class: isWarning ? "warning" : "" }, text))),
      marks.length > 0 && element("div", {}, element("p", { class: "warning" }, "Annotations to look at:"), element("ul", { class: "notes", "aria-label": "Annotations to look at" }, ...marks)),
      element(
        "div",
        { class: "row" },
        button("Show the report", () => showReport(this.#context.dialog, title, report), { class: "small" }),
        button("Open", () => this.#context.openSeries(series.id), { class: "small", "aria-label": `Open ${series.symbol} ${series.timeframe}` }),
      ),
    ];
  }

  /**
   * @param {number} seriesId
   * @param {import("../model/import-result.js").FlaggedMark} mark
   */
  #markButton(seriesId, { kind, label, start }) {
    const show = () => {
      if (this.#context.series.get().current?.id !== seriesId) this.#context.openSeries(seriesId);
      this.#context.chart.goTo(start);
    };
    const when = new Date(start).toISOString().slice(0, 16).replace("T", " ");
    return button(`${label} (${kind}) at ${when} UTC`, show, { class: "link-button" });
  }

  #close(extra = "") {
    return button("×", () => this.#onClose(), { class: `quiet icon ${extra}`, "aria-label": `Put ${this.#name} away` });
  }
}
