// Opens the page's Socket.IO connection; the cookie of the page lets it in, each joining names the author.

import { io } from "../../vendor/socket.io.esm.min.js";

import { KEEP_EVENTS } from "../model/events.js";
import { Link } from "./link.js";

/** @typedef {import("./api.js").Api} Api */

/**
 * Connect, and keep connecting.
 * @param {Api} api reads stored events
 * @param {() => string} author
 * @returns {Link}
 */
export function connect(api, author) {
  const socket = io({ transports: ["websocket", "polling"], tryAllTransports: true, reconnectionDelayMax: 2000 });
  // Of a run of weeks the page reads the newest candles only; its other events, which are few, come all.
  const query = { candles: KEEP_EVENTS };
  return new Link(socket, (runId, after, limit) => api.get(`/api/runs/${runId}/events`, { query: { ...query, after, limit } }), author);
}
