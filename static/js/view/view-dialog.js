// How the chart looks: panes, indicators, shaded sessions; each choice shows at once.

import { MOST_PANES } from "../model/panes.js";
import { SESSIONS } from "../model/sessions.js";
import { button, element } from "./element.js";

/**
 * @param {import("./context.js").PageContext} context
 * @param {import("./panes.js").Panes} panes
 * @param {import("./indicators.js").Indicators} indicators
 */
export function openView({ dialog, settings }, panes, indicators) {
  const counts = element("div", { class: "row", role: "group", "aria-label": "Panes" });
  const drawCounts = () => {
    const now = panes.shown.length;
    const made = Array.from({ length: MOST_PANES + 1 }, (_, others) => {
      const choose = () => {
        panes.setCount(others);
        drawCounts();
      };
      return button(String(others + 1), choose, { "aria-pressed": String(others === now), "aria-label": others === 0 ? "1 pane" : `${others + 1} panes` });
    });
    counts.replaceChildren(...made);
  };
  drawCounts();
  const sessions = SESSIONS.map(({ name, title }) => {
    const box = element("input", { type: "checkbox", checked: settings.get().sessions.includes(name) });
    const others = () => settings.get().sessions.filter((each) => each !== name);
    box.addEventListener("change", () => settings.update((now) => ({ ...now, sessions: box.checked ? [...others(), name] : others() })));
    return element("label", { class: "row" }, box, title);
  });
  dialog.open({
    title: "View",
    body: [
      element("section", { class: "stack" }, element("h3", {}, "Panes of this series"), counts, element("small", { class: "muted" }, "Each has its own timeframe; crosshair, time and annotations are the same in all.")),
      indicators.section(),
      element("section", { class: "stack" }, element("h3", {}, "Shaded sessions"), ...sessions),
    ],
    cancel: "Close",
  });
}
