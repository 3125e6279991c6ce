// Loads Plotly once, when Metrics first opens; the bundle is large and comes with the server's plotly package.

/**
 * The part of Plotly that is used here.
 * @typedef {object} Plotly
 * @property {(root: HTMLElement, data: unknown[], layout: object, config: object) => Promise<unknown>} react
 * @property {(root: HTMLElement) => void} purge
 * @property {(root: HTMLElement, options: object) => Promise<string>} toImage gives a data: address
 */

/** @type {Promise<Plotly> | null} */
let loading = null;

/**
 * @returns {Promise<Plotly>} rejects, and may be asked again, when the bundle does not come
 */
export function loadPlotly() {
  loading ??= fetchBundle().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

/** @returns {Promise<Plotly>} */
function fetchBundle() {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("../../plotly.min.js", import.meta.url).href;
    script.addEventListener("load", () => resolve(/** @type {any} */ (window).Plotly));
    script.addEventListener("error", () => {
      script.remove();
      reject(new Error("the drawing library for metrics did not come from the server"));
    });
    document.head.append(script);
  });
}
