// What stands over the chart when there is no candle to see: loading, an error with its cause, an empty series.

import { ApiError } from "../net/api.js";
import { card } from "./card.js";
import { button, element, fill } from "./element.js";

const SHOW_LOADING_AFTER_MS = 300;

/**
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {import("../model/store.js").Store<import("../model/types.js").SeriesState>} parts.series
 * @param {() => void} parts.onUpload opens the place where a file can be given
 * @param {() => void} parts.onRetry
 */
export function mountChartStatus(root, { view, series, onUpload, onRetry }) {
  const overlay = element("div", { class: "chart-overlay" });
  const newer = button("", () => view.goToEnd(), { class: "chart-notice primary", "aria-live": "polite" });
  newer.hidden = true;
  root.append(overlay, newer);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  const draw = () => {
    const state = view.state.get();
    clearTimeout(waiting);
    fill(overlay, messageOf(state, series.get(), onUpload, onRetry));
    newer.hidden = state.unseen === 0;
    newer.textContent = `+${state.unseen} new ${state.unseen === 1 ? "candle" : "candles"} →`;
    if (state.busy && view.window.length === 0) waiting = setTimeout(() => fill(overlay, loadingText()), SHOW_LOADING_AFTER_MS);
  };
  view.state.subscribe(draw);
  series.subscribe(draw);
}

function loadingText() {
  return element("p", { class: "loading", role: "status" }, "Loading candles…");
}

/**
 * @param {import("./chart-state.js").ChartState} state
 * @param {import("../model/types.js").SeriesState} series
 * @param {() => void} onUpload
 * @param {() => void} onRetry
 */
function messageOf({ error, isEmpty }, { current, isLoaded }, onUpload, onRetry) {
  if (error) return failure(error, onRetry);
  const actions = [{ text: "Upload candles", run: onUpload }];
  if (!current) {
    return isLoaded && card({ title: "There is no series yet", text: "Upload a file of candles to see and label them here.", actions });
  }
  if (!isEmpty) return null;
  const text = "They appear here as soon as some are stored: from a file, or from a live feed.";
  return card({ title: `${current.symbol} has no candles to show`, text, actions });
}

/**
 * @param {unknown} error
 * @param {() => void} onRetry
 */
function failure(error, onRetry) {
  const text = error instanceof Error ? error.message : String(error);
  const signedOut = error instanceof ApiError && error.status === 401;
  return card({
    title: signedOut ? "You are signed out" : "The candles could not be loaded",
    text: signedOut ? "Open the link that the server printed when it started, then try again." : text,
    tone: "danger",
    actions: [{ text: "Try again", run: onRetry }],
  });
}
