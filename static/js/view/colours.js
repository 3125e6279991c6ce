// The style sheet's colours for what is painted on canvases; read again when the theme changes.

/**
 * @typedef {object} ChartColours
 * @property {string} background
 * @property {string} text
 * @property {string} strong text that stands out
 * @property {string} muted
 * @property {string} line
 * @property {string} grid
 * @property {string} crosshair
 * @property {string} label background of the crosshair's labels
 * @property {string} accent
 * @property {string} ok
 * @property {string} warning
 * @property {string} up
 * @property {string} down
 * @property {string} upFaint
 * @property {string} downFaint
 */

const FAINT = "80"; // alpha, hexadecimal

/** @type {ChartColours | null} */
let known = null;

/** Forget the colours, since the theme changed. */
export function forgetColours() {
  known = null;
}

/** @returns {ChartColours} */
export function chartColours() {
  known ??= read(getComputedStyle(document.documentElement));
  return known;
}

/** @param {CSSStyleDeclaration} style */
function read(style) {
  /** @param {string} name */
  const token = (name) => style.getPropertyValue(`--${name}`).trim();
  const [up, down] = [token("up"), token("down")];
  return {
    background: token("chart-background"),
    text: token("text-muted"),
    strong: token("text"),
    muted: token("text-muted"),
    line: token("line"),
    grid: token("chart-grid"),
    crosshair: token("chart-crosshair"),
    label: token("accent-fill"),
    accent: token("accent"),
    ok: token("ok"),
    warning: token("warning"),
    up,
    down,
    upFaint: up + FAINT,
    downFaint: down + FAINT,
  };
}
