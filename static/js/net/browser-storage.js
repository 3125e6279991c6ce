// What this browser keeps for the page, also where a person has switched that off or where it is full.

/** @typedef {import("../model/settings.js").TextStorage} TextStorage */
/** @typedef {import("./unsent.js").KeyedStorage} KeyedStorage */

/** @type {KeyedStorage} holds nothing, and says so to whoever wants to keep something */
const NONE = {
  length: 0,
  key: () => null,
  getItem: () => null,
  removeItem: () => undefined,
  setItem: () => {
    throw new Error("this browser keeps nothing for this page");
  },
};

/**
 * The browser's storage; where it is off, one that can be read and takes nothing.
 * @param {() => Storage | null} [find] asking alone may throw
 * @returns {KeyedStorage}
 */
export function browserStorage(find = () => localStorage) {
  try {
    return find() ?? NONE;
  } catch {
    return NONE; // cookies and storage are blocked for this address
  }
}

/**
 * The same for what a person chose: what cannot be kept holds as long as the page is open, and stops nothing.
 * @param {TextStorage} [storage]
 * @returns {TextStorage}
 */
export function choices(storage = browserStorage()) {
  return {
    getItem: (key) => storage.getItem(key),
    setItem: (key, text) => {
      try {
        storage.setItem(key, text);
      } catch {
        // Full or off; the badge of the annotations says so where it matters.
      }
    },
  };
}
