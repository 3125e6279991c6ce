// Work that the server does in the background: begun, followed with its progress, called off. No DOM.

/** @typedef {import("./api.js").Api} Api */
/** @typedef {{id: number, state: string, progress: number, cause: string | null, report?: unknown, dataset?: any}} Task */

const FIRST_LOOK_MS = 60;
const LAST_LOOK_MS = 500;

/**
 * Follow a piece of work to its end.
 * @param {Api} api
 * @param {string} path of its kind, such as `/api/exports`
 * @param {string} name that it has in the answer, such as `export`
 * @param {Task} begun
 * @param {(share: number) => void} onProgress
 * @returns {Promise<Task>} finished or cancelled; an error where it failed
 */
export async function followTask(api, path, name, begun, onProgress) {
  let task = begun;
  for (let pause = FIRST_LOOK_MS; task.state === "queued" || task.state === "running"; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    task = (await api.get(`${path}/${begun.id}`))[name];
    onProgress(task.progress);
  }
  if (task.state === "failed") throw new Error(task.cause ?? "it failed");
  return task;
}
