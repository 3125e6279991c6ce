// The drawing tools at the left, each with its key.

import { button, element, icon } from "./element.js";

/** @typedef {import("./annotator.js").Tool} Tool */

/** @type {{tool: Tool, title: string, drawing: string}[]} */
const TOOLS = [
  { tool: "select", title: "Select and move", drawing: "M5 3l14 8-6 2-2 6z" },
  { tool: "span", title: "Span: drag over candles", drawing: "M4 5v14M20 5v14M4 12h16M8 9l-4 3 4 3M16 9l4 3-4 3" },
  { tool: "point", title: "Point: click a candle", drawing: "M12 5l7 7-7 7-7-7z" },
  { tool: "trade", title: "Trade: drag from entry to exit", drawing: "M4 18l6-6 4 3 6-9M15 6h5v5" },
  { tool: "level", title: "Level: click a price", drawing: "M3 12h18M6 9v6" },
  { tool: "trend_line", title: "Trend line: drag from one end to the other", drawing: "M5 18L19 6M3.5 18a1.5 1.5 0 103 0 1.5 1.5 0 10-3 0M17.5 6a1.5 1.5 0 103 0 1.5 1.5 0 10-3 0" },
  { tool: "chart_class", title: "Class of the chart, or of a stretch by dragging", drawing: "M3 8V5h18v3M6 12h12M6 16h12M6 20h7" },
  { tool: "walk", title: "Walk: a class for each candle by ↑ → ↓", drawing: "M6 20V9M4 12h4M12 16V5M10 9h4M18 20V11M16 14h4" },
  { tool: "ruler", title: "Ruler: drag to measure", drawing: "M3 15L15 3l6 6L9 21zM8 10l2 2M11 7l3 3M5 13l3 3" },
];
const MAGNET = "M6 4v8a6 6 0 0012 0V4h-4v8a2 2 0 01-4 0V4zM6 8h4M14 8h4";
const EYE = "M3 12c5-8 13-8 18 0-5 8-13 8-18 0zM12 9a3 3 0 100 6 3 3 0 000-6";

/**
 * @param {HTMLElement} root
 * @param {import("./annotator.js").Annotator} annotator
 * @param {import("./keyboard.js").Keyboard} keyboard
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} settings
 */
export function mountToolRail(root, annotator, keyboard, settings) {
  const tools = TOOLS.map(({ tool, title, drawing }) => ({ made: toolButton(title, drawing, () => annotator.setTool(tool)), title, action: `tool-${tool}` }));
  const magnet = { made: toolButton("Magnet", MAGNET, () => annotator.toggleMagnet()), title: "Magnet: prices snap to open, high, low or close", action: "magnet" };
  const hide = { made: toolButton("Hide annotations", EYE, () => annotator.toggleHidden()), title: "Hide or show annotations", action: "hide" };
  root.append(...tools.map(({ made }) => made), element("hr"), magnet.made, hide.made);
  const draw = () => {
    const { tool, hidden } = annotator.state.get();
    TOOLS.forEach((each, index) => tools[index].made.setAttribute("aria-pressed", String(each.tool === tool)));
    magnet.made.setAttribute("aria-pressed", String(annotator.isMagnetic));
    hide.made.setAttribute("aria-pressed", String(hidden));
  };
  const nameKeys = () => {
    for (const { made, title, action } of [...tools, magnet, hide]) {
      const key = keyboard.keyOf(action);
      made.title = key ? `${title} (${key})` : title;
      /** @type {HTMLElement} */ (made.lastChild).textContent = key;
    }
  };
  annotator.state.subscribe(draw);
  settings.subscribe((now, before) => {
    if (now.magnet !== before.magnet) draw();
    if (now.keys !== before.keys) nameKeys();
  });
  nameKeys();
  draw();
}

/**
 * @param {string} title
 * @param {string} drawing
 * @param {() => void} onclick
 */
function toolButton(title, drawing, onclick) {
  const made = button("", onclick, { class: "quiet", "aria-label": title, "aria-pressed": "false" });
  made.append(icon(drawing), element("small", { "aria-hidden": "true" }));
  return made;
}
