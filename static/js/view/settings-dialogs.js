// Small dialogs of the top bar: go to a time, appearance, author.

import { formatShortTime, parseTime } from "../model/format.js";
import { Zone } from "../model/zone.js";
import { button, element, field } from "./element.js";

/** @typedef {import("./context.js").PageContext} PageContext */

const MAX_AUTHOR = 100;
const THEMES = /** @type {const} */ ([["system", "As the system"], ["dark", "Dark"], ["light", "Light"]]);
const PALETTES = /** @type {const} */ ([
  ["green-red", "Green up, red down"],
  ["blue-orange", "Blue up, orange down (safe for colour blindness)"],
]);

/**
 * Ask for a time and bring it into view.
 * @param {PageContext} context
 * @param {import("./chart-view.js").ChartView} view
 */
export function openGoTo({ dialog, settings, toast }, view) {
  const bounds = view.bounds();
  if (!bounds) return toast("There are no candles to go to");
  const zone = new Zone(settings.get().zone);
  const visible = view.visible() ?? bounds;
  const { timeframe } = view.drawn();
  const middle = (visible.from + visible.to) / 2;
  const input = element("input", { value: formatShortTime(middle, zone, timeframe), spellcheck: "false", autocomplete: "off", required: true });
  const ends = [
    `${formatShortTime(bounds.from, zone, timeframe)} to ${formatShortTime(bounds.to, zone, timeframe)}`,
    `in ${zone.shortName(middle)}; write Z behind a time for UTC`,
  ];
  const go = () => {
    const time = parseTime(input.value, zone);
    const isIn = time !== null && time >= bounds.from && time <= bounds.to;
    input.setCustomValidity(time === null ? "Write a time such as 2017-03-01 14:30" : isIn ? "" : `The series goes from ${ends[0]}`);
    if (!input.reportValidity() || time === null) return false;
    view.goTo(time);
    return true;
  };
  input.addEventListener("input", () => input.setCustomValidity(""));
  const opened = dialog.open({
    title: "Go to a time",
    body: [
      field("Date, with or without a time", input, ends.join(", ")),
      element("div", { class: "row" }, shortcut("First candle", bounds.from), shortcut("Last candle", bounds.to)),
    ],
    actions: [{ text: "Go", tone: "primary", run: go }],
  });
  input.select();

  /**
   * @param {string} text
   * @param {number} time
   */
  function shortcut(text, time) {
    return button(text, () => {
      opened.close();
      if (time === bounds?.to) view.goToEnd();
      else view.goTo(time);
    });
  }
}

/**
 * Ask for theme and candle colours; each choice shows at once.
 * @param {PageContext} context
 */
export function openAppearance({ dialog, settings }) {
  const { theme, palette } = settings.get();
  dialog.open({
    title: "Appearance",
    body: [
      choices("Theme", "theme", THEMES, theme, (value) => settings.update((now) => ({ ...now, theme: value }))),
      choices("Candles", "palette", PALETTES, palette, (value) => settings.update((now) => ({ ...now, palette: value }))),
    ],
    cancel: "Close",
  });
}

/**
 * Ask for the name that stands on this person's annotations.
 * @param {PageContext} context
 */
export function openAuthor({ dialog, settings }) {
  const input = element("input", { value: settings.get().author, maxlength: MAX_AUTHOR, required: true, autocomplete: "nickname" });
  const keep = () => {
    const author = input.value.trim();
    input.setCustomValidity(author ? "" : "A name is needed");
    if (!input.reportValidity()) return false;
    settings.update((now) => ({ ...now, author }));
    return true;
  };
  dialog.open({
    title: "Your name",
    body: [field("Name on your annotations", input, "Kept in this browser. Undo and redo go by name.")],
    actions: [{ text: "Keep", tone: "primary", run: keep }],
  });
  input.select();
}

/**
 * @template {string} V
 * @param {string} title
 * @param {string} name
 * @param {readonly (readonly [V, string])[]} options
 * @param {V} chosen
 * @param {(value: V) => void} onChoose
 */
function choices(title, name, options, chosen, onChoose) {
  return element(
    "fieldset",
    { class: "stack" },
    element("legend", {}, title),
    ...options.map(([value, text]) =>
      element(
        "label",
        { class: "row" },
        element("input", { type: "radio", name, value, checked: value === chosen, onchange: () => onChoose(value) }),
        text,
      ),
    ),
  );
}
