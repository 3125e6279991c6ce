// Sends changes, each once, in order, those of one gesture together; retries what may succeed later, sets aside what
// needs a person.

import { draftOf } from "../model/annotation.js";
import { createStore } from "../model/store.js";
import { ApiError } from "./api.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("./unsent.js").Change} Change */

/**
 * @typedef {object} SaveState
 * @property {number} waiting changes not acknowledged yet
 * @property {string} failing why the last try failed; empty while all is well
 * @property {boolean} isSafe whether the waiting ones would survive the end of this tab
 * @property {Change[]} problems changes that a person must settle
 */

/** @typedef {(changes: Change[], answer: {annotations: Annotation[], deleted: string[]}) => void} OnSaved what was settled, and what the server made of it */

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;
const STALE = 409;
const MOST_TOGETHER = 10_000; // each call reads and writes the whole step of undo: few large ones take a third of the time
const MOST_LETTERS = 2_000_000; // far below what the server takes, however many bytes a letter has

/** The queue between the page and the server. */
export class SaveQueue {
  #api;
  #unsent;
  #onSaved;
  #alone;
  #pause;
  #isRunning = false;
  /** @type {Set<string>} gestures that were refused as a whole: their changes go one by one, so that only what stands in the way waits */
  #apart = new Set();
  /** @type {(() => void) | null} ends the present wait */
  #wake = null;
  /** @type {(() => void)[]} */
  #idleWatchers = [];

  /**
   * @param {object} parts
   * @param {import("./api.js").Api} parts.api
   * @param {import("./unsent.js").Unsent} parts.unsent
   * @param {OnSaved} parts.onSaved
   * @param {<T>(task: () => Promise<T>) => Promise<T>} parts.alone runs a task while no other tab sends
   * @param {(ms: number) => Promise<void>} [parts.pause]
   */
  constructor({ api, unsent, onSaved, alone, pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms)) }) {
    this.#api = api;
    this.#unsent = unsent;
    this.#onSaved = onSaved;
    this.#alone = alone;
    this.#pause = pause;
    this.state = createStore(this.#summary(""));
  }

  /** @param {Omit<Change, "key" | "problem">} change */
  add(change) {
    this.addAll([change]);
  }

  /** @param {Omit<Change, "key" | "problem">[]} changes */
  addAll(changes) {
    for (const change of changes) this.#unsent.add(change, Date.now());
    this.#report(this.state.get().failing);
    this.send();
  }

  /**
   * Changes of an annotation, or of a series, that wait.
   * @param {(change: Change) => boolean} [wanted]
   */
  waiting(wanted = () => true) {
    return this.#unsent.all().filter(wanted);
  }

  /** Send what waits, at once. */
  send() {
    this.#wake?.();
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  /** Resolves once nothing waits but what a person must settle; at once when that is so. */
  whenIdle() {
    return this.#next() ? new Promise((resolve) => this.#idleWatchers.push(() => resolve(undefined))) : Promise.resolve();
  }

  /**
   * Settle a problem: build on the stored version and send again.
   * @param {Change} change
   */
  insist(change) {
    const revision = change.problem?.stored?.revision ?? 0;
    this.#unsent.put({ ...change, revision, problem: null });
    this.#report("");
    this.send();
  }

  /**
   * Settle a problem: drop the change and those that build on it.
   * @param {Change} change
   */
  giveUp(change) {
    for (const { key } of this.waiting(({ id }) => id === change.id)) this.#unsent.remove(key);
    this.#report("");
    this.send();
  }

  async #run() {
    let retryMs = FIRST_RETRY_MS;
    for (let change = this.#next(); change; change = this.#next()) {
      const { key } = change;
      const group = this.#togetherWith(change);
      const failure = await this.#alone(() => (group.length > 1 ? this.#sendGroup(group) : this.#sendOne(key)));
      this.#report(failure ?? "");
      if (failure === null) retryMs = FIRST_RETRY_MS;
      else {
        const woken = new Promise((resolve) => (this.#wake = () => resolve(undefined)));
        await Promise.race([this.#pause(retryMs), woken]);
        this.#wake = null;
        retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
      }
    }
    this.#isRunning = false;
    for (const tell of this.#idleWatchers.splice(0)) tell();
  }

  /** The oldest change that no problem stands before. */
  #next() {
    const all = this.#unsent.all();
    const stuck = new Set(all.filter(({ problem }) => problem).map(({ id }) => id));
    return all.find(({ id }) => !stuck.has(id));
  }

  /**
   * The changes of the same gesture that can go with it in one call.
   * @param {Change} first
   */
  #togetherWith(first) {
    const { gesture, seriesId, author } = first;
    if (gesture === null || this.#apart.has(gesture)) return [first];
    const isSame = (/** @type {Change} */ change) => change.gesture === gesture && change.seriesId === seriesId && change.author === author;
    const same = this.waiting((change) => !change.problem && isSame(change));
    const ids = new Set(same.map(({ id }) => id));
    const isFree = this.waiting(({ id }) => ids.has(id)).length === ids.size;
    return isFree ? same.slice(0, fitting(same)) : [first];
  }

  /**
   * @param {Change[]} group
   * @returns {Promise<string | null>} why it must be tried again; null when it is settled, or goes on one by one
   */
  async #sendGroup(group) {
    const [{ seriesId, author, gesture }] = group;
    const put = group.flatMap(({ id, mark, revision }) => (mark ? [{ ...draftOf(mark), id, revision }] : []));
    const remove = group.flatMap(({ id, mark, revision }) => (mark ? [] : [{ id, revision }]));
    try {
      const answer = await this.#api.post(`/api/series/${seriesId}/annotations/bulk`, { put, delete: remove }, { author, gesture: gesture ?? undefined });
      const stored = new Map(/** @type {Annotation[]} */ (answer.annotations).map((mark) => [mark.id, mark]));
      this.#settleGroup(group, stored, answer);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.isTemporary) return wordsOf(error);
      if (!this.#setAsideOf(group, error)) this.#apart.add(gesture ?? "");
    }
    return null;
  }

  /**
   * Set those of a gesture aside that a refusal of the whole names, so that the others can still go together.
   * @param {Change[]} group
   * @param {ApiError} error
   * @returns {boolean} whether it named any
   */
  #setAsideOf(group, error) {
    /** @type {{id?: string, stored?: Annotation | null}[]} */
    const named = error.status === STALE ? (/** @type {any} */ (error.details).conflicts ?? []) : [error.details];
    const refused = new Map(named.map((each) => [each.id, each]));
    const stuck = group.filter(({ id }) => refused.has(id));
    for (const change of stuck) {
      const problem = { code: error.code, message: error.message, stored: refused.get(change.id)?.stored ?? null };
      this.#unsent.put({ ...change, problem });
    }
    return stuck.length > 0;
  }

  /**
   * @param {Change[]} group
   * @param {Map<string, Annotation>} stored
   * @param {{annotations: Annotation[], deleted: string[]}} answer
   */
  #settleGroup(group, stored, answer) {
    for (const { key } of group) this.#unsent.remove(key);
    this.#rebase(new Map(group.map(({ id }) => [id, stored.get(id)?.revision ?? 0])));
    this.#onSaved(group, answer);
  }

  /**
   * @param {string} key
   * @returns {Promise<string | null>} why it must be tried again; null when it is settled
   */
  async #sendOne(key) {
    const change = this.#unsent.get(key);
    if (!change) return null;
    try {
      this.#settle(change, await this.#call(change));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.isTemporary) return wordsOf(error);
      if (error.status === 404 && change.mark === null) this.#settle(change, null);
      else this.#setAside(change, error);
    }
    return null;
  }

  /**
   * @param {Change} change
   * @returns {Promise<(Annotation & {also?: {annotations: Annotation[], deleted: string[]}}) | null>}
   */
  async #call({ seriesId, id, mark, revision, author, gesture }) {
    const path = `/api/series/${seriesId}/annotations/${id}`;
    const options = { author, gesture: gesture ?? undefined, keepalive: true };
    if (mark) return this.#api.put(path, { ...draftOf(mark), revision }, options);
    await this.#api.delete(path, { ...options, query: { revision } });
    return null;
  }

  /**
   * The server has it, with what gave way to it in an exclusive layer.
   * @param {Change} change
   * @param {(Annotation & {also?: {annotations: Annotation[], deleted: string[]}}) | null} stored
   */
  #settle(change, stored) {
    this.#unsent.remove(change.key);
    this.#rebase(new Map([[change.id, stored?.revision ?? 0]]));
    const also = stored?.also ?? { annotations: [], deleted: [] };
    this.#onSaved([change], { annotations: stored ? [stored, ...also.annotations] : [], deleted: also.deleted });
  }

  /**
   * Later changes of annotations build on what the server stored.
   * @param {Map<string, number>} revisions by id
   */
  #rebase(revisions) {
    for (const later of this.waiting(({ id }) => revisions.has(id))) this.#unsent.put({ ...later, revision: revisions.get(later.id) ?? 0 });
  }

  /**
   * @param {Change} change
   * @param {ApiError} error
   */
  #setAside(change, error) {
    const stored = /** @type {Annotation | null} */ (error.status === STALE ? (error.details.stored ?? null) : null);
    this.#unsent.put({ ...change, problem: { code: error.code, message: error.message, stored } });
  }

  /** @param {string} failing */
  #report(failing) {
    this.state.set(this.#summary(failing));
  }

  /**
   * @param {string} failing
   * @returns {SaveState}
   */
  #summary(failing) {
    const all = this.#unsent.all();
    return { waiting: all.length, failing, isSafe: this.#unsent.isSafe, problems: all.filter(({ problem }) => problem) };
  }
}

/**
 * How many of the first changes fit in one call; one at least.
 * @param {Change[]} changes
 */
function fitting(changes) {
  let letters = 0;
  const full = changes.findIndex(({ mark }) => (letters += JSON.stringify(mark).length) > MOST_LETTERS);
  return Math.max(1, Math.min(MOST_TOGETHER, full < 0 ? changes.length : full));
}

/** @param {ApiError} error */
function wordsOf(error) {
  return error.status === 401 ? "signed out; open the server's link again" : error.message;
}
