// The hands of annotating: pointer and keys. They come by `import()`, since the first view is drawn without them.

import { LABEL_KEYS } from "../model/keys.js";
import { Copying } from "./copying.js";
import { KeyDrawing } from "./key-drawing.js";
import { MarkPointer } from "./mark-pointer.js";
import { toggleReviewed } from "./reviewing.js";

const TOOLS = /** @type {const} */ (["select", "span", "point", "trade", "level", "trend_line", "chart_class", "walk", "ruler"]);

/**
 * @typedef {object} Hands
 * @property {import("./context.js").Keyboard} keyboard
 * @property {import("./annotator.js").Annotator} annotator
 * @property {import("./mark-layer.js").MarkLayer} layer
 * @property {import("../net/annotation-book.js").AnnotationBook} book
 * @property {import("./chart-view.js").ChartView} view
 * @property {import("./cursor.js").Cursor} cursor
 * @property {import("./toast.js").Toast} toast
 * @property {() => void} comment puts the focus into the comment of the selected annotation
 */

/**
 * @param {HTMLElement} canvas the chart's container
 * @param {Hands} hands
 */
export function mountHands(canvas, hands) {
  const { keyboard, annotator, layer, book, view, cursor, toast, comment } = hands;
  const pointer = new MarkPointer(canvas, view, annotator, layer);
  const drawing = new KeyDrawing(annotator, view, cursor, toast);
  const copying = new Copying({ annotator, book, view, cursor, toast });
  for (const key of LABEL_KEYS) keyboard.on(`label-${key}`, () => annotator.useLabelKey(key));
  for (const tool of TOOLS) keyboard.on(`tool-${tool}`, () => annotator.setTool(tool));
  keyboard.on("magnet", () => {
    annotator.toggleMagnet();
    toast(annotator.isMagnetic ? "Magnet on: prices snap to open, high, low or close" : "Magnet off");
  });
  keyboard.on("span-start", () => drawing.spanEdge("start"));
  keyboard.on("span-end", () => drawing.spanEdge("end"));
  keyboard.on("trade-entry", () => drawing.tradeEnd("entry"));
  keyboard.on("trade-exit", () => drawing.tradeEnd("exit"));
  keyboard.on("place", () => drawing.place());
  keyboard.on("next-unlabelled", () => annotator.goToUnlabelled(1));
  keyboard.on("previous-unlabelled", () => annotator.goToUnlabelled(-1));
  keyboard.on("next-annotation", () => annotator.selectNeighbour(1));
  keyboard.on("previous-annotation", () => annotator.selectNeighbour(-1));
  keyboard.on("end-earlier", () => annotator.stepEdge("end", -1));
  keyboard.on("end-later", () => annotator.stepEdge("end", 1));
  keyboard.on("start-earlier", () => annotator.stepEdge("start", -1));
  keyboard.on("start-later", () => annotator.stepEdge("start", 1));
  keyboard.on("select-shown", () => annotator.selectShown());
  keyboard.on("copy", () => copying.copy());
  keyboard.on("paste", () => copying.paste());
  keyboard.on("reviewed", () => void toggleReviewed(view, book, toast));
  keyboard.on("comment", comment);
  keyboard.on("delete", () => annotator.deleteSelected());
  keyboard.on("undo", () => void annotator.step("undo"));
  keyboard.on("redo", () => void annotator.step("redo"));
  keyboard.on("hide", () => annotator.toggleHidden());
  keyboard.on("escape", () => pointer.cancel() || annotator.escape());
}
