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

/** The waiting changes, in order: those of this tab, and those that an earlier page of this browser left. */
export class Unsent {
  #storage;
  /** @type {Map<string, Change>} */
  #changes = new Map();
  /** @type {Set<string>} keys that the storage could not take */
  #unstored = new Set();
  /** ms of the newest key; each key comes after it, also where the clock was set back */
  #newest = 0;

  /** @param {KeyedStorage} storage */
  constructor(storage) {
    this.#storage = storage;
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
    for (const key of keys.filter((each) => each.startsWith(PREFIX)).sort()) {
      const change = changeIn(storage.getItem(key));
      if (change) this.#changes.set(change.key, change);
      this.#newest = Math.max(this.#newest, Number(key.slice(PREFIX.length).split("-")[0]) || 0);
    }
  }

  /** Whether everything would survive the end of this tab. */
  get isSafe() {
    return this.#unstored.size === 0;
  }

  /** @returns {Change[]} oldest first */
  all() {
    return [...this.#changes.values()];
  }

  /**
   * @param {string} key
   * @returns {Change | null} null when it was settled meanwhile, here or by another tab
   */
  get(key) {
    const isStored = this.#unstored.has(key) || this.#storage.getItem(PREFIX + key) !== null;
    if (!isStored) this.#changes.delete(key);
    return this.#changes.get(key) ?? null;
  }

  /**
   * @param {Omit<Change, "key" | "problem">} change
   * @param {number} now ms
   * @returns {Change}
   */
  add(change, now) {
    this.#newest = Math.max(this.#newest + 1, now);
    const added = { ...change, key: `${String(this.#newest).padStart(15, "0")}-${change.id}`, problem: null };
    this.put(added);
    return added;
  }

  /** @param {Change} change */
  put(change) {
    this.#changes.set(change.key, change);
    try {
      this.#storage.setItem(PREFIX + change.key, JSON.stringify(change));
      this.#unstored.delete(change.key);
    } catch {
      // The browser's storage is full or off: the change lives with this tab, and the page says so.
      this.#unstored.add(change.key);
    }
  }

  /** @param {string} key */
  remove(key) {
    this.#changes.delete(key);
    this.#unstored.delete(key);
    this.#storage.removeItem(PREFIX + key);
  }
}

/**
 * @param {string | null} text
 * @returns {Change | null} null where something else wrote there; it stays, for a page that knows it
 */
function changeIn(text) {
  try {
    const change = JSON.parse(text ?? "null");
    return typeof change?.key === "string" && typeof change.id === "string" ? change : null;
  } catch {
    return null;
  }
}
