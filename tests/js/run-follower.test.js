// Following a run: whatever the socket loses or doubles, the list equals the stored one.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Link } from "../../static/js/net/link.js";
import { RunFollower } from "../../static/js/net/run-follower.js";
import { storedBatches } from "./builders.js";

const me = () => "me";

/** @typedef {import("../../static/js/model/events.js").RunEvent} RunEvent */

/** A server's store of one run; events become visible as they are stored. */
class Store {
  /** @type {RunEvent[]} */
  stored = [];
  fetches = 0;
  failures = 0;

  /** @type {import("../../static/js/net/run-follower.js").FetchEvents} */
  fetch = async (_runId, after, limit) => {
    this.fetches += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failures > 0) {
      this.failures -= 1;
      throw new TypeError("the server cannot be reached");
    }
    return { items: this.stored.filter((event) => event.seq > after).slice(0, limit) };
  };
}

/** A socket that is driven by hand: it can be cut, and what is sent while it is cut is lost. */
class HandSocket {
  connected = false;
  /** @type {Map<string, (...given: any[]) => void>} */
  #handlers = new Map();
  /** @type {string[]} */
  joined = [];

  /** @type {import("../../static/js/net/link.js").SocketLike["on"]} */
  on = (name, handler) => this.#handlers.set(name, handler);

  /** @type {import("../../static/js/net/link.js").SocketLike["emit"]} */
  emit = (name, payload, acknowledge) => {
    if (name === "join") this.joined.push(JSON.stringify(payload));
    acknowledge?.();
  };

  connect() {
    this.connected = true;
    this.#handlers.get("connect")?.();
  }

  cut() {
    this.connected = false;
    this.joined = [];
    this.#handlers.get("disconnect")?.("transport close");
  }

  acknowledged = 0;

  /** @param {RunEvent[]} items */
  deliver(items) {
    if (this.connected) this.#handlers.get("events")?.({ run_id: 1, items }, () => (this.acknowledged += 1));
  }
}

/** @param {() => boolean} holds */
async function until(holds) {
  const end = Date.now() + 3000;
  while (!holds()) {
    assert.ok(Date.now() < end, "it never came true");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

test("a hole in what the socket brought is fetched", async () => {
  const store = new Store();
  store.stored = storedBatches(6);
  /** @type {number[]} */
  const seen = [];
  const follower = new RunFollower(1, store.fetch, (events) => seen.push(...events.map((event) => event.seq)));
  follower.receive(store.stored.slice(0, 2));
  follower.receive(store.stored.slice(4));
  await until(() => seen.length === 6);
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6]);
});

test("a long run is fetched in pages, each event once", async () => {
  const store = new Store();
  store.stored = storedBatches(4500);
  const follower = new RunFollower(1, store.fetch, () => undefined);
  await follower.catchUp();
  assert.deepEqual(follower.items, store.stored);
  assert.equal(store.fetches, 3);
});

test("a server that does not answer is asked again", async () => {
  const store = new Store();
  store.stored = storedBatches(3);
  store.failures = 1;
  const follower = new RunFollower(1, store.fetch, () => undefined);
  await follower.catchUp();
  assert.equal(follower.items.length, 0);
  await until(() => follower.items.length === 3);
});

test("after eight cuts the page's list equals the stored one", async () => {
  const store = new Store();
  const socket = new HandSocket();
  const link = new Link(socket, store.fetch, me);
  socket.connect();
  const follower = link.followRun(1, () => undefined);
  const all = storedBatches(400);
  for (const [index, event] of all.entries()) {
    store.stored.push(event);
    if (index % 50 === 20) socket.cut();
    if (index % 50 === 35) socket.connect();
    if (index % 7 !== 3) socket.deliver([event]); // some messages get lost, some come twice
    if (index % 11 === 5) socket.deliver(all.slice(Math.max(0, index - 3), index + 1));
    if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => follower.items.length === all.length);
  assert.deepEqual(follower.items, all);
});

test("each message is acknowledged, even when a panel fails on it", () => {
  const socket = new HandSocket();
  const link = new Link(socket, new Store().fetch, me);
  socket.connect();
  link.followRun(1, () => {
    throw new Error("a panel failed");
  });
  assert.throws(() => socket.deliver(storedBatches(1)), /a panel failed/);
  assert.equal(socket.acknowledged, 1);
});

test("the state is said: connecting, live, reconnecting, and rooms are joined again", () => {
  const socket = new HandSocket();
  const link = new Link(socket, new Store().fetch, me);
  /** @type {string[]} */
  const states = [];
  link.onState((state) => states.push(state));
  socket.connect();
  link.followRun(1, () => undefined);
  link.followSeries(4, () => undefined);
  socket.cut();
  socket.connect();
  assert.deepEqual(states, ["connecting", "live", "reconnecting", "live"]);
  assert.deepEqual(socket.joined, ['{"run_id":1,"author":"me"}', '{"series_id":4,"author":"me"}']);
});

test("a run that was left hands nothing on", async () => {
  const store = new Store();
  store.stored = storedBatches(2);
  const socket = new HandSocket();
  const link = new Link(socket, store.fetch, me);
  socket.connect();
  let heard = 0;
  link.followRun(1, () => (heard += 1));
  link.leaveRun(1);
  socket.deliver(store.stored);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(heard, 0);
});

test("who follows a series is told once its room is joined, and again after each cut, so that nothing in between is missed", async () => {
  const socket = new HandSocket();
  const link = new Link(socket, new Store().fetch, me);
  let told = 0;
  link.followSeries(4, () => (told += 1));
  assert.equal(told, 0, "there is no connection yet");
  socket.connect();
  await until(() => told === 1);
  socket.cut();
  socket.connect();
  await until(() => told === 2);
});

test("whoever follows is named, and rooms are joined again when somebody else does", () => {
  const socket = new HandSocket();
  let author = "Ann";
  const link = new Link(socket, new Store().fetch, () => author);
  link.followSeries(4, () => undefined);
  link.rejoin();
  assert.deepEqual(socket.joined, [], "there is no connection yet");
  socket.connect();
  author = "Ben";
  link.rejoin();
  assert.deepEqual(socket.joined, ['{"series_id":4,"author":"Ann"}', '{"series_id":4,"author":"Ben"}']);
});
