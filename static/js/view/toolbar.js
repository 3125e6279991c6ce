// The bar at the top: series, timeframe, scale, zone, go to, appearance, author, help.

import { timeframeChoice } from "../model/timeframe.js";
import { Zone, zoneNames } from "../model/zone.js";
import { onceLoaded } from "./later.js";
import { button, element, fill, redraw } from "./element.js";

/** @typedef {import("../model/types.js").Series} Series */
/** @typedef {import("./context.js").PageContext} PageContext */

const SCALES = /** @type {const} */ ([
  { scale: "log", text: "Log", title: "Logarithmic price scale" },
  { scale: "percent", text: "%", title: "Prices in percent of the first one in view" },
]);

/**
 * @param {HTMLElement} root
 * @param {PageContext} context
 * @param {import("./chart-view.js").ChartView} view
 * @returns {HTMLElement} the badge that says whether everything is saved
 */
export function mountToolbar(root, context, view) {
  const { settings, keyboard, toast } = context;
  const dialogs = onceLoaded(() => import("./settings-dialogs.js"), toast);
  const goTo = async () => (await dialogs())?.openGoTo(context, view);
  const saveState = element("span", { id: "save-state", class: "badge ok", role: "status", "aria-live": "polite" });
  const doors = [
    button("Go to", goTo, { class: "quiet", title: `Go to a time (${keyboard.keyOf("go-to")})` }),
    button("View", () => keyboard.perform("open-view"), { class: "quiet", title: `Panes, indicators, sessions (${keyboard.keyOf("open-view")})` }),
    button("Replay", () => keyboard.perform("open-replay"), { class: "quiet", title: `Replay: hide what came later (${keyboard.keyOf("open-replay")})` }),
  ];
  const group = (/** @type {Node[]} */ ...parts) => element("div", { class: "group" }, ...parts);
  root.append(
    group(seriesMenu(context)),
    // On a narrow screen this part is one row that scrolls.
    element("div", { class: "strip" }, group(timeframeButtons(context, view)), group(...scaleButtons(context, view), zoneMenu(settings), ...doors)),
    element("span", { class: "push" }),
    group(saveState),
    group(
      authorButton(context, async () => (await dialogs())?.openAuthor(context)),
      button("Theme", async () => (await dialogs())?.openAppearance(context), { class: "quiet" }),
      button("?", () => keyboard.perform("help"), { class: "quiet icon", "aria-label": "Keys and help", title: "Keys and help (?)" }),
    ),
  );
  keyboard.on("go-to", goTo);
  return saveState;
}

/** @param {PageContext} context */
function seriesMenu({ series, openSeries }) {
  const menu = element("select", { class: "symbol", "aria-label": "Series" });
  menu.addEventListener("change", () => openSeries(Number(menu.value)));
  const draw = () => {
    const { items, current } = series.get();
    fill(menu, ...items.map((item) => element("option", { value: item.id }, seriesTitle(item))));
    menu.value = current ? String(current.id) : "";
    menu.disabled = items.length === 0;
  };
  series.subscribe(draw);
  draw();
  return menu;
}

/** @param {Series} item */
function seriesTitle({ symbol, timeframe, source, simulated }) {
  return `${symbol} · ${timeframe} · ${simulated ? "simulated" : source}`;
}

/**
 * @param {PageContext} context
 * @param {import("./chart-view.js").ChartView} view
 */
function timeframeButtons({ series }, view) {
  const list = element("div", { class: "group timeframes", role: "group", "aria-label": "Timeframe" });
  const more = element("select", { class: "more-timeframes", "aria-label": "More timeframes", "data-focus": "more", title: "More timeframes" });
  more.addEventListener("change", () => view.setTimeframe(more.value));
  const draw = () => {
    const { current } = series.get();
    const chosen = view.state.get().timeframe;
    const { usual, rare } = current ? timeframeChoice(current.timeframe) : { usual: [], rare: [] };
    /** @param {string} timeframe */
    const one = (timeframe) =>
      button(timeframe, () => view.setTimeframe(timeframe), { class: "quiet", "data-focus": timeframe, "aria-pressed": String(timeframe === chosen) });
    fill(more, element("option", { value: "", disabled: true, hidden: true }, "…"), ...rare.map((timeframe) => element("option", { value: timeframe }, timeframe)));
    more.value = rare.includes(chosen) ? chosen : "";
    more.classList.toggle("chosen", more.value !== "");
    redraw(list, () => fill(list, ...usual.map(one), rare.length > 0 && more));
  };
  series.subscribe((now, before) => now.current?.id !== before.current?.id && draw());
  view.state.subscribe((now, before) => now.timeframe !== before.timeframe && draw());
  draw();
  return list;
}

/**
 * The scales that are not the usual one; both need prices above 0.
 * @param {PageContext} context
 * @param {import("./chart-view.js").ChartView} view
 */
function scaleButtons({ settings }, view) {
  const toggles = SCALES.map(({ scale, text, title }) => {
    const choose = () => settings.update((now) => ({ ...now, scale: now.scale === scale ? "normal" : scale }));
    return { scale, title, made: button(text, choose, { class: "quiet" }) };
  });
  const draw = () => {
    const { isPositive } = view.window;
    const chosen = isPositive ? settings.get().scale : "normal";
    for (const { scale, title, made } of toggles) {
      made.disabled = !isPositive;
      made.title = isPositive ? title : `${title}: it needs prices above 0; this series has others`;
      made.setAttribute("aria-pressed", String(scale === chosen));
    }
    view.chart.setScale(chosen);
  };
  settings.subscribe((now, before) => now.scale !== before.scale && draw());
  view.state.subscribe((now, before) => now.busy !== before.busy && draw());
  draw();
  return toggles.map(({ made }) => made);
}

/** @param {PageContext["settings"]} settings */
function zoneMenu(settings) {
  const browser = new Zone("browser").name;
  const named = zoneNames();
  const menu = element(
    "select",
    { "aria-label": "Time zone of the axis", title: "Time zone of the axis and the read-out" },
    element("option", { value: "UTC" }, "UTC"),
    element("option", { value: "browser" }, `Browser (${browser})`),
    element("optgroup", { label: "Zones" }, ...named.slice(1).map((name) => element("option", { value: name }, name))),
  );
  menu.value = settings.get().zone;
  menu.addEventListener("change", () => settings.update((now) => ({ ...now, zone: menu.value })));
  return menu;
}

/**
 * @param {PageContext} context
 * @param {() => void} open
 */
function authorButton(context, open) {
  const shown = button("", open, { class: "quiet clip", title: "Who you are on your annotations" });
  const draw = () => (shown.textContent = context.settings.get().author);
  context.settings.subscribe(draw);
  draw();
  shown.style.maxWidth = "120px";
  return shown;
}
