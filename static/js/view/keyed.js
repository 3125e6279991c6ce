// Keeps what did not change: an element is made anew only when its key is new, so that no click and no focus is lost.

/** @typedef {{key: string, make: () => HTMLElement}} KeyedPart */

/** @type {WeakMap<Element, string>} */
const keys = new WeakMap();

/**
 * Make a parent hold one element a part, in order.
 * @param {Element} parent whose children were all made here
 * @param {readonly KeyedPart[]} parts with keys that differ from one another
 */
export function fillKeyed(parent, parts) {
  const known = new Map([...parent.children].map((child) => [keys.get(child), child]));
  const wanted = parts.map(({ key, make }) => known.get(key) ?? remembered(key, make()));
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

/**
 * @param {string} key
 * @param {HTMLElement} made
 * @returns {HTMLElement}
 */
function remembered(key, made) {
  keys.set(made, key);
  return made;
}
