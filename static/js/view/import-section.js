// Candle files into the product: picked or dropped anywhere on the page, read one after another, asked about where in doubt.

import { ApiError, isAborted } from "../net/api.js";
import { commitAndFollow, sendFile } from "../net/import-calls.js";
import { button, element, field } from "./element.js";
import { ImportCard } from "./import-card.js";
import { lookAt } from "./import-dialog.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("./import-dialog.js").Choices} Choices */
/** @typedef {import("../net/import-calls.js").Held} Held */

const ACCEPT = ".csv,.tsv,.txt,.prn,.asc,.gz,.zip,.json,.jsonl,.ndjson,.parquet,.feather,.arrow,text/csv,application/json";
const MOST_CARDS = 12;

/** The section of the Data panel; `root` is its element. */
export class ImportSection {
  root = element("section", { class: "stack upload", "aria-label": "Upload candles" });
  #context;
  #symbol = element("input", { type: "text", id: "upload-symbol", name: "symbol", placeholder: "ETH/USDT", autocomplete: "off", maxlength: 100 });
  #look = element("input", { type: "checkbox", id: "upload-look" });
  #file = element("input", { type: "file", id: "upload-file", class: "visually-hidden", multiple: true, accept: ACCEPT, "aria-label": "File of candles" });
  #cards = element("ul", { class: "import-cards", "aria-label": "Imports", "aria-live": "polite" });
  #drop = element("div", { class: "drop" });
  /** @type {Promise<void>} files are imported one after another */
  #queue = Promise.resolve();

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
    const choose = button("Choose files", () => this.#file.click(), { class: "primary" });
    this.#drop.append(choose, element("span", { class: "muted" }, "or drop them anywhere on the page"), this.#file);
    this.#file.addEventListener("change", () => this.takeAll(this.#file.files ?? []));
    this.root.append(
      element("h2", {}, "Upload candles"),
      this.#drop,
      element("small", { class: "muted" }, "CSV, TSV, JSON, Parquet, Feather, also in gzip or zip, as exchanges, brokers and charting sites write them."),
      field("Symbol", this.#symbol, "Empty: as the file or its name says."),
      element("label", { class: "row", for: this.#look.id }, this.#look, "Show me how it is read before it is imported"),
      this.#cards,
    );
  }

  /**
   * Import files one after another.
   * @param {Iterable<File>} files
   */
  takeAll(files) {
    const symbol = this.#symbol.value.trim();
    /** @type {Choices} */
    const choices = { answers: symbol === "" ? {} : { symbol }, series_id: null };
    for (const file of files) {
      const job = new ImportJob(this.#context, file, choices, this.#look.checked);
      this.#cards.prepend(job.card.root);
      this.#queue = this.#queue.then(() => job.run());
    }
    while (this.#cards.children.length > MOST_CARDS) this.#cards.lastElementChild?.remove();
    this.#symbol.value = "";
    this.#file.value = "";
  }
}

/** One file on its way. */
class ImportJob {
  card;
  #context;
  #file;
  #choices;
  #looksFirst;
  /** @type {Held | null} */
  #held = null;
  #ended = false;

  /**
   * @param {PageContext} context
   * @param {File} file
   * @param {Choices} choices
   * @param {boolean} looksFirst
   */
  constructor(context, file, choices, looksFirst) {
    this.#context = context;
    this.#file = file;
    this.#choices = choices;
    this.#looksFirst = looksFirst;
    this.card = new ImportCard(context, file.name, () => this.#putAway());
  }

  /** Send it and import it; never rejects. */
  async run() {
    try {
      const calling = new AbortController();
      const onSent = this.card.progress("Sending", () => calling.abort());
      this.#held = await sendFile(this.#file, onSent, calling.signal);
      if (this.#looksFirst) await this.#look();
      else await this.#import();
    } catch (error) {
      this.#stopped(/** @type {ApiError} */ (error));
    }
  }

  /** @param {ApiError} error */
  #stopped(error) {
    if (isAborted(error)) this.card.cancelled();
    else this.card.refused(error, null);
  }

  async #look() {
    if (this.#held === null) return;
    this.card.progress("Reading", () => void this.#cancel());
    const { choices, isAccepted } = await lookAt(this.#context, this.#held, this.#choices);
    this.#choices = choices;
    if (isAccepted) await this.#import();
    else this.card.waits(() => void this.#look().catch((error) => this.#stopped(error)));
  }

  async #import() {
    if (this.#held === null) return;
    const onImported = this.card.progress("Importing", () => void this.#cancel());
    const held = await commitAndFollow(this.#context.api, this.#held.id, this.#choices, onImported);
    if (held.state === "finished") await this.#finished(held);
    else if (held.state === "cancelled") this.card.cancelled();
    else await this.#failed(held);
  }

  /** @param {Held} held */
  async #finished(held) {
    this.#ended = true;
    this.card.finished(held.items);
    const { id } = held.items[0].series;
    await this.#context.reloadSeries();
    if (this.#context.series.get().current?.id !== id) this.#context.openSeries(id);
  }

  /** @param {Held} held */
  async #failed({ error }) {
    if (error?.code === "needs_answer") return this.#look();
    const refusal = new ApiError(422, error?.code ?? "failed", error?.message ?? "the import failed", error?.details);
    const again = () => void this.#look().catch((reason) => this.#stopped(reason));
    // Without answers the look would only meet the same refusal.
    this.card.refused(refusal, Object.keys(this.#choices.answers).length === 0 ? null : again);
  }

  async #cancel() {
    if (this.#held !== null) await this.#context.api.delete(`/api/uploads/${this.#held.id}`).catch(() => undefined);
  }

  #putAway() {
    this.card.root.remove();
    if (!this.#ended) void this.#cancel();
  }
}
