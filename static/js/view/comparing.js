// Runs that a person ticks to see beside each other: two or more open the Metrics with their curves.

/** @typedef {import("./context.js").PageContext} PageContext */

/**
 * @param {PageContext} context
 * @param {import("../model/store.js").Store<number[]>} compared the ticked runs
 * @param {number} id
 * @param {boolean} isTicked
 */
export function compareRun(context, compared, id, isTicked) {
  const others = compared.get().filter((each) => each !== id);
  compared.set(isTicked ? [...others, id] : others);
  const count = compared.get().length;
  if (count < 2 || !isTicked) return;
  if (count === 2) {
    context.dock.show();
    context.dock.tabs.show("metrics");
  }
  const metrics = document.querySelector(".metrics-panel");
  if (metrics === null || metrics.getBoundingClientRect().bottom > 0) return;
  // On a narrow screen the dock lies above the list of runs, out of sight.
  const onAction = () => metrics.scrollIntoView();
  context.toast("The ticked runs are compared in Metrics, above.", { action: "Show", onAction });
}
