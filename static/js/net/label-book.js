// The label set of the open series: loaded, stored whole, told to everybody who watches.

import { createStore } from "../model/store.js";

/** @typedef {import("../model/label-set.js").LabelSet} LabelSet */
/** @typedef {import("../model/label-set.js").Label} Label */

/** Holds one label set at a time. */
export class LabelBook {
  #api;
  #opened = 0;

  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.#api = api;
    this.set = createStore(/** @type {LabelSet | null} */ (null));
    this.error = createStore(/** @type {unknown} */ (null));
  }

  /** @param {number | null} id */
  async open(id) {
    this.#opened += 1;
    const opened = this.#opened;
    this.error.set(null);
    if (id === null) return this.set.set(null);
    try {
      const set = await this.#api.get(`/api/label-sets/${id}`);
      if (opened === this.#opened) this.set.set(set);
    } catch (error) {
      if (opened === this.#opened) this.error.set(error);
    }
  }

  /**
   * Store the labels as the next revision of the set.
   * @param {LabelSet} set the one that was changed
   * @param {Label[]} labels
   * @param {string[]} exclusive layers in which a candle has one class
   */
  async save(set, labels, exclusive) {
    const { id, name, revision } = set;
    this.set.set(await this.#api.put(`/api/label-sets/${id}`, { name, revision, labels, exclusive }));
  }

  /**
   * Take a set that someone else stored.
   * @param {LabelSet} set
   */
  accept(set) {
    const now = this.set.get();
    if (now?.id === set.id && set.revision > now.revision) this.set.set(set);
  }
}
