// The Annotate tab: labels, the selected annotation, undo and redo, the list.

import { mountAnnotationList } from "./annotation-list.js";
import { button, element } from "./element.js";
import { mountLabelList } from "./label-list.js";
import { mountSaveStatus } from "./save-status.js";
import { onceLoaded, whenIdle } from "./later.js";

/**
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import("./annotator.js").Annotator} parts.annotator
 * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
 * @param {import("../net/label-book.js").LabelBook} parts.labels
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} parts.settings
 * @param {import("./dialog.js").Dialog} parts.dialog
 * @param {HTMLElement} parts.saveBadge
 * @param {import("./toast.js").Toast} parts.toast
 * @param {import("./keyboard.js").Keyboard} parts.keyboard
 * @param {() => void} parts.showPanel brings the tab to the front
 * @param {() => void} parts.onClosed takes the focus that the selected annotation's fields had
 */
export function mountAnnotatePanel(root, parts) {
  const { saveBadge } = parts;
  const problems = element("div", { class: "stack" });
  const labels = element("section", { class: "stack" });
  const selected = element("section", { class: "stack selected" });
  // Filled by suggesting.js, which comes later; its place is kept, so that nobody's list moves under the pointer.
  const suggestions = element("section", { id: "suggestions", class: "stack suggestions" });
  const list = element("section", { class: "stack" });
  root.append(problems, labels, actionRow(parts), selected, suggestions, list);
  mountSaveStatus(saveBadge, problems, parts);
  mountLabelList(labels, parts);
  mountSelectedLater(selected, parts);
  mountAnnotationList(list, parts);
}

/** @param {Parameters<typeof mountAnnotatePanel>[1]} parts */
function actionRow({ annotator, book, keyboard }) {
  const undo = button("Undo", () => void annotator.step("undo"));
  const redo = button("Redo", () => void annotator.step("redo"));
  const draw = () => {
    const state = book.undoState.get();
    const isWaiting = book.queue.state.get().waiting > 0;
    undo.disabled = !state.can_undo && !isWaiting;
    redo.disabled = !state.can_redo || isWaiting;
    undo.title = state.undo && !isWaiting ? `Undo: ${state.undo} (${keyboard.keyOf("undo")})` : `Undo (${keyboard.keyOf("undo")})`;
    redo.title = state.redo ? `Redo: ${state.redo} (${keyboard.keyOf("redo")})` : `Redo (${keyboard.keyOf("redo")})`;
  };
  book.undoState.subscribe(draw);
  book.queue.state.subscribe(draw);
  draw();
  return element(
    "div",
    { class: "row actions" },
    undo,
    redo,
    element("span", { class: "grow" }),
    element("span", { class: "muted" }, "Unlabelled"),
    button("‹", () => annotator.goToUnlabelled(-1), { class: "icon", title: `Previous unlabelled stretch (${keyboard.keyOf("previous-unlabelled")})`, "aria-label": "Previous unlabelled stretch" }),
    button("›", () => annotator.goToUnlabelled(1), { class: "icon", title: `Next unlabelled stretch (${keyboard.keyOf("next-unlabelled")})`, "aria-label": "Next unlabelled stretch" }),
  );
}

/**
 * The fields of what is selected come with the first selection, or before it once the browser is idle.
 * @param {HTMLElement} root
 * @param {Parameters<typeof mountAnnotatePanel>[1]} parts
 */
function mountSelectedLater(root, parts) {
  root.hidden = true;
  const mount = onceLoaded(async () => (await import("./selected-panel.js")).mountSelectedPanel(root, parts), parts.toast);
  const stop = parts.annotator.state.subscribe(({ selected }) => {
    if (selected === null) return;
    stop();
    void mount();
  });
  whenIdle(() => void mount());
}
