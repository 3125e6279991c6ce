// The one way to call the server: JSON in and out, one error shape, the author's name on every call.

const OFFLINE = "the server does not answer; check that it runs and that the network is up";

/** A call that the server refused or that never reached it. */
export class ApiError extends Error {
  /**
   * @param {number} status HTTP status; 0 when there was no answer
   * @param {string} code the error's name on the wire, such as `conflict` or `offline`
   * @param {string} message written for a person
   * @param {Record<string, unknown>} [details]
   */
  constructor(status, code, message, details = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** Whether the same call may succeed later: no answer, a busy or failing server, or a lapsed sign-in. */
  get isTemporary() {
    return this.status === 0 || this.status === 401 || this.status === 429 || this.status >= 500;
  }
}

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal]
 * @property {Record<string, string | number | boolean | null | undefined>} [query] empty values are left out
 * @property {BodyInit} [body] a raw body, such as FormData
 * @property {boolean} [keepalive] finish the call even when the page goes away
 * @property {string} [author] the author at the time of the gesture, where the call comes later
 * @property {string} [gesture] UUID that the calls of one gesture share, so that one undo takes them all back
 */

/** Calls under `/api` and beside it. */
export class Api {
  #author;
  #fetch;

  /**
   * @param {() => string} author gives the name in `X-Author`
   * @param {typeof fetch} [fetcher]
   */
  constructor(author, fetcher = (...call) => fetch(...call)) {
    this.#author = author;
    this.#fetch = fetcher;
  }

  /**
   * @param {string} path
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  get(path, options) {
    return this.#call("GET", path, undefined, options);
  }

  /**
   * @param {string} path
   * @param {unknown} [json]
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  post(path, json, options) {
    return this.#call("POST", path, json, options);
  }

  /**
   * @param {string} path
   * @param {unknown} json
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  put(path, json, options) {
    return this.#call("PUT", path, json, options);
  }

  /**
   * @param {string} path
   * @param {unknown} json
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  patch(path, json, options) {
    return this.#call("PATCH", path, json, options);
  }

  /**
   * @param {string} path
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  delete(path, options) {
    return this.#call("DELETE", path, undefined, options);
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} json
   * @param {CallOptions} [options]
   */
  async #call(method, path, json, options = {}) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json", "X-Author": encodeURIComponent(options.author ?? this.#author()) };
    if (options.gesture) headers["X-Gesture"] = options.gesture;
    if (json !== undefined) headers["Content-Type"] = "application/json";
    const body = json === undefined ? options.body : JSON.stringify(json);
    const { signal, keepalive } = options;
    const response = await this.#reach(path + queryText(options.query), { method, headers, body, signal, keepalive });
    return answerOf(response);
  }

  /**
   * @param {string} url
   * @param {RequestInit} request
   */
  async #reach(url, request) {
    try {
      return await this.#fetch(url, request);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiError(0, "offline", OFFLINE);
    }
  }
}

/**
 * Whether an error is only a call that was given up on purpose.
 * @param {unknown} error
 */
export function isAborted(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @param {CallOptions["query"]} query */
function queryText(query) {
  if (!query) return "";
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** @param {Response} response */
async function answerOf(response) {
  const text = await response.text();
  const json = parsed(text);
  if (response.ok && (json !== undefined || text === "")) return json ?? null;
  if (response.ok) throw new ApiError(response.status, "not_json", "the server's answer is not JSON; load the page again");
  const { code = "http", message, details } = /** @type {any} */ (json)?.error ?? {};
  throw new ApiError(response.status, code, message ?? `the server answered ${response.status} ${response.statusText}`, details);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
