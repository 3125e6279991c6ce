// A value that can be watched: the smallest thing that lets views follow the model.

/**
 * @template T
 * @typedef {object} Store
 * @property {() => T} get the present value
 * @property {(next: T) => void} set replaces the value and tells every watcher, unless it is the same one
 * @property {(change: (now: T) => T) => void} update sets what `change` makes of the present value
 * @property {(watch: (now: T, before: T) => void) => () => void} subscribe gives the function that ends the watch
 */

/**
 * Make a store.
 * @template T
 * @param {T} initial
 * @returns {Store<T>}
 */
export function createStore(initial) {
  let value = initial;
  /** @type {Set<(now: T, before: T) => void>} */
  const watchers = new Set();

  /** @param {T} next */
  const set = (next) => {
    if (Object.is(next, value)) return;
    const before = value;
    value = next;
    for (const watch of [...watchers]) watch(value, before);
  };

  return {
    get: () => value,
    set,
    update: (change) => set(change(value)),
    subscribe: (watch) => {
      watchers.add(watch);
      return () => watchers.delete(watch);
    },
  };
}
