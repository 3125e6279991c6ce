// Puts suggesting together: data, ghosts on the chart, keys and the Suggestions section of the Annotate tab.

import { coloursOf, labelWithKey } from "../model/label-set.js";
import { isLearnt, suggestSettings } from "../model/suggest-settings.js";
import { createStore } from "../model/store.js";
import { choices } from "../net/browser-storage.js";
import { SuggestionBook } from "../net/suggestion-book.js";
import { mountDoubtsPanel } from "./doubts-panel.js";
import { element } from "./element.js";
import { learningOf } from "./learning.js";
import { mountSuggestPanel } from "./suggest-panel.js";
import { Suggester } from "./suggester.js";
import { SuggestionLayer } from "./suggestion-layer.js";
import { SuggestionPointer } from "./suggestion-pointer.js";

/** @typedef {import("./annotating.js").Annotating} Annotating */

const AFTER_MARK_MS = 250;
const LABEL = "label-";
/** @type {Record<string, ["start" | "end", 1 | -1] | undefined>} */
const STEPS = { "start-earlier": ["start", -1], "start-later": ["start", 1], "end-earlier": ["end", -1], "end-later": ["end", 1] };

/**
 * @param {object} places
 * @param {HTMLElement} places.chart around the canvas
 * @param {HTMLElement} places.canvas
 * @param {HTMLElement} places.panel
 * @param {HTMLElement} places.suggestions its section, above the list of annotations
 * @param {import("./context.js").PageContext} context
 * @param {import("./chart-view.js").ChartView} view
 * @param {Pick<Annotating, "annotator" | "book" | "labels" | "layer">} annotating
 * @param {import("./cursor.js").Cursor} cursor
 * @returns {{layer: SuggestionLayer}}
 */
export function mountSuggesting({ chart, canvas, panel, suggestions }, context, view, { annotator, book: marks, labels, layer: markLayer }, cursor) {
  const settings = suggestSettings(choices());
  const book = new SuggestionBook(context.api);
  const suggester = new Suggester({ view, book, marks, annotator, settings, cursor, toast: context.toast });
  const layer = new SuggestionLayer(view);
  new SuggestionPointer(chart, canvas, { view, suggester, annotator, layers: { suggestions: layer, marks: markLayer } });
  const offers = createStore(/** @type {Awaited<ReturnType<SuggestionBook["offers"]>>} */ ({ rules: [], orders: [] }));
  book.offers().then((found) => offers.set(found), () => context.toast("The rules for suggestions could not be loaded; load the page again", { tone: "danger" }));
  const doubts = element("section", { class: "stack" });
  panel.append(doubts);
  mountSuggestPanel(suggestions, { suggester, book, settings, labels, offers });
  mountDoubtsPanel(doubts, { book, marks, annotator, view, pageSettings: context.settings });
  const draw = () => {
    const { selected, draft } = suggester.state.get();
    layer.set({ items: suggester.shown, draft, selected, colours: coloursOf(labels.set.get()), hidden: annotator.state.get().hidden });
  };
  for (const store of [suggester.state, book.state, settings, labels.set, annotator.state]) /** @type {any} */ (store).subscribe(draw);
  annotator.state.subscribe((now, before) => now.selected !== null && now.selected !== before.selected && suggester.select(null));
  follow(context, view, book);
  suggestByItself(context, { suggester, marks, settings });
  mountKeys(context.keyboard, suggester, annotator, labels);
  return { layer };
}

/**
 * Keep to the open series and to what is in view.
 * @param {import("./context.js").PageContext} context
 * @param {import("./chart-view.js").ChartView} view
 * @param {SuggestionBook} book
 */
function follow(context, view, book) {
  const { link } = learningOf(context);
  /** @type {number | undefined} */
  let openId;
  let unfollow = () => {};
  const open = () => {
    const { current } = context.series.get();
    if (current?.id === openId) return;
    openId = current?.id;
    unfollow();
    book.open(current?.id ?? null);
    if (!current) return;
    const range = view.visible();
    if (range) book.see(range);
    unfollow = link.followSeries(current.id, (/** @type {any} */ notice) => {
      if (notice.what === "suggestions" || notice.what === "blind" || notice.what === undefined) book.notice(notice.task);
    });
  };
  context.series.subscribe(open);
  open();
  view.onVisibleRange((range) => book.see(range));
}

/**
 * After each mark that was stored and after each training, where the switch is on.
 * @param {import("./context.js").PageContext} context
 * @param {{suggester: Suggester, marks: import("../net/annotation-book.js").AnnotationBook, settings: import("../model/store.js").Store<import("../model/suggest-settings.js").SuggestSettings>}} parts
 */
function suggestByItself(context, { suggester, marks, settings }) {
  let timer = 0;
  /** @param {string} [from] */
  const soon = (from) => {
    clearTimeout(timer);
    const { byItself, source } = settings.get();
    if (byItself && isLearnt(source)) timer = window.setTimeout(() => void suggester.suggest(from), AFTER_MARK_MS);
  };
  marks.queue.state.subscribe((now, before) => now.waiting === 0 && before.waiting > 0 && settings.get().source === "marks" && soon());
  const { desk } = learningOf(context);
  desk.runs.subscribe((now, before) => {
    const trained = now.filter(({ mode, state }) => mode === "batch" && state === "finished").length;
    const known = before.filter(({ mode, state }) => mode === "batch" && state === "finished").length;
    if (trained > known && before.length) soon("best");
  });
}

/**
 * @param {import("./context.js").Keyboard} keyboard
 * @param {Suggester} suggester
 * @param {import("./annotator.js").Annotator} annotator
 * @param {import("../net/label-book.js").LabelBook} labels
 */
function mountKeys(keyboard, suggester, annotator, labels) {
  keyboard.on("suggest", () => void suggester.suggest());
  keyboard.on("accept", () => suggester.accept());
  keyboard.on("reject", () => suggester.reject());
  keyboard.on("ignore", () => suggester.ignore());
  keyboard.on("accept-all", () => void suggester.acceptAll());
  keyboard.on("next-suggestion", () => suggester.walk(1));
  keyboard.on("previous-suggestion", () => suggester.walk(-1));
  keyboard.on("next-unlabelled", () => void suggester.nextPlace());
  keyboard.enter((action) => suggester.selected !== null && takes(action, suggester, annotator, labels));
}

/**
 * What the keys of labels, edges and giving up do while a suggestion is selected.
 * @param {string} action
 * @param {Suggester} suggester
 * @param {import("./annotator.js").Annotator} annotator
 * @param {import("../net/label-book.js").LabelBook} labels
 * @returns {boolean} whether the key is used up
 */
function takes(action, suggester, annotator, labels) {
  if (action === "escape") return annotator.state.get().pending === null && suggester.escape();
  const step = STEPS[action];
  if (step) suggester.stepEdge(...step);
  const label = action.startsWith(LABEL) ? labelWithKey(labels.set.get(), action.slice(LABEL.length)) : null;
  if (label) suggester.relabel(label.name);
  return Boolean(step || label);
}
