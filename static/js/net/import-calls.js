// An import over HTTP: the file is sent with progress, then read in the background and followed to its end. No DOM.

import { ApiError } from "./api.js";

/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("../model/import-result.js").Made} Made */

/**
 * A file that the server holds.
 * @typedef {object} Held
 * @property {string} id
 * @property {string} filename
 * @property {"received" | "importing" | "finished" | "cancelled" | "failed"} state
 * @property {number} progress 0 to 1
 * @property {{code: string, message: string, details: Record<string, unknown>} | null} error
 * @property {Made[]} items
 */

const FIRST_LOOK_MS = 60;
const LAST_LOOK_MS = 500;

/**
 * Send a file as it is; `fetch` tells nothing of how far it is, so this is the older call.
 * @param {File} file
 * @param {(share: number) => void} onProgress
 * @param {AbortSignal} signal
 * @returns {Promise<Held>}
 */
export function sendFile(file, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open("POST", `/api/uploads?${new URLSearchParams({ filename: file.name })}`);
    call.setRequestHeader("Content-Type", "application/octet-stream");
    call.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    call.addEventListener("load", () => settle(call, resolve, reject));
    call.addEventListener("error", () => reject(new ApiError(0, "offline", "the server did not take the file; check that it runs")));
    call.addEventListener("abort", () => reject(new DOMException("called off", "AbortError")));
    signal.addEventListener("abort", () => call.abort());
    call.send(file);
  });
}

/**
 * Import a file that the server holds, and follow it to its end.
 * @param {Api} api
 * @param {string} id
 * @param {{answers: Record<string, string>, series_id: number | null}} choices
 * @param {(share: number) => void} onProgress
 * @returns {Promise<Held>} finished, cancelled or failed
 */
export async function commitAndFollow(api, id, choices, onProgress) {
  let { upload } = await api.post(`/api/uploads/${id}/commit`, choices);
  for (let pause = FIRST_LOOK_MS; upload.state === "importing"; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    ({ upload } = await api.get(`/api/uploads/${id}`));
    onProgress(upload.progress);
  }
  return upload;
}

/**
 * @param {XMLHttpRequest} call
 * @param {(held: Held) => void} resolve
 * @param {(error: ApiError) => void} reject
 */
function settle(call, resolve, reject) {
  const answer = parsed(call.responseText);
  if (call.status === 201 && answer?.upload) return resolve(answer.upload);
  const { code = "http", message = `the server answered ${call.status}`, details } = answer?.error ?? {};
  reject(new ApiError(call.status, code, message, details));
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
