// Four steps for somebody who sees the page for the first time; they stand in the panel, cover nothing, and never come again.

import { button, element, fill } from "./element.js";

const STEPS = [
  { at: ".label-list", title: "Label candles", text: "Press 1 to pick a label, then drag over candles: that is a span. It is saved at once. Without a mouse: ← → to a candle, [ begins a span, ] ends it. The other tools draw points, trades, levels and lines." },
  { at: "#overview", title: "Move through time", text: "The wheel zooms, dragging moves, and the strip below holds the whole series. N goes to the next stretch without a label." },
  { at: "#run-bar", title: "Train a model", text: "Load a model, then train it on the stored candles and your labels, or let it learn live, candle by candle. Its figures stand beside baselines." },
  { at: "#tab-data", title: "Take it with you", text: "Data imports candles and exports the annotated dataset. Press ? at any time for every key; each can be changed." },
];

/**
 * Start the tour.
 * @param {HTMLElement} root
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} settings
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 */
export function startTour(root, settings, book) {
  settings.update((now) => ({ ...now, tourSeen: true })); // from now on, even when it is left in the middle
  const shown = element("section", { class: "tour", "aria-label": "First steps" });
  root.prepend(shown);
  let step = 0;
  const mark = (/** @type {boolean} */ isOn) => document.querySelector(STEPS[step].at)?.classList.toggle("toured", isOn);
  const end = () => {
    mark(false);
    stop();
    shown.remove();
  };
  const go = () => {
    if (step === STEPS.length - 1) return end();
    mark(false);
    step += 1;
    draw();
  };
  const draw = () => {
    const { title, text } = STEPS[step];
    mark(true);
    const hadFocus = shown.contains(document.activeElement);
    const next = button(step === STEPS.length - 1 ? "Done" : "Next", go, { class: "primary" });
    const actions = element("div", { class: "row" }, next, button("Close", end, { class: "quiet" }));
    fill(shown, element("h2", {}, `${step + 1} of ${STEPS.length}: ${title}`), element("p", {}, text), actions);
    if (hadFocus) next.focus();
  };
  const stop = book.state.subscribe((now, before) => step === 0 && now.index.size > before.index.size && !before.isLoading && go());
  draw();
}
