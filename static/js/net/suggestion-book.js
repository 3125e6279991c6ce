// The suggestions of the stretch in view, the readings under way, and what a person decides.

import { createStore } from "../model/store.js";
import { suggestionOf } from "../model/suggestion.js";
import { ApiError, isAborted } from "./api.js";

/** @typedef {import("../model/suggestion.js").Suggestion} Suggestion */
/** @typedef {import("../model/suggestion.js").Task} Task */
/** @typedef {"accept" | "correct" | "reject" | "ignore"} Decision */

/**
 * @typedef {object} SuggestionState
 * @property {Suggestion[]} items of the stretch in view and a screen to either side, by start
 * @property {number} count of all open ones of the series
 * @property {Task | null} task the newest
 */

const DEBOUNCE_MS = 80;
const MOST = 2_000;

/** @type {SuggestionState} */
const NOTHING = { items: [], count: 0, task: null };

/** Holds the suggestions of one series at a time. */
export class SuggestionBook {
  #api;
  /** @type {number | null} */
  #seriesId = null;
  /** @type {{from: number, to: number} | null} */
  #seen = null;
  #timer = 0;
  #asked = new AbortController();

  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.#api = api;
    this.state = createStore(NOTHING);
  }

  /** @param {number | null} seriesId */
  open(seriesId) {
    this.#seriesId = seriesId;
    this.#seen = null;
    this.#asked.abort();
    this.state.set(NOTHING);
  }

  /**
   * Say what is in view.
   * @param {{from: number, to: number}} range
   */
  see(range) {
    this.#seen = range;
    this.reloadSoon();
  }

  /** Ask again before long. */
  reloadSoon() {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.reload(), DEBOUNCE_MS);
  }

  async reload() {
    const [seriesId, range] = [this.#seriesId, this.#seen];
    if (seriesId === null || range === null) return;
    this.#asked.abort();
    this.#asked = new AbortController();
    const width = range.to - range.from;
    const query = { from: Math.floor(range.from - width), to: Math.ceil(range.to + width), limit: MOST };
    const path = `/api/series/${seriesId}/suggestions`;
    try {
      const [near, every] = await Promise.all([
        this.#api.get(path, { query, signal: this.#asked.signal }),
        this.#api.get(path, { query: { limit: 1 }, signal: this.#asked.signal }),
      ]);
      if (seriesId !== this.#seriesId) return;
      const task = this.state.get().task ?? near.tasks.at(-1) ?? null;
      this.state.set({ items: near.items.map(suggestionOf), count: every.count, task });
    } catch (error) {
      if (error instanceof ApiError && !error.isTemporary) this.state.set(NOTHING); // hidden now, in a blind pass
      else if (!isAborted(error)) this.#later();
    }
  }

  /** The server did not answer; the next look at the chart asks again. */
  #later() {
    this.#seen = null;
  }

  /**
   * Take a notice: of a task, or that suggestions were decided.
   * @param {Task | undefined} task
   */
  notice(task) {
    if (task) this.state.update((now) => ({ ...now, task: now.task && now.task.id > task.id ? now.task : task }));
    this.reloadSoon();
  }

  /**
   * Begin to suggest.
   * @param {Record<string, unknown>} wanted
   * @returns {Promise<Task>}
   */
  async suggest(wanted) {
    const { task } = await this.#api.post(this.#path("suggestions"), wanted);
    const known = this.state.get().task;
    if (!known || known.id < task.id) this.state.update((now) => ({ ...now, task }));
    return task;
  }

  /** Call the task under way off. */
  async cancel() {
    const { task } = this.state.get();
    if (task?.state === "running") this.notice((await this.#api.delete(`/api/suggestion-tasks/${task.id}`)).task);
  }

  /**
   * Decide; what was decided leaves the page at once.
   * @param {Decision} decision
   * @param {Record<string, unknown>} which `ids`, or a range and a least probability; `mark` with a correction
   * @returns {Promise<{annotations: import("../model/annotation.js").Annotation[], decided: string[]}>}
   */
  async decide(decision, which) {
    const before = this.state.get().items;
    const ids = new Set(/** @type {string[] | undefined} */ (which.ids) ?? []);
    this.state.update((now) => ({ ...now, items: now.items.filter(({ id }) => !ids.has(id)) }));
    try {
      const answer = await this.#api.post(this.#path("suggestions/decisions"), { decision, ...which });
      this.reloadSoon();
      return answer;
    } catch (error) {
      this.state.update((now) => ({ ...now, items: before }));
      throw error;
    }
  }

  /**
   * Where to mark next.
   * @param {Record<string, unknown>} asked
   * @returns {Promise<{start: number, end: number, why: string}[]>}
   */
  async places(asked) {
    return (await this.#api.post(this.#path("places"), asked)).items;
  }

  /** @returns {Promise<import("../model/suggestion.js").Lesson[]>} */
  async lessons() {
    return (await this.#api.get(this.#path("lessons"), { query: { limit: 5 } })).items;
  }

  /** @returns {Promise<Doubt[]>} */
  async doubts() {
    return (await this.#api.get(this.#path("doubts"), { query: { count: 20 } })).items;
  }

  /** @param {Doubt} doubt */
  confirm({ id, revision }) {
    return this.#api.post(this.#path(`doubts/${id}/confirm`), { revision });
  }

  /** @returns {Promise<{points: {marks: number, f1: number, interval: [number, number] | null}[], saturated: boolean | null}>} */
  curve() {
    return this.#api.get(this.#path("learning-curve"));
  }

  /** @returns {Promise<{rules: Rule[], orders: {name: string, why: string}[]}>} */
  offers() {
    return this.#api.get("/api/suggestion-offers");
  }

  /** @param {string} rest */
  #path(rest) {
    return `/api/series/${this.#seriesId}/${rest}`;
  }
}

/** @typedef {{id: string, label: string, start: number, end: number, doubt: number, revision: number, reasons: Record<string, number>, instead: {label: string} | null}} Doubt */
/** @typedef {{name: string, default: number, least: number, most: number, meaning: string}} RuleParameter */
/** @typedef {{name: string, title: string, kind: string, parameters: RuleParameter[]}} Rule */
