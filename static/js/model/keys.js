// Every key of the page, in one table: it feeds the handler and the help overlay.

/**
 * @typedef {object} KeyAction
 * @property {string} action what panels listen for
 * @property {string[]} keys as `keyName` gives them
 * @property {string} group heading in the help overlay
 * @property {string} title what it does
 */

/** Label keys are the digits, so that the label set decides what they mean. */
export const LABEL_KEYS = "123456789";

/** @type {KeyAction[]} */
export const KEY_TABLE = [
  ...[...LABEL_KEYS].map((digit) => ({
    action: `label-${digit}`,
    keys: [digit],
    group: "Labels",
    title: "Arm the label with this key, or give it to the selected annotation",
  })),
  { action: "tool-select", keys: ["V"], group: "Tools", title: "Select, move and change annotations" },
  { action: "tool-span", keys: ["S"], group: "Tools", title: "Span tool: drag over candles" },
  { action: "tool-point", keys: ["D"], group: "Tools", title: "Point tool: click a candle" },
  { action: "tool-trade", keys: ["B"], group: "Tools", title: "Trade tool: drag from entry to exit" },
  { action: "span-start", keys: ["["], group: "Draw at the crosshair", title: "Span starts here, or the selected one does" },
  { action: "span-end", keys: ["]"], group: "Draw at the crosshair", title: "Span ends here, or the selected one does" },
  { action: "trade-entry", keys: ["E"], group: "Draw at the crosshair", title: "Trade enters here" },
  { action: "trade-exit", keys: ["X"], group: "Draw at the crosshair", title: "Trade exits here" },
  { action: "place", keys: ["Enter"], group: "Draw at the crosshair", title: "Place a point here" },
  { action: "cursor-left", keys: ["ArrowLeft"], group: "Move", title: "Crosshair one candle back" },
  { action: "cursor-right", keys: ["ArrowRight"], group: "Move", title: "Crosshair one candle on" },
  { action: "page-left", keys: ["PageUp"], group: "Move", title: "One screen back" },
  { action: "page-right", keys: ["PageDown"], group: "Move", title: "One screen on" },
  { action: "zoom-in", keys: ["+", "="], group: "Move", title: "Zoom in" },
  { action: "zoom-out", keys: ["-"], group: "Move", title: "Zoom out" },
  { action: "first", keys: ["Home"], group: "Move", title: "First candle" },
  { action: "last", keys: ["End"], group: "Move", title: "Last candle" },
  { action: "go-to", keys: ["O"], group: "Move", title: "Go to a time" },
  { action: "next-unlabelled", keys: ["N"], group: "Move", title: "Next unlabelled stretch" },
  { action: "previous-unlabelled", keys: ["P"], group: "Move", title: "Previous unlabelled stretch" },
  { action: "next-annotation", keys: ["J"], group: "Annotations", title: "Select the next annotation" },
  { action: "previous-annotation", keys: ["K"], group: "Annotations", title: "Select the annotation before" },
  { action: "end-earlier", keys: ["Shift+ArrowLeft"], group: "Annotations", title: "End of the selected one, one candle earlier" },
  { action: "end-later", keys: ["Shift+ArrowRight"], group: "Annotations", title: "End of the selected one, one candle later" },
  { action: "start-earlier", keys: ["Ctrl+ArrowLeft"], group: "Annotations", title: "Start of the selected one, one candle earlier" },
  { action: "start-later", keys: ["Ctrl+ArrowRight"], group: "Annotations", title: "Start of the selected one, one candle later" },
  { action: "comment", keys: ["C"], group: "Annotations", title: "Comment on the selected one" },
  { action: "delete", keys: ["Delete", "Backspace"], group: "Annotations", title: "Delete the selected one" },
  { action: "undo", keys: ["Ctrl+Z"], group: "Annotations", title: "Undo" },
  { action: "redo", keys: ["Ctrl+Shift+Z", "Ctrl+Y"], group: "Annotations", title: "Redo" },
  { action: "hide", keys: ["H"], group: "Annotations", title: "Hide or show annotations and predictions" },
  { action: "escape", keys: ["Escape"], group: "Annotations", title: "Give up the drawing, then the selection, then the tool" },
  { action: "replay", keys: ["Space"], group: "Training", title: "Pause or go on" },
  { action: "replay-step", keys: ["."], group: "Training", title: "Replay one candle" },
  { action: "train", keys: ["T"], group: "Training", title: "Open the Train panel" },
  { action: "metrics", keys: ["G"], group: "Training", title: "Show or hide metrics" },
  { action: "help", keys: ["?"], group: "Help", title: "This overview" },
];

/** @typedef {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean, altGraph?: boolean}} KeyPress */

/**
 * The name of a key press: `A`, `Ctrl+Shift+Z`, `[`; Shift counts for letters and named keys only, since it makes other signs.
 * @param {KeyPress} press
 * @returns {string}
 */
export function keyName({ key, ctrlKey, metaKey, altKey, shiftKey, altGraph }) {
  const plain = key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key;
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  const control = (ctrlKey || metaKey) && !altGraph;
  return [control && "Ctrl", altKey && !altGraph && "Alt", shiftKey && (!isSign || key === " ") && "Shift", plain].filter(Boolean).join("+");
}

/**
 * Find what a key press means.
 * @param {KeyPress} press
 * @param {KeyAction[]} [table]
 * @returns {string | null}
 */
export function actionOf(press, table = KEY_TABLE) {
  const name = keyName(press);
  return table.find(({ keys }) => keys.includes(name))?.action ?? null;
}

/**
 * Keys that stand twice in a table.
 * @param {KeyAction[]} table
 * @returns {string[]}
 */
export function doubledKeys(table) {
  const all = table.flatMap(({ keys }) => keys);
  return all.filter((key, index) => all.indexOf(key) !== index);
}

/**
 * A key as people know it.
 * @param {string} name
 */
export function keyTitle(name) {
  /** @type {Record<string, string>} */
  const words = { ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", Delete: "Del", PageUp: "Page up", PageDown: "Page down" };
  return name.split("+").map((part) => words[part] ?? part).join("+") || "+";
}
