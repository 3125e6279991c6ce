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
  { action: "tool-level", keys: ["L"], group: "Tools", title: "Level tool: click a price" },
  { action: "tool-trend_line", keys: ["F"], group: "Tools", title: "Trend line tool: drag from one end to the other" },
  { action: "tool-chart_class", keys: ["Y"], group: "Tools", title: "Chart class tool: drag over a stretch, Enter for the whole chart" },
  { action: "tool-walk", keys: ["W"], group: "Tools", title: "Walk: ↑ → ↓ or a digit gives a candle its class and goes on" },
  { action: "tool-ruler", keys: ["U"], group: "Tools", title: "Ruler: drag to measure candles, time and price" },
  { action: "magnet", keys: ["M"], group: "Tools", title: "Magnet: prices snap to open, high, low or close" },
  { action: "span-start", keys: ["["], group: "Draw at the crosshair", title: "Span starts here, or the selected one does" },
  { action: "span-end", keys: ["]"], group: "Draw at the crosshair", title: "Span ends here, or the selected one does" },
  { action: "trade-entry", keys: ["E"], group: "Draw at the crosshair", title: "Trade enters here" },
  { action: "trade-exit", keys: ["X"], group: "Draw at the crosshair", title: "Trade exits here" },
  { action: "place", keys: ["Enter"], group: "Draw at the crosshair", title: "Place what the tool draws: a point, a level, an end of a line" },
  { action: "cursor-left", keys: ["ArrowLeft"], group: "Move", title: "Crosshair one candle back" },
  { action: "cursor-right", keys: ["ArrowRight"], group: "Move", title: "Crosshair one candle on" },
  { action: "cursor-up", keys: ["ArrowUp"], group: "Move", title: "Crosshair to the next higher price of its candle" },
  { action: "cursor-down", keys: ["ArrowDown"], group: "Move", title: "Crosshair to the next lower price of its candle" },
  { action: "page-left", keys: ["PageUp"], group: "Move", title: "One screen back" },
  { action: "page-right", keys: ["PageDown"], group: "Move", title: "One screen on" },
  { action: "zoom-in", keys: ["+", "="], group: "Move", title: "Zoom in" },
  { action: "zoom-out", keys: ["-"], group: "Move", title: "Zoom out" },
  { action: "first", keys: ["Home"], group: "Move", title: "First candle" },
  { action: "last", keys: ["End"], group: "Move", title: "Last candle" },
  { action: "go-to", keys: ["O"], group: "Move", title: "Go to a time" },
  { action: "open-view", keys: ["Shift+V"], group: "Move", title: "Panes, indicators and sessions" },
  { action: "next-unlabelled", keys: ["N"], group: "Move", title: "Next place to mark: an unlabelled stretch, or by the order chosen" },
  { action: "previous-unlabelled", keys: ["P"], group: "Move", title: "Previous unlabelled stretch" },
  { action: "next-annotation", keys: ["J"], group: "Annotations", title: "Select the next annotation" },
  { action: "previous-annotation", keys: ["K"], group: "Annotations", title: "Select the annotation before" },
  { action: "end-earlier", keys: ["Shift+ArrowLeft"], group: "Annotations", title: "End of the selected one, one candle earlier" },
  { action: "end-later", keys: ["Shift+ArrowRight"], group: "Annotations", title: "End of the selected one, one candle later" },
  { action: "start-earlier", keys: ["Ctrl+ArrowLeft"], group: "Annotations", title: "Start of the selected one, one candle earlier" },
  { action: "start-later", keys: ["Ctrl+ArrowRight"], group: "Annotations", title: "Start of the selected one, one candle later" },
  { action: "select-shown", keys: ["Ctrl+A"], group: "Annotations", title: "Select all that are in view; a digit then relabels them" },
  { action: "copy", keys: ["Ctrl+C"], group: "Annotations", title: "Copy the selected ones" },
  { action: "paste", keys: ["Ctrl+V"], group: "Annotations", title: "Paste at the crosshair" },
  { action: "reviewed", keys: ["Q"], group: "Annotations", title: "What is in view was looked through, or was not" },
  { action: "results", keys: ["Shift+W"], group: "Annotations", title: "Results of trades, agreement, blind passes" },
  { action: "comment", keys: ["C"], group: "Annotations", title: "Comment on the selected one" },
  { action: "delete", keys: ["Delete", "Backspace"], group: "Annotations", title: "Delete the selected one" },
  { action: "undo", keys: ["Ctrl+Z"], group: "Annotations", title: "Undo" },
  { action: "redo", keys: ["Ctrl+Shift+Z", "Ctrl+Y"], group: "Annotations", title: "Redo" },
  { action: "hide", keys: ["H"], group: "Annotations", title: "Hide or show annotations and predictions" },
  { action: "escape", keys: ["Escape"], group: "Annotations", title: "Give up the drawing, then the selection, then the tool" },
  { action: "suggest", keys: ["Shift+S"], group: "Suggestions", title: "Suggest marks from those drawn, or by a rule" },
  { action: "accept", keys: ["A"], group: "Suggestions", title: "Accept the selected suggestion, as corrected" },
  { action: "reject", keys: ["R"], group: "Suggestions", title: "Reject the selected suggestion: a negative example" },
  { action: "ignore", keys: ["I"], group: "Suggestions", title: "Ignore the selected suggestion: it teaches nothing" },
  { action: "accept-all", keys: ["Shift+A"], group: "Suggestions", title: "Accept all that are probable enough" },
  { action: "next-suggestion", keys: ["Shift+N"], group: "Suggestions", title: "Select the next suggestion" },
  { action: "previous-suggestion", keys: ["Shift+P"], group: "Suggestions", title: "Select the suggestion before" },
  { action: "replay", keys: ["Space"], group: "Training", title: "Pause or go on" },
  { action: "open-replay", keys: ["Shift+R"], group: "Training", title: "Replay: start, or end it" },
  { action: "replay-step", keys: ["."], group: "Training", title: "Replay: one candle on" },
  { action: "replay-back", keys: [","], group: "Training", title: "Replay: one candle back" },
  { action: "train", keys: ["T"], group: "Training", title: "Open the Train panel" },
  { action: "metrics", keys: ["G"], group: "Training", title: "Show or hide metrics" },
  { action: "help", keys: ["?"], group: "Help", title: "This overview" },
];

/** @typedef {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean, altGraph?: boolean, code?: string}} KeyPress */

const LATIN_PLACES = /^(?:Key([A-Z])|Bracket(Left|Right))$/;
const REPEATED = /^(?:cursor|page|zoom|next|previous|start|end|replay)-|^(?:undo|redo)$/;

/**
 * Whether a key that is held down does its action again and again; what draws, decides or switches is done once a press.
 * @param {string} action
 */
export function mayRepeat(action) {
  return REPEATED.test(action);
}

/**
 * A letter of another script as the Latin keyboard has it at that place.
 * @param {string} key
 * @param {string} code the place
 */
function latin(key, code) {
  const place = LATIN_PLACES.exec(code);
  const isForeign = key.length === 1 && key.toLowerCase() !== key.toUpperCase() && !/[a-z]/i.test(key);
  if (!isForeign || !place) return key;
  return place[1] ?? (place[2] === "Left" ? "[" : "]");
}

/**
 * The name of a key press: `A`, `Ctrl+Shift+Z`, `[`; Shift counts for letters and named keys only, since it makes other signs.
 * @param {KeyPress} press
 * @returns {string}
 */
export function keyName({ key: typed, ctrlKey, metaKey, altKey, shiftKey, altGraph, code = "" }) {
  const key = altKey || altGraph ? typed : latin(typed, code);
  const plain = key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key;
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  const control = (ctrlKey || metaKey) && !altGraph;
  const makesSign = isSign && !control && !/[\d ]/.test(key); // Option makes the brackets of many keyboards
  return [control && "Ctrl", altKey && !altGraph && !makesSign && "Alt", shiftKey && (!isSign || key === " ") && "Shift", plain].filter(Boolean).join("+");
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
 * The table with the keys that a person chose.
 * @param {Record<string, string[]>} chosen keys by action
 * @returns {KeyAction[]}
 */
export function tableWith(chosen) {
  return KEY_TABLE.map((entry) => (entry.action in chosen ? { ...entry, keys: chosen[entry.action] } : entry));
}

/**
 * Give an action another key, in place of its first one.
 * @param {Record<string, string[]>} chosen
 * @param {string} action
 * @param {string} key
 * @returns {{chosen: Record<string, string[]>, taken: null} | {chosen: null, taken: KeyAction}} the new choice, or who has the key
 */
export function withKey(chosen, action, key) {
  const table = tableWith(chosen);
  const taken = table.find((entry) => entry.action !== action && entry.keys.includes(key));
  if (taken) return { chosen: null, taken };
  const others = (table.find((entry) => entry.action === action)?.keys ?? []).slice(1).filter((each) => each !== key);
  return { chosen: { ...chosen, [action]: [key, ...others] }, taken: null };
}

/**
 * What of a kept choice still makes sense: known actions, no key twice.
 * @param {Record<string, unknown>} kept
 * @returns {Record<string, string[]>}
 */
export function usableKeys(kept) {
  /** @type {Record<string, string[]>} */
  const chosen = {};
  for (const { action } of KEY_TABLE) {
    const keys = kept[action];
    const isList = Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === "string" && key);
    if (isList && doubledKeys(tableWith({ ...chosen, [action]: keys })).length === 0) chosen[action] = keys;
  }
  return chosen;
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
  const words = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Delete: "Del", PageUp: "Page up", PageDown: "Page down" };
  return name.split("+").map((part) => words[part] ?? part).join("+") || "+";
}
