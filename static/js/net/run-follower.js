// Follows one run so that the page's list of events equals the stored one, after any number of cuts. No DOM.

import { EventList } from "../model/events.js";

/** @typedef {import("../model/events.js").RunEvent} RunEvent */
/** @typedef {{items: RunEvent[]}} EventPage */
/** @typedef {(runId: number, after: number, limit: number) => Promise<EventPage>} FetchEvents */
/** @typedef {(events: RunEvent[]) => void} OnEvents */

const PAGE_LIMIT = 2000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;

/** One followed run: stored events come by HTTP, new ones by the socket; each is handed on once, in order. */
export class RunFollower {
  #list = new EventList();
  #runId;
  #fetchEvents;
  #onEvents;
  #fetching = false;
  #again = false;
  #closed = false;
  #retryMs = FIRST_RETRY_MS;

  /**
   * @param {number} runId
   * @param {FetchEvents} fetchEvents gives stored events after a number; rejects when the server cannot be reached
   * @param {OnEvents} onEvents gets each event once, in order
   */
  constructor(runId, fetchEvents, onEvents) {
    this.#runId = runId;
    this.#fetchEvents = fetchEvents;
    this.#onEvents = onEvents;
  }

  /** @returns {readonly RunEvent[]} */
  get items() {
    return this.#list.items;
  }

  /** @returns {number} */
  get runId() {
    return this.#runId;
  }

  /** Hand nothing on any more. */
  close() {
    this.#closed = true;
  }

  /**
   * Take what the socket brought; a hole is refetched.
   * @param {RunEvent[]} items
   */
  receive(items) {
    this.#take(items);
    if (this.#list.hasHole) void this.catchUp();
  }

  /**
   * Fetch every stored event after the last one that is here; tries again until the server answers.
   * @returns {Promise<void>}
   */
  async catchUp() {
    if (this.#fetching) {
      this.#again = true;
      return;
    }
    this.#fetching = true;
    try {
      do {
        this.#again = false;
        await this.#fetchPages();
      } while (this.#again && !this.#closed);
      this.#retryMs = FIRST_RETRY_MS;
    } catch (error) {
      this.#retryLater(error);
    } finally {
      this.#fetching = false;
    }
  }

  async #fetchPages() {
    for (;;) {
      const page = await this.#fetchEvents(this.#runId, this.#list.last, PAGE_LIMIT);
      this.#take(page.items, page.items.at(-1)?.seq);
      if (page.items.length < PAGE_LIMIT || this.#closed) return;
    }
  }

  /** @param {unknown} error */
  #retryLater(error) {
    const gone = error instanceof Object && "status" in error && error.status === 404;
    if (this.#closed || gone) return;
    setTimeout(() => void this.catchUp(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  /**
   * @param {RunEvent[]} items
   * @param {number} [completeTo] a page of the store has every event up to its last one
   */
  #take(items, completeTo) {
    if (this.#closed) return;
    const fresh = this.#list.add(items, completeTo);
    if (fresh.length > 0) this.#onEvents(fresh);
  }
}
