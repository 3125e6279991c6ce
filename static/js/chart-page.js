// Puts the chart page together: the only module that knows all of its parts.

import { Api } from "./net/api.js";
import { choices } from "./net/browser-storage.js";
import { tableWith } from "./model/keys.js";
import { loadSettings, saveSettings, viewOf, withView } from "./model/settings.js";
import { createStore } from "./model/store.js";
import { offeredTimeframes } from "./model/timeframe.js";
import { Zone } from "./model/zone.js";
import { mountAnnotating } from "./view/annotating.js";
import { mountChartStatus } from "./view/chart-status.js";
import { LeadView } from "./view/lead-view.js";
import { forgetColours } from "./view/colours.js";
import { Cursor } from "./view/cursor.js";
import { createDialog } from "./view/dialog.js";
import { element } from "./view/element.js";
import { keepFocus } from "./view/focus.js";
import { listenForFiles } from "./view/import-drop.js";
import { Keyboard } from "./view/keyboard.js";
import { onceLoaded, whenIdle, whenShown } from "./view/later.js";
import { mountMoveKeys } from "./view/move-keys.js";
import { Overview } from "./view/overview.js";
import { mountReadout } from "./view/readout.js";
import { createTabs } from "./view/tabs.js";
import { createToast } from "./view/toast.js";
import { mountToolbar } from "./view/toolbar.js";

/** @typedef {import("./model/types.js").SeriesState} SeriesState */

const KEEP_VIEW_MS = 400;

/** @param {string} id */
function part(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

const ownChoices = choices();
const settings = createStore(loadSettings(ownChoices));
settings.subscribe((now) => saveSettings(ownChoices, now));
const api = new Api(() => settings.get().author);
const toast = createToast(part("toasts"));
const dialog = createDialog(document.body);
const keyboard = new Keyboard(document, () => tableWith(settings.get().keys));
const series = createStore(/** @type {SeriesState} */ ({ items: [], current: null, isLoaded: false }));

/** Put theme and palette on the page, and the new colours on what is painted. */
function applyAppearance() {
  const { theme, palette } = settings.get();
  const isDark = theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  document.documentElement.dataset.palette = palette;
  forgetColours();
}

applyAppearance();
const canvas = element("div", { class: "chart-canvas", tabindex: 0, role: "application", "aria-label": "Candles: arrow keys move the crosshair, the question mark shows every key" });
part("chart").append(canvas);
keepFocus(canvas);
const view = new LeadView(canvas, api);
const overview = new Overview(part("overview"), api, view);

const tabs = createTabs(
  part("side-tabs"),
  [
    { id: "annotate", title: "Annotate", panel: part("annotate-panel") },
    { id: "train", title: "Train", panel: part("train-panel") },
    { id: "data", title: "Data", panel: part("data-panel") },
  ],
  "annotate",
);
const dockTabs = createTabs(
  part("dock-tabs"),
  [
    { id: "metrics", title: "Metrics", panel: part("metrics") },
    { id: "log", title: "Log", panel: part("log") },
  ],
  "metrics",
);
const dock = {
  tabs: dockTabs,
  show: () => setDock(true),
  hide: () => setDock(false),
  toggle: () => setDock(Boolean(part("dock").hidden)),
};

/** @param {boolean} isOpen */
function setDock(isOpen) {
  part("dock").hidden = !isOpen;
  if (!isOpen || isDockMounted) return;
  isDockMounted = true;
  whenShown(dockTabs, "metrics", panels.metrics);
  whenShown(dockTabs, "log", panels.log);
}
let isDockMounted = false;

/** @param {number} id */
function openSeries(id) {
  const chosen = series.get().items.find((item) => item.id === id);
  if (!chosen) return;
  const kept = viewOf(settings.get(), id);
  const timeframe = kept && offeredTimeframes(chosen.timeframe).includes(kept.timeframe) ? kept.timeframe : chosen.timeframe;
  series.update((now) => ({ ...now, current: chosen }));
  view.open(chosen, timeframe, kept);
  void overview.open(chosen);
  document.title = `${chosen.symbol} ${chosen.timeframe} · Annotate`;
}

/**
 * Open what a person chose; the address no longer names another one.
 * @param {number} id
 */
function choose(id) {
  history.replaceState(null, "", location.pathname);
  openSeries(id);
}

/** Ask for the list of series; open the one that the address names or that was open last, else the first. */
async function reloadSeries() {
  const asked = (listsAsked += 1);
  const { items } = await api.get("/api/series");
  if (asked < listShown) return; // a newer list came first
  listShown = asked;
  const before = series.get().current;
  const still = items.find((/** @type {{id: number}} */ item) => item.id === before?.id) ?? null;
  series.set({ items, current: still, isLoaded: true });
  if (still) {
    view.refresh(still);
    if (still.candles !== before?.candles) void overview.open(still);
  } else if (items.length) openFirst(items.map((/** @type {{id: number}} */ { id }) => id));
  else view.close();
}

let [listsAsked, listShown] = [0, 0];

/** @param {number[]} ids */
function openFirst(ids) {
  const wanted = [Number(new URLSearchParams(location.search).get("series")), settings.get().seriesId];
  openSeries(wanted.find((id) => id && ids.includes(id)) ?? ids[0]);
}

/** Try again what could not be loaded: the candles, or the list of series itself. */
function retry() {
  if (series.get().current) view.retry();
  else loadSeries();
}

function loadSeries() {
  view.state.update((now) => ({ ...now, error: null }));
  reloadSeries().catch((error) => view.state.update((now) => ({ ...now, error })));
}

/** @type {import("./view/context.js").PageContext} */
const context = { api, series, reloadSeries, openSeries: choose, chart: view, toast, dialog, settings, keyboard, tabs, dock };

const cursor = new Cursor(view);
const saveBadge = mountToolbar(part("toolbar"), context, view);
mountReadout(part("chart"), { view, series, settings });
mountChartStatus(part("chart"), { view, series, onUpload: () => tabs.show("data"), onRetry: retry });
mountMoveKeys(keyboard, view, cursor, part("chart"));
const places = { canvas, rail: part("tools"), panel: part("annotate-panel"), saveBadge };
const { annotator, book, labels, layer, follow, shown } = mountAnnotating(places, context, view, overview, cursor);
const panels = {
  train: onceLoaded(async () => (await import("./view/train-panel.js")).mountTrainPanel(part("train-panel"), context), toast),
  data: onceLoaded(async () => (await import("./view/data-panel.js")).mountDataPanel(part("data-panel"), context), toast),
  metrics: onceLoaded(async () => (await import("./view/metrics-panel.js")).mountMetrics(part("metrics"), context), toast),
  log: onceLoaded(async () => (await import("./view/log-panel.js")).mountLog(part("log"), context), toast),
};
whenShown(tabs, "train", panels.train);
whenShown(tabs, "data", panels.data);
listenForFiles(async (files) => {
  tabs.show("data");
  (await panels.data())?.takeFiles(files);
});
const loadTraining = onceLoaded(() => import("./view/training.js"), toast);
const loadHelp = onceLoaded(() => import("./view/help-overlay.js"), toast);
keyboard.on("help", async () => (await loadHelp())?.openHelp(dialog, keyboard, settings));
const loadWorkbench = onceLoaded(async () => {
  const { mountWorkbench } = await import("./view/workbench.js");
  return mountWorkbench({ chart: part("chart"), canvas }, context, { annotator, book, labels, view, cursor, layer, overview });
}, toast);
const loadTour = onceLoaded(async () => (await import("./view/tour.js")).startTour(part("annotate-panel"), settings, book), toast);
keyboard.on("open-replay", async () => (await loadWorkbench())?.openReplay());
keyboard.on("open-view", async () => (await loadWorkbench())?.openView());
keyboard.on("results", async () => (await loadWorkbench())?.openResults());
const loadSuggesting = onceLoaded(async () => {
  const [{ mountSuggesting }] = await Promise.all([import("./view/suggesting.js"), shown]);
  return mountSuggesting({ chart: part("chart"), canvas, panel: part("annotate-panel"), suggestions: part("suggestions") }, context, view, { annotator, book, labels, layer }, cursor);
}, toast);
keyboard.on("train", () => tabs.show("train"));
keyboard.on("metrics", dock.toggle);

/** What the first view does without: training, what comes live, and the panels that nobody has opened yet. */
async function startRest() {
  const training = await loadTraining();
  if (!training) return;
  const { link, predictions } = training.mountTraining({ runBar: part("run-bar"), column: part("chart-column"), chart: part("chart") }, context);
  follow(link);
  annotator.state.subscribe(({ hidden }) => predictions.setHidden(hidden));
  void loadWorkbench();
  if (!settings.get().tourSeen) void loadTour();
  void loadSuggesting();
  whenIdle(() => void loadHelp());
}

settings.subscribe((now, before) => {
  if (now.zone !== before.zone) view.chart.setZone(new Zone(now.zone));
  if (now.theme === before.theme && now.palette === before.palette) return;
  applyAppearance();
  view.chart.recolour();
  overview.repaint();
});
view.chart.setZone(new Zone(settings.get().zone));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  applyAppearance();
  view.chart.recolour();
  overview.repaint();
});

/** @type {ReturnType<typeof setTimeout> | undefined} */
let keeping;
view.onVisibleRange(({ from, to }) => {
  clearTimeout(keeping);
  const id = series.get().current?.id;
  const { timeframe } = view.state.get();
  if (id !== undefined) keeping = setTimeout(() => settings.update((now) => withView(now, { seriesId: id, timeframe, from, to })), KEEP_VIEW_MS);
});

// For benchmarks and tests of the page: what is drawn, and where.
Object.assign(window, {
  __chart: {
    stats: () => ({ bars: view.window.length, level: view.window.level, spans: layer.painted, paints: layer.paints, lastFrameMs: view.lastFrameMs }),
    visible: () => view.visible(),
    append: (/** @type {import("./model/types.js").Candle} */ candle) => view.appendClosed(candle),
    timeToX: (/** @type {number} */ time) => view.timeToX(time),
    priceToY: (/** @type {number} */ price) => view.priceToY(price),
  },
});

loadSeries();
void startRest();
