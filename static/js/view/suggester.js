// What a person does with suggestions: asks for them, walks through them, accepts, corrects, rejects, ignores.

import { draftOf, endOf, startOf } from "../model/annotation.js";
import { edited } from "../model/mark-edit.js";
import { neighbour, probable } from "../model/suggestion.js";
import { isLearnt } from "../model/suggest-settings.js";
import { createStore } from "../model/store.js";

/** @typedef {import("../model/suggestion.js").Suggestion} Suggestion */
/** @typedef {{selected: string | null, draft: Suggestion | null}} SuggesterState `draft`: the selected one as it is being corrected */

const TAUGHT = 3; // marks before which there is nothing to go by
const RELOADED = 100; // marks from which on the list is asked for again rather than laid in one by one

/** Performs what pointer, keys and panel ask for. */
export class Suggester {
  #view;
  #book;
  #marks;
  #annotator;
  #settings;
  #cursor;
  #toast;

  /**
   * @param {object} parts
   * @param {import("./chart-view.js").ChartView} parts.view
   * @param {import("../net/suggestion-book.js").SuggestionBook} parts.book
   * @param {import("../net/annotation-book.js").AnnotationBook} parts.marks
   * @param {import("./annotator.js").Annotator} parts.annotator
   * @param {import("../model/store.js").Store<import("../model/suggest-settings.js").SuggestSettings>} parts.settings
   * @param {import("./cursor.js").Cursor} parts.cursor
   * @param {import("./toast.js").Toast} parts.toast
   */
  constructor({ view, book, marks, annotator, settings, cursor, toast }) {
    this.#view = view;
    this.#book = book;
    this.#marks = marks;
    this.#annotator = annotator;
    this.#settings = settings;
    this.#cursor = cursor;
    this.#toast = toast;
    this.state = createStore(/** @type {SuggesterState} */ ({ selected: null, draft: null }));
  }

  /** Those that are shown, by start. */
  get shown() {
    return probable(this.#book.state.get().items, this.#settings.get().least);
  }

  /** @returns {Suggestion | null} the selected one, as corrected so far */
  get selected() {
    const { selected, draft } = this.state.get();
    return draft ?? this.shown.find(({ id }) => id === selected) ?? null;
  }

  /** @param {string | null} id */
  select(id) {
    if (id === this.state.get().selected && id !== null) return;
    this.state.set({ selected: id, draft: null });
    if (id !== null) this.#annotator.select(null);
  }

  /**
   * Select the suggestion after or before the selected one, else the one at the crosshair, and bring it into view.
   * @param {1 | -1} step
   */
  walk(step) {
    const found = neighbour(this.shown, this.state.get().selected, step, this.#view.visible()?.from ?? 0);
    if (found) this.#jumpTo(found);
    else this.#toast(step > 0 ? "No suggestion after this one" : "No suggestion before this one");
  }

  /** Make a mark of the selected one; without one, select the first in view, so that nothing is accepted unseen. */
  accept() {
    const chosen = this.#chosen();
    if (!chosen) return;
    if (this.state.get().draft) return this.#decide("correct", chosen, { mark: draftOf(chosen) });
    this.#decide("accept", chosen, {});
  }

  reject() {
    const chosen = this.#chosen();
    if (chosen) this.#decide("reject", chosen, {});
  }

  ignore() {
    const chosen = this.#chosen();
    if (chosen) this.#decide("ignore", chosen, {});
  }

  /**
   * Accept the selected one under another label.
   * @param {string} label
   */
  relabel(label) {
    const chosen = this.selected;
    if (chosen) this.#decide("correct", chosen, { mark: draftOf({ ...chosen, label }) });
  }

  /**
   * Store the selected one as it was dragged.
   * @param {Suggestion} draft
   */
  correct(draft) {
    this.#decide("correct", draft, { mark: draftOf(draft) });
  }

  /**
   * Move an edge of the selected one by a candle; it is stored when it is accepted.
   * @param {"start" | "end"} edge
   * @param {1 | -1} step
   */
  stepEdge(edge, step) {
    const chosen = this.selected;
    if (!chosen) return;
    const ends = { start: /** @type {const} */ ("entry"), end: /** @type {const} */ ("exit") };
    const part = chosen.kind === "trade" ? ends[edge] : chosen.kind === "span" ? edge : "body";
    this.state.update((now) => ({ ...now, draft: edited(chosen, part, { candles: step, price: 0 }, this.#view.window) }));
  }

  /**
   * Give up the correction, then the selection.
   * @returns {boolean} whether there was one
   */
  escape() {
    const { selected, draft } = this.state.get();
    if (selected === null) return false;
    this.state.set({ selected: draft ? selected : null, draft: null });
    return true;
  }

  /** Accept every suggestion of the series that is probable enough, as one step of undo. */
  async acceptAll() {
    const { least } = this.#settings.get();
    await this.#attempt(async () => {
      const answer = await this.#book.decide("accept", { least_probability: least });
      await this.#take(answer.annotations);
      this.state.set({ selected: null, draft: null });
      const count = answer.decided.length;
      if (!count) return this.#toast("There is no suggestion to accept");
      this.#toast(`Accepted ${count} suggestions`, { action: "Undo", onAction: () => void this.#annotator.step("undo") });
    });
  }

  /**
   * Ask for suggestions by the settings.
   * @param {string} [from] another source than the chosen one
   */
  async suggest(from) {
    const settings = this.#settings.get();
    const range = settings.reach === "view" ? this.#view.visible() : null;
    const reach = range ? { from: Math.floor(range.from), to: Math.ceil(range.to) } : {};
    const { mode, weight, parameters, labels } = settings;
    const source = from ?? settings.source;
    const named = Object.fromEntries(Object.entries(labels).filter(([, label]) => label));
    const wanted = isLearnt(source) ? { source, mode, accepted_weight: weight } : { source, parameters: parameters[source] ?? {}, labels: named };
    await this.#attempt(async () => {
      await this.#marks.queue.whenIdle();
      await this.#book.suggest({ ...wanted, ...reach });
    });
  }

  /** Go where a mark would teach most, by the order chosen; by time, and at first, to the next stretch without marks. */
  async nextPlace() {
    const { order, weight } = this.#settings.get();
    if (order === "time" || this.#marks.index.size < TAUGHT) return this.#annotator.goToUnlabelled(1);
    await this.#attempt(async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const [place] = await this.#book.places({ order, count: 1, seed, accepted_weight: weight });
      if (!place) return this.#toast("Every place is marked or was looked through");
      this.#view.goTo((place.start + place.end) / 2);
      this.#cursor.aim(place.start);
      this.#toast(`Mark here: ${place.why}`);
    });
  }

  /** @returns {Suggestion | null} */
  #chosen() {
    const chosen = this.selected;
    if (!chosen) this.walk(1);
    return chosen;
  }

  /** @param {Suggestion} suggestion */
  #jumpTo(suggestion) {
    this.select(suggestion.id);
    const range = this.#view.visible();
    const isInView = range && startOf(suggestion) >= range.from && endOf(suggestion) <= range.to;
    if (!isInView) this.#view.goTo((startOf(suggestion) + endOf(suggestion)) / 2);
  }

  /**
   * @param {import("../net/suggestion-book.js").Decision} decision
   * @param {Suggestion} chosen
   * @param {Record<string, unknown>} more
   */
  #decide(decision, chosen, more) {
    const next = neighbour(this.shown, chosen.id, 1, 0);
    this.state.set({ selected: null, draft: null });
    if (next) this.#jumpTo(next);
    void this.#attempt(async () => {
      const { annotations } = await this.#book.decide(decision, { ids: [chosen.id], ...more });
      await this.#take(annotations);
    });
  }

  /** @param {import("../model/annotation.js").Annotation[]} annotations */
  async #take(annotations) {
    if (annotations.length > RELOADED) return this.#marks.refresh();
    for (const annotation of annotations) this.#marks.accept({ id: annotation.id, annotation });
    await this.#marks.refreshUndo();
  }

  /** @param {() => Promise<void>} task */
  async #attempt(task) {
    try {
      await task();
    } catch (error) {
      this.#toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
    }
  }
}
