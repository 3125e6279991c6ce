// The page's one connection to the server's events: rooms, credit, and a state that a person can see. No DOM.

import { RunFollower } from "./run-follower.js";

/** @typedef {import("../model/events.js").RunEvent} RunEvent */
/** @typedef {import("./run-follower.js").FetchEvents} FetchEvents */
/** @typedef {import("./run-follower.js").OnEvents} OnEvents */
/** @typedef {"connecting" | "live" | "reconnecting" | "refused"} LinkState */

/**
 * The part of a Socket.IO client that is used here.
 * @typedef {object} SocketLike
 * @property {boolean} connected
 * @property {(name: string, handler: (...given: any[]) => void) => unknown} on
 * @property {(name: string, ...given: any[]) => unknown} emit
 */

/** Joins rooms again after each cut, then fetches what was missed; acknowledges each message, which is its credit. */
export class Link {
  /** @type {LinkState} */
  #state = "connecting";
  /** @type {Set<(state: LinkState) => void>} */
  #watchers = new Set();
  /** @type {Map<number, RunFollower>} */
  #runs = new Map();
  /** @type {Map<number, Set<(message: unknown) => void>>} */
  #series = new Map();
  #socket;
  #fetchEvents;
  #author;

  /**
   * @param {SocketLike} socket
   * @param {FetchEvents} fetchEvents
   * @param {() => string} author whose replay and blind pass decide what may be told
   */
  constructor(socket, fetchEvents, author) {
    this.#socket = socket;
    this.#fetchEvents = fetchEvents;
    this.#author = author;
    socket.on("connect", () => this.#connected());
    socket.on("disconnect", () => this.#setState("reconnecting"));
    socket.on("connect_error", (/** @type {unknown} */ error) => this.#failed(error));
    socket.on("events", (message, acknowledge) => this.#events(message, acknowledge));
    socket.on("series", (message, acknowledge) => this.#seriesChanged(message, acknowledge));
    if (socket.connected) this.#connected();
  }

  /** @returns {LinkState} */
  get state() {
    return this.#state;
  }

  /**
   * Be told the state now and whenever it changes.
   * @param {(state: LinkState) => void} watcher
   */
  onState(watcher) {
    this.#watchers.add(watcher);
    watcher(this.#state);
  }

  /**
   * Follow a run from its first event.
   * @param {number} runId
   * @param {OnEvents} onEvents
   * @returns {RunFollower}
   */
  followRun(runId, onEvents) {
    this.leaveRun(runId);
    const follower = new RunFollower(runId, this.#fetchEvents, onEvents);
    this.#runs.set(runId, follower);
    if (this.#socket.connected) this.#joinRun(follower);
    else void follower.catchUp();
    return follower;
  }

  /** @param {number} runId */
  leaveRun(runId) {
    const follower = this.#runs.get(runId);
    if (follower === undefined) return;
    follower.close();
    this.#runs.delete(runId);
    if (this.#socket.connected) this.#socket.emit("leave", { run_id: runId });
  }

  /**
   * Be told when something of a series changed (annotations of another tab, new candles). A message without `what`
   * comes each time the room was joined: what was missed before has to be asked for.
   * @param {number} seriesId
   * @param {(message: unknown) => void} onChange
   * @returns {() => void} ends it
   */
  followSeries(seriesId, onChange) {
    const watchers = this.#series.get(seriesId) ?? new Set();
    this.#series.set(seriesId, watchers.add(onChange));
    if (this.#socket.connected) this.#joinSeries(seriesId, [onChange]);
    return () => this.#leaveSeries(seriesId, onChange);
  }

  /**
   * @param {number} seriesId
   * @param {(message: unknown) => void} onChange
   */
  #leaveSeries(seriesId, onChange) {
    const watchers = this.#series.get(seriesId);
    watchers?.delete(onChange);
    if (watchers === undefined || watchers.size > 0) return;
    this.#series.delete(seriesId);
    if (this.#socket.connected) this.#socket.emit("leave", { series_id: seriesId });
  }

  /** Join again what is followed: somebody else does now, who may be told more or less. */
  rejoin() {
    if (!this.#socket.connected) return;
    for (const follower of this.#runs.values()) this.#joinRun(follower);
    for (const [seriesId, watchers] of this.#series) this.#joinSeries(seriesId, watchers);
  }

  #connected() {
    this.rejoin();
    this.#setState("live");
  }

  /** @param {RunFollower} follower */
  #joinRun(follower) {
    // First the room, then the stored events: what is sent between the two comes twice and never not at all.
    this.#socket.emit("join", { run_id: follower.runId, author: this.#author() }, () => void follower.catchUp());
  }

  /**
   * @param {number} seriesId
   * @param {Iterable<(message: unknown) => void>} watchers who are told once the room is joined
   */
  #joinSeries(seriesId, watchers) {
    // As with runs: the room first, then what is stored.
    this.#socket.emit("join", { series_id: seriesId, author: this.#author() }, () => {
      for (const watcher of watchers) watcher({ series_id: seriesId });
    });
  }

  /** @param {unknown} error */
  #failed(error) {
    const words = error instanceof Error ? error.message : "";
    this.#setState(words === "not_authorised" ? "refused" : "reconnecting");
  }

  /**
   * @param {{run_id: number, items: RunEvent[]}} message
   * @param {(() => void) | undefined} acknowledge
   */
  #events(message, acknowledge) {
    try {
      this.#runs.get(message.run_id)?.receive(message.items);
    } finally {
      acknowledge?.(); // the credit goes back even if a panel failed to paint, else the run would stand still here
    }
  }

  /**
   * @param {{series_id: number, items: object[]}} message
   * @param {(() => void) | undefined} acknowledge
   */
  #seriesChanged({ series_id: seriesId, items }, acknowledge) {
    try {
      for (const notice of items) for (const watcher of this.#series.get(seriesId) ?? []) watcher({ series_id: seriesId, ...notice });
    } finally {
      acknowledge?.();
    }
  }

  /** @param {LinkState} state */
  #setState(state) {
    if (state === this.#state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher(state);
  }
}
