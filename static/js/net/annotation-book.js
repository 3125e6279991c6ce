// The annotations of the open series: shown at once, stored by the queue, undone by the server.

import { isNews } from "../model/annotation.js";
import { MarkIndex } from "../model/mark-index.js";
import { createStore } from "../model/store.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("./unsent.js").Change} Change */
/** @typedef {{can_undo: boolean, can_redo: boolean, undo: string | null, redo: string | null}} UndoState */

/**
 * @typedef {object} BookState
 * @property {MarkIndex} index
 * @property {boolean} isLoading
 * @property {unknown} error why they could not be loaded
 */

/** @type {UndoState} */
const NOTHING = { can_undo: false, can_redo: false, undo: null, redo: null };

/** Holds the annotations of one series at a time. */
export class AnnotationBook {
  #api;
  #queue;
  #author;
  /** @type {number | null} */
  #seriesId = null;
  #opened = 0;
  /** @type {Set<{shown: Map<string, Annotation>, gone: Set<string>}>} what came while an answer to `refresh` was on its way */
  #meanwhile = new Set();

  /**
   * @param {import("./api.js").Api} api
   * @param {(onSaved: import("./save-queue.js").OnSaved) => import("./save-queue.js").SaveQueue} makeQueue
   * @param {() => string} author
   */
  constructor(api, makeQueue, author) {
    this.#api = api;
    this.#author = author;
    this.#queue = makeQueue((changes, answer) => this.#saved(changes, answer));
    this.state = createStore(/** @type {BookState} */ ({ index: new MarkIndex(), isLoading: false, error: null }));
    this.undoState = createStore(NOTHING);
    /** What trades came to, by id; filled once the server has reckoned it. */
    this.worth = createStore(/** @type {Map<string, import("../model/worth.js").TradeResult>} */ (new Map()));
    /** Ranges that this author looked through, with or without marks. */
    this.reviewed = createStore(/** @type {{from: number, to: number}[]} */ ([]));
  }

  get queue() {
    return this.#queue;
  }

  /** @returns {MarkIndex} */
  get index() {
    return this.state.get().index;
  }

  /**
   * Load a series' annotations, with the changes that still wait laid over them.
   * @param {number | null} seriesId
   */
  async open(seriesId) {
    this.#seriesId = seriesId;
    this.#opened += 1;
    const opened = this.#opened;
    this.state.set({ index: new MarkIndex(), isLoading: seriesId !== null, error: null });
    this.undoState.set(NOTHING);
    this.reviewed.set([]);
    this.worth.set(new Map());
    if (seriesId === null) return;
    await this.refresh();
    if (opened === this.#opened) this.#queue.send();
  }

  /** Ask again for what is open, which stays on the page meanwhile: names may have changed, or notices were missed. */
  async refresh() {
    const [seriesId, opened] = [this.#seriesId, this.#opened];
    if (seriesId === null) return;
    const meanwhile = { shown: new Map(), gone: new Set() };
    this.#meanwhile.add(meanwhile);
    try {
      const { items } = await this.#api.get(`/api/series/${seriesId}/annotations`);
      const index = withNewer(new MarkIndex(items), meanwhile);
      if (opened === this.#opened) this.state.set({ index: this.#withWaiting(index), isLoading: false, error: null });
    } catch (error) {
      if (opened === this.#opened) this.#change({ isLoading: false, error });
    } finally {
      this.#meanwhile.delete(meanwhile);
    }
    await Promise.all([this.refreshUndo(), this.refreshReviewed()]);
  }

  /** Load again what is open. */
  reload() {
    return this.open(this.#seriesId);
  }

  /**
   * Show an annotation and store it.
   * @param {Annotation} mark
   * @param {string} [gesture] shared by the calls of one gesture
   */
  put(mark, gesture) {
    if (this.#seriesId === null) return;
    const revision = this.index.get(mark.id)?.revision ?? 0;
    this.#change({ index: this.index.with({ ...mark, revision }) });
    this.#queue.add({ ...this.#signed(mark.id, gesture), mark, revision });
  }

  /**
   * Show and store many as one gesture.
   * @param {Annotation[]} marks
   */
  putAll(marks) {
    if (this.#seriesId === null || marks.length === 0) return;
    const gesture = marks.length > 1 ? crypto.randomUUID() : undefined;
    const revised = marks.map((mark) => ({ ...mark, revision: this.index.get(mark.id)?.revision ?? 0 }));
    this.#change({ index: this.index.with(...revised) });
    this.#queue.addAll(revised.map((mark) => ({ ...this.#signed(mark.id, gesture), mark, revision: mark.revision })));
  }

  /**
   * Take many away as one gesture.
   * @param {string[]} ids
   */
  removeAll(ids) {
    const known = ids.flatMap((id) => this.index.get(id) ?? []);
    const gesture = known.length > 1 ? crypto.randomUUID() : undefined;
    this.#change({ index: this.index.without(...ids) });
    this.#queue.addAll(known.map(({ id, revision }) => ({ ...this.#signed(id, gesture), mark: null, revision })));
  }

  /**
   * Take back this author's last gesture, or make it again.
   * @param {"undo" | "redo"} direction
   * @param {boolean} [skip] leaves out a step that cannot be done, since someone changed the mark
   * @returns {Promise<string | null>} what it did, in words; null when there was nothing to do
   */
  async step(direction, skip = false) {
    const seriesId = this.#seriesId;
    if (seriesId === null) return null;
    await this.#queue.whenIdle();
    const answer = await this.#api.post(`/api/series/${seriesId}/${direction}`, skip ? { skip: true } : undefined);
    if (seriesId === this.#seriesId) {
      this.#note(answer.annotations, answer.deleted);
      this.#change({ index: this.index.with(...answer.annotations).without(...answer.deleted) });
      this.undoState.set({ can_undo: answer.can_undo, can_redo: answer.can_redo, undo: answer.undo, redo: answer.redo });
      void this.refreshReviewed();
    }
    return direction === "undo" ? answer.undone : answer.redone;
  }

  /**
   * Take a notice that someone changed an annotation; one that this browser is changing itself waits for its own answer.
   * @param {{id: string, annotation: Annotation | null}} notice
   */
  accept({ id, annotation }) {
    this.#note(annotation ? [annotation] : [], annotation ? [] : [id]);
    if (this.#queue.waiting((change) => change.id === id).length) return;
    const known = this.index.get(id);
    if (annotation && known && !isNews(annotation, known)) return;
    this.#change({ index: annotation ? this.index.with(annotation) : this.index.without(id) });
  }

  /**
   * Drop a change that was refused and show what is stored.
   * @param {Change} change
   */
  takeStored(change) {
    const stored = change.problem?.stored ?? null;
    this.#queue.giveUp(change);
    if (change.seriesId !== this.#seriesId) return;
    if (change.problem?.code === "stale_revision") {
      this.#change({ index: stored ? this.index.with(stored) : this.index.without(change.id) });
    } else void this.reload();
  }

  /**
   * Say that this author looked through a range, or did not.
   * @param {{from: number, to: number}} range
   * @param {boolean} isReviewed
   */
  async setReviewed({ from, to }, isReviewed) {
    const seriesId = this.#seriesId;
    const { items } = await this.#api.put(`/api/series/${seriesId}/reviewed`, { start: from, end: to, reviewed: isReviewed });
    if (seriesId === this.#seriesId) this.reviewed.set(rangesOf(items));
    await this.refreshUndo();
  }

  /**
   * Give a verdict on another person's annotation.
   * @param {string} id
   * @param {object} verdict
   */
  async review(id, verdict) {
    const seriesId = this.#seriesId;
    const mark = await this.#api.put(`/api/series/${seriesId}/annotations/${id}/review`, verdict);
    if (seriesId === this.#seriesId) this.#change({ index: this.index.with(mark) });
  }

  /**
   * One of this author's that says the same of the same place.
   * @param {Annotation} mark
   */
  twinOf(mark) {
    return this.index.twin(mark, this.#author());
  }

  /** Ask which ranges this author looked through. */
  async refreshReviewed() {
    const seriesId = this.#seriesId;
    if (seriesId === null) return;
    try {
      const { items } = await this.#api.get(`/api/series/${seriesId}/reviewed`);
      const mine = items.filter((/** @type {{author: string}} */ { author }) => author === this.#author());
      if (seriesId === this.#seriesId) this.reviewed.set(rangesOf(mine));
    } catch {
      // The line of looked-through ranges stays as it is; the annotations say by themselves what fails.
    }
  }

  /** Ask what undo and redo would do. */
  async refreshUndo() {
    const seriesId = this.#seriesId;
    if (seriesId === null) return;
    try {
      const state = await this.#api.get(`/api/series/${seriesId}/undo`);
      if (seriesId === this.#seriesId) this.undoState.set(state);
    } catch {
      // Undo still works by its key; the buttons are told again after the next change.
      if (seriesId === this.#seriesId) this.undoState.set({ ...NOTHING, can_undo: true, can_redo: true });
    }
  }

  /** @type {import("./save-queue.js").OnSaved} */
  #saved(changes, { annotations, deleted }) {
    if (changes[0]?.seriesId !== this.#seriesId) return;
    const removed = changes.filter(({ mark }) => mark === null).map(({ id }) => id);
    this.#note(annotations, [...deleted, ...removed]);
    const isWaiting = new Set(this.#queue.waiting().map(({ id }) => id));
    const shown = annotations.flatMap((mark) => {
      if (!isWaiting.has(mark.id)) return [mark];
      const later = this.index.get(mark.id);
      return later ? [{ ...later, revision: mark.revision }] : [];
    });
    const gone = deleted.filter((id) => !isWaiting.has(id));
    if (shown.length || gone.length) this.#change({ index: this.index.with(...shown).without(...gone) });
    if (isWaiting.size === 0) void this.refreshUndo();
  }

  /**
   * Remember what the server said while an older answer may be on its way.
   * @param {Annotation[]} annotations
   * @param {string[]} deleted
   */
  #note(annotations, deleted) {
    for (const { shown, gone } of this.#meanwhile) {
      for (const mark of annotations) shown.set(mark.id, mark);
      for (const id of deleted) gone.add(id);
    }
  }

  /** @param {MarkIndex} index */
  #withWaiting(index) {
    const waiting = this.#queue.waiting(({ seriesId }) => seriesId === this.#seriesId);
    const last = new Map(waiting.map((change) => [change.id, change]));
    const changes = [...last.values()];
    const shown = changes.flatMap(({ id, mark, revision }) => (mark ? [{ ...mark, revision: index.get(id)?.revision ?? revision }] : []));
    return index.with(...shown).without(...changes.filter(({ mark }) => mark === null).map(({ id }) => id));
  }

  /**
   * @param {string} id
   * @param {string} [gesture]
   */
  #signed(id, gesture) {
    return { seriesId: Number(this.#seriesId), id, author: this.#author(), gesture: gesture ?? null };
  }

  /** @param {Partial<BookState>} part */
  #change(part) {
    this.state.update((now) => ({ ...now, ...part }));
  }
}

/**
 * An answer with what is newer than it.
 * @param {MarkIndex} index
 * @param {{shown: Map<string, Annotation>, gone: Set<string>}} meanwhile
 */
function withNewer(index, { shown, gone }) {
  const newer = [...shown.values()].filter((mark) => mark.revision > (index.get(mark.id)?.revision ?? 0) && !gone.has(mark.id));
  return index.with(...newer).without(...gone);
}

/** @param {{start: number, end: number}[]} items */
function rangesOf(items) {
  return items.map(({ start, end }) => ({ from: start, to: end }));
}
