// The drawing tools at the left, each with its key.

import { button, element, icon } from "./element.js";

/** @typedef {import("./annotator.js").Tool} Tool */

/** @type {{tool: Tool, title: string, key: string, drawing: string}[]} */
const TOOLS = [
  { tool: "select", title: "Select and move", key: "V", drawing: "M5 3l14 8-6 2-2 6z" },
  { tool: "span", title: "Span: drag over candles", key: "S", drawing: "M4 5v14M20 5v14M4 12h16M8 9l-4 3 4 3M16 9l4 3-4 3" },
  { tool: "point", title: "Point: click a candle", key: "D", drawing: "M12 5l7 7-7 7-7-7z" },
  { tool: "trade", title: "Trade: drag from entry to exit", key: "B", drawing: "M4 18l6-6 4 3 6-9M15 6h5v5" },
];

/**
 * @param {HTMLElement} root
 * @param {import("./annotator.js").Annotator} annotator
 */
export function mountToolRail(root, annotator) {
  const buttons = TOOLS.map(({ tool, title, key, drawing }) => {
    const made = button("", () => annotator.setTool(tool), { class: "quiet", title: `${title} (${key})`, "aria-label": title });
    made.append(icon(drawing), element("small", { "aria-hidden": "true" }, key));
    return made;
  });
  const hide = button("", () => annotator.toggleHidden(), { class: "quiet", title: "Hide or show annotations (H)", "aria-label": "Hide annotations" });
  hide.append(icon("M3 12c5-8 13-8 18 0-5 8-13 8-18 0zM12 9a3 3 0 100 6 3 3 0 000-6"), element("small", { "aria-hidden": "true" }, "H"));
  root.append(...buttons, element("hr"), hide);
  const draw = () => {
    const { tool, hidden } = annotator.state.get();
    TOOLS.forEach((each, index) => buttons[index].setAttribute("aria-pressed", String(each.tool === tool)));
    hide.setAttribute("aria-pressed", String(hidden));
  };
  annotator.state.subscribe(draw);
  draw();
}
