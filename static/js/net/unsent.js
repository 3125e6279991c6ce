// Changes that the server has not acknowledged yet, kept in the browser so that a closed tab or a crash loses none.

/** @typedef {import("../model/annotation.js").Annotation} Annotation */

/**
 * One change of one annotation.
 * @typedef {object} Change
 * @property {string} key orders the changes; unique in this browser
 * @property {number} seriesId
 * @property {string} id of the annotation
 * @property {Annotation | null} mark as wanted; null deletes it
 * @property {number} revision the stored one that this change builds on
 * @property {string} author
 * @property {string | null} gesture UUID that several changes of one gesture share
 * @property {{code: string, message: string, stored: Annotation | null} | null} problem why it waits for a person
 */

/** @typedef {Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">} KeyedStorage */

const PREFIX = "annotate.unsent.";

/** The waiting changes, in order; shared by the tabs of this browser. */
export class Unsent {
  #storage;
  /** @type {Map<string, string>} where the storage takes no more */
  #memory = new Map();
  #count = 0;

  /** @param {KeyedStorage} storage */
  constructor(storage) {
    this.#storage = storage;
  }

  /** Whether everything would survive the end of this tab. */
  get isSafe() {
    return this.#memory.size === 0;
  }

  /** @returns {Change[]} oldest first */
  all() {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index) ?? "");
    const stored = keys.filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
    const changes = [...new Set([...stored, ...this.#memory.keys()])].sort().map((key) => this.get(key));
    return changes.filter((change) => change !== null);
  }

  /**
   * @param {string} key
   * @returns {Change | null} null when another tab has sent it meanwhile
   */
  get(key) {
    const text = this.#memory.get(key) ?? this.#storage.getItem(PREFIX + key);
    return text === null ? null : JSON.parse(text);
  }

  /**
   * @param {Omit<Change, "key" | "problem">} change
   * @param {number} now ms
   * @returns {Change}
   */
  add(change, now) {
    this.#count += 1;
    const order = `${String(now).padStart(15, "0")}-${String(this.#count).padStart(6, "0")}`;
    const added = { ...change, key: `${order}-${change.id}`, problem: null };
    this.put(added);
    return added;
  }

  /** @param {Change} change */
  put(change) {
    const text = JSON.stringify(change);
    try {
      this.#storage.setItem(PREFIX + change.key, text);
      this.#memory.delete(change.key);
    } catch {
      // The browser's storage is full or off: the change lives with this tab, and the page says so.
      this.#memory.set(change.key, text);
    }
  }

  /** @param {string} key */
  remove(key) {
    this.#memory.delete(key);
    this.#storage.removeItem(PREFIX + key);
  }
}
