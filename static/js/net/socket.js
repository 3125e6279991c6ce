// Opens the page's Socket.IO connection; the cookie of the page says who it is.

import { io } from "../../vendor/socket.io.esm.min.js";

import { Link } from "./link.js";

/** @typedef {import("./api.js").Api} Api */

/**
 * Connect, and keep connecting.
 * @param {Api} api reads stored events
 * @returns {Link}
 */
export function connect(api) {
  const socket = io({ transports: ["websocket", "polling"], tryAllTransports: true, reconnectionDelayMax: 2000 });
  return new Link(socket, (runId, after, limit) => api.get(`/api/runs/${runId}/events`, { query: { after, limit } }));
}
