// Saving: each change once and in order, through drops, crashes, conflicts and other tabs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULTS, loadSettings } from "../../static/js/model/settings.js";
import { AnnotationBook } from "../../static/js/net/annotation-book.js";
import { Api, ApiError } from "../../static/js/net/api.js";
import { browserStorage, choices } from "../../static/js/net/browser-storage.js";
import { SaveQueue } from "../../static/js/net/save-queue.js";
import { Unsent } from "../../static/js/net/unsent.js";
import { at, FakeStorage, span } from "./chart-builders.js";

/** @typedef {import("../../static/js/model/annotation.js").Annotation} Annotation */

/** A server by the rules of the HTTP API: idempotent PUT, stale revisions refused, undo not needed here. */
class FakeServer {
  /** @type {Map<string, {mark: any, draft: string}>} */
  stored = new Map();
  /** @type {string[]} every call that reached it */
  calls = [];
  /** @type {(call: number) => "" | "before" | "after"} loses a call before or after it was carried out */
  drop = () => "";
  status = 200;
  /** @type {(call: string) => Promise<void>} keeps an answer back after the call was carried out */
  hold = async () => {};

  /** @type {typeof fetch} */
  fetch = async (url, { method = "GET", body, headers } = {}) => {
    const call = `${method} ${String(url)}`;
    this.calls.push(call);
    const lost = this.drop(this.calls.length);
    if (lost === "before") throw new TypeError("Failed to fetch");
    const answer = this.status === 200 ? this.#answer(method, String(url), body, headers) : this.#error(this.status, "down", "not now");
    if (lost === "after") throw new TypeError("Failed to fetch");
    await this.hold(call);
    return answer;
  };

  /**
   * @param {string} method
   * @param {string} url
   * @param {unknown} body
   * @param {any} headers
   */
  #answer(method, url, body, headers) {
    if (url.endsWith("/undo")) return this.#json({ can_undo: this.stored.size > 0, can_redo: false, undo: "draw Long", redo: null });
    if (method === "GET" && url.endsWith("/reviewed")) return this.#json({ items: [] });
    if (method === "GET") return this.#json({ items: [...this.stored.values()].map(({ mark }) => mark) });
    if (url.endsWith("/reviewed")) return this.#json({ items: [] });
    if (url.endsWith("/bulk")) return this.#bulk(JSON.parse(String(body)), headers);
    const { pathname, searchParams } = new URL(url, "http://localhost");
    const id = pathname.split("/").at(-1) ?? "";
    const known = this.stored.get(id);
    if (method === "DELETE") {
      if (!known) return this.#error(404, "not_found", "no such annotation");
      if (Number(searchParams.get("revision")) !== known.mark.revision) return this.#stale(known.mark);
      this.stored.delete(id);
      return this.#json({ deleted: [id] });
    }
    const draft = JSON.parse(String(body));
    if (known?.draft === String(body)) return this.#json(known.mark);
    if (draft.label === "Unknown") return this.#error(422, "invalid_input", "label = 'Unknown': no such label");
    if (draft.revision !== (known?.mark.revision ?? 0)) return this.#stale(known?.mark ?? null);
    const mark = { ...draft, id, revision: draft.revision + 1, author: decodeURIComponent(headers["X-Author"]) };
    this.stored.set(id, { mark, draft: String(body) });
    return this.#json(mark);
  }

  /**
   * @param {{put: any[], delete: {id: string, revision: number}[]}} changes
   * @param {any} headers
   */
  #bulk({ put, delete: remove }, headers) {
    const stale = [...put, ...remove].filter(({ id, revision }) => (this.stored.get(id)?.mark.revision ?? 0) !== revision);
    const conflicts = stale.map(({ id }) => ({ id, stored: this.stored.get(id)?.mark ?? null }));
    if (stale.length) return this.#error(409, "stale_revision", "some of them were changed", { conflicts });
    const unknown = put.find(({ label }) => label === "Unknown");
    if (unknown) return this.#error(422, "invalid_input", "label = 'Unknown': no such label", { id: unknown.id });
    const author = decodeURIComponent(headers["X-Author"]);
    const annotations = put.map((draft) => ({ ...draft, revision: draft.revision + 1, author }));
    for (const mark of annotations) this.stored.set(mark.id, { mark, draft: "" });
    for (const { id } of remove) this.stored.delete(id);
    return this.#json({ annotations, deleted: remove.map(({ id }) => id) });
  }

  /** @param {any} stored */
  #stale(stored) {
    return this.#error(409, "stale_revision", "take the stored one first", { stored });
  }

  /** @param {unknown} body */
  #json(body) {
    return new Response(JSON.stringify(body));
  }

  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {object} [details]
   */
  #error(status, code, message, details = {}) {
    return new Response(JSON.stringify({ error: { code, message, details } }), { status });
  }
}

/**
 * A page with its storage; `again()` is the same browser after a crash.
 * @param {FakeServer} [server]
 * @param {FakeStorage} [storage]
 * @param {string} [author]
 */
function browser(server = new FakeServer(), storage = new FakeStorage(), author = "me") {
  const api = new Api(() => author, server.fetch);
  const unsent = new Unsent(storage);
  const book = new AnnotationBook(
    api,
    (onSaved) => new SaveQueue({ api, unsent, onSaved, alone: (task) => task(), pause: () => new Promise((resolve) => setTimeout(resolve, 0)) }),
    () => author,
  );
  return { server, storage, book, queue: book.queue, again: () => browser(server, storage, author) };
}

/** @param {number} number */
function nth(number) {
  return span({ id: `id-${String(number).padStart(4, "0")}`, start: at(number), end: at(number + 1) });
}

test("a drawn mark is shown at once and stored with the author's name", async () => {
  const { server, book, queue } = browser(new FakeServer(), new FakeStorage(), "Zoë 李");
  await book.open(1);
  book.put(span());
  assert.equal(book.index.get("a")?.revision, 0);
  assert.equal(queue.state.get().waiting, 1);
  await queue.whenIdle();
  assert.equal(book.index.get("a")?.revision, 1);
  assert.equal(server.stored.get("a")?.mark.author, "Zoë 李");
  assert.equal(queue.state.get().waiting, 0);
});

test("changes of one mark build on each other, each sent once, in order", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  book.put(span());
  book.put(span({ label: "Short" }));
  book.put(span({ label: "Short", end: at(5) }));
  await queue.whenIdle();
  const stored = server.stored.get("a")?.mark;
  assert.deepEqual([stored.revision, stored.label, stored.end], [3, "Short", at(5)]);
  assert.equal(server.calls.filter((call) => call.startsWith("PUT")).length, 3);
  assert.equal(book.index.get("a")?.revision, 3);
});

test("500 rapid marks over a link that loses a fifth of the calls: 500 stored, none twice", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  server.drop = (call) => (call % 10 === 3 ? "before" : call % 10 === 7 ? "after" : "");
  for (let number = 0; number < 500; number += 1) book.put(nth(number));
  await queue.whenIdle();
  assert.equal(server.stored.size, 500);
  assert.ok([...server.stored.values()].every(({ mark }) => mark.revision === 1));
  assert.equal(queue.state.get().waiting, 0);
});

test("marks drawn before a crash of the browser are sent by the next page", async () => {
  const first = browser();
  await first.book.open(1);
  first.server.status = 503;
  for (let number = 0; number < 20; number += 1) first.book.put(nth(number));
  const second = first.again();
  first.server.status = 200;
  await second.book.open(1);
  assert.equal(second.book.index.size, 20, "they are shown before they are stored");
  await second.queue.whenIdle();
  assert.equal(second.server.stored.size, 20);
  assert.equal(second.queue.state.get().waiting, 0);
});

test("while the server refuses the sign-in nothing is lost and the page says why", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  server.status = 401;
  book.put(span());
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(queue.state.get().waiting, 1);
  assert.match(queue.state.get().failing, /signed out/);
  server.status = 200;
  queue.send();
  await queue.whenIdle();
  assert.equal(server.stored.size, 1);
  assert.equal(queue.state.get().failing, "");
});

test("a stale edit waits with both versions, other changes go on", async () => {
  const { server, book, queue } = browser();
  server.stored.set("a", { mark: span({ revision: 4, label: "Short", author: "Ada" }), draft: "" });
  await book.open(1);
  server.stored.set("a", { mark: span({ revision: 5, label: "Range", author: "Ada" }), draft: "" });
  book.put(span({ label: "Long" }));
  book.put(nth(7));
  await queue.whenIdle();
  const [problem] = queue.state.get().problems;
  assert.deepEqual([problem.mark?.label, problem.problem?.stored?.label, problem.problem?.stored?.revision], ["Long", "Range", 5]);
  assert.ok(server.stored.has("id-0007"));
});

test("keeping mine stores it on top of the stored one; taking theirs shows theirs", async () => {
  for (const [choice, label, revision] of /** @type {const} */ ([["mine", "Long", 6], ["theirs", "Range", 5]])) {
    const { server, book, queue } = browser();
    server.stored.set("a", { mark: span({ revision: 4 }), draft: "" });
    await book.open(1);
    server.stored.set("a", { mark: span({ revision: 5, label: "Range" }), draft: "" });
    book.put(span({ label: "Long", comment: "mine" }));
    await queue.whenIdle();
    const [change] = queue.state.get().problems;
    if (choice === "mine") queue.insist(change);
    else book.takeStored(change);
    await queue.whenIdle();
    assert.deepEqual([book.index.get("a")?.label, server.stored.get("a")?.mark.revision], [label, revision]);
    assert.equal(queue.state.get().waiting, 0);
  }
});

test("a change that the server refuses for good is set aside with its reason", async () => {
  const { book, queue } = browser();
  await book.open(1);
  book.put(span({ label: "Unknown" }));
  await queue.whenIdle();
  const [change] = queue.state.get().problems;
  assert.match(change.problem?.message ?? "", /Unknown/);
  book.takeStored(change);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(book.index.size, 0);
});

test("a deleted mark is gone at once, and a delete whose answer was lost counts as done", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  book.put(span());
  await queue.whenIdle();
  server.drop = (call) => (server.calls[call - 1].startsWith("DELETE") && server.stored.size ? "after" : "");
  book.removeAll(["a"]);
  assert.equal(book.index.size, 0);
  await queue.whenIdle();
  assert.deepEqual([server.stored.size, queue.state.get().waiting, queue.state.get().problems.length], [0, 0, 0]);
});

test("a change that another tab has sent is not sent again", async () => {
  const first = browser();
  await first.book.open(1);
  first.server.status = 503;
  first.book.put(span());
  const second = first.again();
  first.server.status = 200;
  await Promise.all([first.queue.whenIdle(), second.book.open(1).then(() => second.queue.whenIdle())]);
  assert.equal(first.server.stored.get("a")?.mark.revision, 1);
  assert.equal(second.queue.state.get().problems.length, 0);
});

test("a full browser storage is said, and the mark is still stored on the server", async () => {
  const { server, storage, book, queue } = browser();
  await book.open(1);
  storage.isFull = true;
  server.status = 503;
  book.put(span());
  assert.equal(queue.state.get().isSafe, false);
  server.status = 200;
  await queue.whenIdle();
  assert.equal(server.stored.size, 1);
  assert.equal(queue.state.get().isSafe, true);
});

test("a browser that keeps nothing opens the page all the same, says so, and still sends", async () => {
  const denied = browserStorage(() => {
    throw new Error("denied");
  });
  choices(denied).setItem("annotate.settings", "{}");
  assert.deepEqual(loadSettings(choices(denied)), DEFAULTS);
  const { server, book, queue } = browser(new FakeServer(), /** @type {any} */ (denied));
  await book.open(1);
  server.status = 503;
  book.put(span());
  assert.equal(queue.state.get().isSafe, false);
  server.status = 200;
  await queue.whenIdle();
  assert.equal(server.stored.size, 1);
});

test("changes stay in their order where the clock was set back by hours meanwhile, also in the next page", () => {
  const storage = new FakeStorage();
  const change = { seriesId: 1, id: "a", mark: span(), revision: 0, gesture: null };
  const hour = 3_600_000;
  new Unsent(storage).add({ ...change, author: "first" }, 9 * hour);
  const page = new Unsent(storage);
  page.add({ ...change, author: "second" }, 7 * hour);
  page.add({ ...change, author: "third" }, 7 * hour);
  assert.deepEqual(new Unsent(storage).all().map(({ author }) => author), ["first", "second", "third"]);
});

test("someone else's mark arrives, an older notice changes nothing, a deleted one goes", async () => {
  const { book } = browser();
  await book.open(1);
  book.accept({ id: "a", annotation: span({ revision: 2, label: "Short" }) });
  book.accept({ id: "a", annotation: span({ revision: 1, label: "Long" }) });
  assert.equal(book.index.get("a")?.label, "Short");
  book.accept({ id: "a", annotation: null });
  assert.equal(book.index.size, 0);
});

test("a notice does not undo what this page is about to store", async () => {
  const { server, book } = browser();
  await book.open(1);
  server.status = 503;
  book.put(span({ label: "Range" }));
  book.accept({ id: "a", annotation: span({ revision: 9, label: "Short" }) });
  assert.equal(book.index.get("a")?.label, "Range");
  server.status = 200;
});

test("errors carry the server's words, and no answer is an error of its own", async () => {
  const server = new FakeServer();
  const api = new Api(() => "me", server.fetch);
  server.status = 422;
  await assert.rejects(api.get("/api/x"), (error) => error instanceof ApiError && error.message === "not now" && !error.isTemporary);
  server.status = 200;
  server.drop = () => "before";
  await assert.rejects(api.get("/api/x"), (error) => error instanceof ApiError && error.code === "offline" && error.isTemporary);
});

test("queries leave out what is empty, and an answer that is no JSON is refused", async () => {
  const server = new FakeServer();
  const api = new Api(() => "me", server.fetch);
  await api.get("/api/series/1/annotations", { query: { from: 0, to: null, timeframe: undefined } });
  assert.equal(server.calls[0], "GET /api/series/1/annotations?from=0");
  const odd = new Api(() => "me", async () => new Response("<html>"));
  await assert.rejects(odd.get("/"), /not JSON/);
});

test("what many annotations become in one gesture goes in one call", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  book.putAll(Array.from({ length: 300 }, (_, number) => nth(number)));
  await queue.whenIdle();
  assert.equal(server.stored.size, 300);
  assert.equal(server.calls.filter((call) => call.startsWith("POST")).length, 1);
  book.removeAll(book.index.all().slice(0, 299).map(({ id }) => id));
  await queue.whenIdle();
  assert.deepEqual([...server.stored.keys()], ["id-0299"]);
  assert.equal(book.index.size, 1);
  assert.equal(queue.state.get().waiting, 0);
});

test("where one of many was changed by someone else, only that one waits for a person", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  book.putAll([nth(0), nth(1), nth(2)]);
  await queue.whenIdle();
  const theirs = server.stored.get("id-0001");
  assert.ok(theirs);
  theirs.mark = { ...theirs.mark, revision: 2, label: "Noise", updated_by: "Ada" };
  book.putAll(book.index.all().map((mark) => ({ ...mark, label: "Short" })));
  await queue.whenIdle();
  const labels = [...server.stored.values()].map(({ mark }) => mark.label);
  assert.deepEqual(labels.sort(), ["Noise", "Short", "Short"]);
  const { problems, waiting } = queue.state.get();
  assert.deepEqual([problems.length, waiting, problems[0].problem?.stored?.updated_by], [1, 1, "Ada"]);
});

test("of thousands in one gesture those that the server refuses are set aside and the rest still goes together", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  const many = Array.from({ length: 2500 }, (_, place) => ({ ...nth(place), comment: "x".repeat(1000) }));
  many[700] = { ...many[700], label: "Unknown" };
  book.putAll(many);
  await queue.whenIdle();
  assert.equal(server.stored.size, 2499);
  assert.equal(server.calls.filter((call) => call.endsWith("/bulk")).length, 3, "two parts by their length, one of them twice");
  assert.ok(!server.calls.some((call) => call.startsWith("PUT")));
  assert.deepEqual(queue.state.get().problems.map(({ id, problem }) => [id, problem?.message]), [[many[700].id, "label = 'Unknown': no such label"]]);
});

test("what something else wrote among the waiting changes is left alone and stops nothing", async () => {
  const storage = new FakeStorage();
  for (const text of ["{half", "null", "7", '{"mark": 1}']) storage.setItem(`annotate.unsent.${text.length}`, text);
  assert.deepEqual(new Unsent(storage).all(), []);
  assert.equal(storage.length, 4);
});

test("many marks made while offline are sent together, once, when the server is back", async () => {
  const first = browser();
  await first.book.open(1);
  first.server.drop = (call) => (call % 2 ? "after" : "before");
  first.book.putAll([nth(0), nth(1)]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = first.again();
  first.server.drop = () => "";
  await second.book.open(1);
  await second.queue.whenIdle();
  assert.deepEqual([...first.server.stored.values()].map(({ mark }) => mark.revision), [1, 1]);
});

test("a mark that is stored while an older list is on its way stays on the page, and a deleted one stays away", async () => {
  const { server, book, queue } = browser();
  await book.open(1);
  book.putAll([nth(0), nth(1)]);
  await queue.whenIdle();
  let arrive = () => {};
  const late = new Promise((resolve) => (arrive = () => resolve(undefined)));
  server.hold = async (call) => void (call === "GET /api/series/1/annotations" && (await late));
  const refreshed = book.refresh();
  await new Promise((resolve) => setTimeout(resolve, 0));
  book.put(nth(2));
  book.removeAll(["id-0000"]);
  await queue.whenIdle();
  arrive();
  await refreshed;
  assert.deepEqual(book.index.all().map(({ id }) => id), ["id-0001", "id-0002"]);
});
