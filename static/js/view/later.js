// Parts of the page that are loaded when they are first needed, and quietly before that once the browser has nothing to do.

/** @typedef {import("./toast.js").Toast} Toast */

const IDLE_WITHIN_MS = 4000;

/**
 * Make the function that loads and mounts a part once; a part that did not come is asked for again by the next call.
 * @template T
 * @param {() => Promise<T>} load
 * @param {Toast} toast says that the part did not come
 * @returns {() => Promise<T | null>} null where it did not come
 */
export function onceLoaded(load, toast) {
  /** @type {Promise<T | null> | null} */
  let loading = null;
  return () => {
    loading ??= load().catch((error) => {
      loading = null;
      const cause = error instanceof Error ? error.message : String(error);
      toast(`A part of the page did not come from the server: ${cause}`, { tone: "danger", action: "Load the page again", onAction: () => location.reload() });
      return null;
    });
    return loading;
  };
}

/**
 * Mount a tab's panel when it is first shown.
 * @param {import("./tabs.js").Tabs} tabs
 * @param {string} id
 * @param {() => void} mount
 */
export function whenShown(tabs, id, mount) {
  if (tabs.shown() === id) return mount();
  tabs.onShow((shown) => {
    if (shown === id) mount();
  });
}

/**
 * Do something once the browser is idle.
 * @param {() => void} task
 */
export function whenIdle(task) {
  if ("requestIdleCallback" in window) requestIdleCallback(task, { timeout: IDLE_WITHIN_MS });
  else setTimeout(task, IDLE_WITHIN_MS);
}
