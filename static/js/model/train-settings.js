// What a person set for training: kept in this browser, given as the config of each kind of run. Pure; no DOM.

import { chosen, refusalOf } from "./config.js";

/** @typedef {import("./config.js").Field} Field */
/** @typedef {"model" | "batch" | "live"} Group model: what every run takes; batch and live: what only they take */
/** @typedef {{load: Field[], batch: Field[], live: Field[]}} FieldsByMode */
/** @typedef {{group: Group, field: string, message: string}} Refusal */
/** @typedef {import("./settings.js").TextStorage} TextStorage */

const KEY = "annotate.training";

/** Values by group and field; a field that nobody touched has the server's default. */
export class TrainSettings {
  /** @type {Record<string, unknown>} `group.field` → value */
  #values;
  /** @type {FieldsByMode} */
  #fields = { load: [], batch: [], live: [] };
  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** @type {Refusal | null} */
  #refusal = null;
  /** @type {Record<string, string>} */
  exchanges = {};
  #storage;

  /** @param {TextStorage} storage */
  constructor(storage) {
    this.#storage = storage;
    this.#values = readValues(storage);
  }

  /** @returns {Refusal | null} the value that the server refused last */
  get refusal() {
    return this.#refusal;
  }

  /**
   * @param {FieldsByMode} fields the server's tables
   * @param {Record<string, string>} [exchanges] that a live run may follow: name → title
   */
  describe(fields, exchanges = {}) {
    this.#fields = fields;
    this.exchanges = exchanges;
    this.#changed();
  }

  /**
   * List the fields of a group, in the server's order.
   * @param {Group} group
   * @returns {Field[]}
   */
  fieldsOf(group) {
    if (group === "model") return this.#fields.load;
    const shared = new Set(this.#fields.load.map((field) => field.name));
    return this.#fields[group].filter((field) => !shared.has(field.name));
  }

  /**
   * Give a value, or the server's default.
   * @param {Group} group
   * @param {string} name
   * @returns {unknown} undefined for a field that the server does not have
   */
  get(group, name) {
    const key = `${group}.${name}`;
    return key in this.#values ? this.#values[key] : this.fieldsOf(group).find((field) => field.name === name)?.default;
  }

  /**
   * Set a value and keep it; its refusal, if any, is over.
   * @param {Group} group
   * @param {string} name
   * @param {unknown} value
   */
  set(group, name, value) {
    this.#values[`${group}.${name}`] = value;
    if (this.#refusal?.field === name && this.#refusal.group === group) this.#refusal = null;
    this.#changed();
  }

  /** Go back to the server's defaults, but keep the model. */
  reset() {
    const model = this.#values["model.model"];
    this.#values = model === undefined ? {} : { "model.model": model };
    this.#refusal = null;
    this.#changed();
  }

  /** @returns {boolean} whether anything differs from the defaults */
  get isTouched() {
    return (
      Object.keys(this.#sent("model")).length > 1 ||
      ["batch", "live"].some((group) => Object.keys(this.#sent(/** @type {Group} */ (group))).length > 0)
    );
  }

  /** @returns {Record<string, unknown>} what a load takes */
  modelConfig() {
    return this.#sent("model");
  }

  /** @returns {Record<string, unknown>} what a batch run takes */
  batchConfig() {
    return { ...this.#sent("model"), ...this.#sent("batch") };
  }

  /** @returns {Record<string, unknown>} what a live run takes, its feed included */
  liveConfig() {
    return { ...this.#sent("model"), ...this.#sent("live"), feed: this.get("live", "feed") };
  }

  /**
   * Keep the server's refusal of a value, or forget the last one.
   * @param {{message: string, details?: Record<string, unknown>} | null} error
   * @param {"batch" | "live"} [mode] the run that was asked for
   * @returns {boolean} whether it is about a field of the form
   */
  refuse(error, mode = "batch") {
    const { field, message } = error === null ? { field: null, message: "" } : refusalOf(error);
    const groups = /** @type {Group[]} */ (["model", mode]);
    const group = groups.find((each) => this.fieldsOf(each).some((known) => known.name === field));
    this.#refusal = group === undefined || field === null ? null : { group, field, message };
    this.#changed();
    return this.#refusal !== null;
  }

  /** @param {() => void} watcher */
  onChange(watcher) {
    this.#watchers.add(watcher);
  }

  /**
   * @param {Group} group
   * @returns {Record<string, unknown>}
   */
  #sent(group) {
    const fields = this.fieldsOf(group);
    const values = Object.fromEntries(fields.map((field) => [field.name, this.get(group, field.name)]));
    const differing = chosen(fields, values);
    return group === "model" ? { model: values["model"], ...differing } : differing;
  }

  #changed() {
    this.#storage.setItem(KEY, JSON.stringify(this.#values));
    for (const watcher of this.#watchers) watcher();
  }
}

/**
 * @param {TextStorage} storage
 * @returns {Record<string, unknown>}
 */
function readValues(storage) {
  try {
    const values = JSON.parse(storage.getItem(KEY) ?? "{}");
    return values !== null && typeof values === "object" && !Array.isArray(values) ? values : {};
  } catch {
    return {};
  }
}
