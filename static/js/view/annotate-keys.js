// What the keys of annotating do.

import { LABEL_KEYS } from "../model/keys.js";
import { toggleReviewed } from "./reviewing.js";

const TOOLS = /** @type {const} */ (["select", "span", "point", "trade", "level", "trend_line", "chart_class", "walk", "ruler"]);

/**
 * @param {import("./context.js").Keyboard} keyboard
 * @param {object} parts
 * @param {import("./annotator.js").Annotator} parts.annotator
 * @param {import("./key-drawing.js").KeyDrawing} parts.drawing
 * @param {import("./copying.js").Copying} parts.copying
 * @param {import("./mark-pointer.js").MarkPointer} parts.pointer
 * @param {import("./toast.js").Toast} parts.toast
 * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {() => void} comment puts the focus into the comment of the selected annotation
 */
export function mountAnnotateKeys(keyboard, { annotator, drawing, copying, pointer, toast, book, view }, comment) {
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
