// Puts annotating together: data, drawing on the chart, tools, keys and the Annotate tab.

import { endOf, endsAtClose, startOf } from "../model/annotation.js";
import { coloursOf } from "../model/label-set.js";
import { closeTime } from "../model/timeframe.js";
import { AnnotationBook } from "../net/annotation-book.js";
import { browserStorage } from "../net/browser-storage.js";
import { LabelBook } from "../net/label-book.js";
import { SaveQueue } from "../net/save-queue.js";
import { Unsent } from "../net/unsent.js";
import { Annotator } from "./annotator.js";
import { onceLoaded } from "./later.js";
import { MarkLayer } from "./mark-layer.js";
import { mountToolRail } from "./tool-rail.js";

/** @typedef {import("./chart-view.js").ChartView} ChartView */

/**
 * @typedef {object} Annotating
 * @property {Annotator} annotator
 * @property {AnnotationBook} book
 * @property {LabelBook} labels
 * @property {MarkLayer} layer
 * @property {Promise<void>} shown resolves once the panel has its parts, among which others stand
 * @property {(link: import("../net/link.js").Link) => void} follow hears of what others change, once there is a connection
 */

/**
 * @param {object} places
 * @param {HTMLElement} places.canvas
 * @param {HTMLElement} places.rail
 * @param {HTMLElement} places.panel
 * @param {HTMLElement} places.saveBadge
 * @param {import("./context.js").PageContext} context
 * @param {ChartView} view
 * @param {import("./overview.js").Overview} overview
 * @param {import("./cursor.js").Cursor} cursor
 * @returns {Annotating}
 */
export function mountAnnotating({ canvas, rail, panel, saveBadge }, context, view, overview, cursor) {
  const { api, settings, toast, dialog, keyboard, series, tabs } = context;
  const unsent = new Unsent(browserStorage());
  const book = new AnnotationBook(api, (onSaved) => new SaveQueue({ api, unsent, onSaved, alone }), () => settings.get().author);
  const labels = new LabelBook(api);
  const annotator = new Annotator({ view, book, labels: labels.set, cursor, toast, settings });
  const layer = new MarkLayer(view);
  mountToolRail(rail, annotator, keyboard, settings);
  const comment = () => {
    tabs.show("annotate");
    /** @type {HTMLElement | null} */ (panel.querySelector("[data-part=comment]"))?.focus();
  };
  const hands = onceLoaded(async () => (await import("./annotate-hands.js")).mountHands(canvas, { keyboard, annotator, layer, book, view, cursor, toast, comment }), toast);
  const panelParts = { annotator, book, labels, view, settings, dialog, saveBadge, toast, keyboard, showPanel: () => tabs.show("annotate"), onClosed: () => canvas.focus() };
  // The chart is drawn without them; the labels show when they can be used.
  const panelModule = onceLoaded(() => import("./annotate-panel.js"), toast);
  const shown = Promise.all([hands(), panelModule()]).then(([, loaded]) => loaded?.mountAnnotatePanel(panel, panelParts));
  followModel({ book, labels, layer, annotator, overview, view });
  let openId = series.get().current?.id;
  let labelSetId = series.get().current?.label_set_id;
  let unfollow = () => {};
  /** @type {import("../net/link.js").Link | null} */
  let link = null;
  const followOpen = () => {
    unfollow();
    unfollow = () => {};
    if (link && openId !== undefined) unfollow = link.followSeries(openId, (notice) => accept(/** @type {Notice} */ (notice), book, labels));
  };
  series.subscribe(({ current }) => {
    if (current?.label_set_id !== labelSetId) void labels.open(current?.label_set_id ?? null);
    labelSetId = current?.label_set_id;
    if (current?.id === openId) return;
    openId = current?.id;
    annotator.select(null);
    void book.open(current?.id ?? null);
    followOpen();
  });
  settings.subscribe((now, before) => now.author !== before.author && void book.refresh());
  const follow = (/** @type {import("../net/link.js").Link} */ made) => {
    link = made;
    followOpen();
  };
  return { annotator, book, labels, layer, follow, shown };
}

/**
 * What the server says about a series; nothing but the series' id after a cut of the connection.
 * @typedef {object} Notice
 * @property {"annotation" | "annotations" | "label_set" | string} [what] none after a cut; `annotations`: many changed
 * @property {string} [id]
 * @property {import("../model/annotation.js").Annotation | null} [annotation]
 * @property {import("../model/label-set.js").LabelSet} [label_set]
 */

/**
 * @param {Notice} notice
 * @param {AnnotationBook} book
 * @param {LabelBook} labels
 */
function accept({ what, id, annotation, label_set: labelSet }, book, labels) {
  if (what === "annotation" && id) book.accept({ id, annotation: annotation ?? null });
  if (what === "label_set" && labelSet) {
    labels.accept(labelSet);
    void book.refresh();
  }
  if (what === "reviewed") void book.refreshReviewed();
  if (what === undefined || what === "annotations" || what === "blind") void book.refresh();
}

/**
 * Run a task while no other tab of this browser sends changes.
 * @template T
 * @param {() => Promise<T>} task
 * @returns {Promise<T>}
 */
function alone(task) {
  return navigator.locks ? navigator.locks.request("annotate-unsent", task) : task();
}

/**
 * Paint what the model says: on the chart and on the overview.
 * @param {{book: AnnotationBook, labels: LabelBook, layer: MarkLayer, annotator: Annotator,
 *   overview: import("./overview.js").Overview, view: ChartView}} parts
 */
function followModel({ book, labels, layer, annotator, overview, view }) {
  const draw = () => {
    const { selected, chosen, pending, hidden } = annotator.state.get();
    const colours = coloursOf(labels.set.get());
    layer.set({ index: book.index, colours, selected, chosen, pendingTime: pending?.anchor.time ?? null, hidden, reviewed: book.reviewed.get() });
  };
  const drawOverview = () => {
    const { hidden } = annotator.state.get();
    const colours = coloursOf(labels.set.get());
    const placed = book.index.all().filter((mark) => Number.isFinite(startOf(mark)));
    const stripes = placed.map((mark) => ({
      start: startOf(mark),
      end: endsAtClose(mark) ? endOf(mark) : closeTime(endOf(mark), view.timeframe),
      colour: colours.get(mark.label) ?? "#8c8c8c",
    }));
    overview.setStripes(hidden ? [] : stripes);
  };
  book.state.subscribe((now, before) => {
    if (now.index === before.index) return;
    if (annotator.state.get().selected && !annotator.selected) annotator.select(null);
    draw();
    drawOverview();
  });
  labels.set.subscribe(() => {
    draw();
    drawOverview();
  });
  book.reviewed.subscribe(draw);
  annotator.state.subscribe((now, before) => {
    draw();
    if (now.hidden !== before.hidden) drawOverview();
  });
}
