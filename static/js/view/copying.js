// Copies of the selected annotations, pasted at the crosshair; they stay through a change of the series.

import { pasted } from "../model/bulk.js";
import { withinSeries } from "../model/mark-edit.js";

/** Keeps what was copied. */
export class Copying {
  #parts;
  /** @type {import("../model/annotation.js").Annotation[]} */
  #copied = [];

  /**
   * @param {object} parts
   * @param {import("./annotator.js").Annotator} parts.annotator
   * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
   * @param {import("./chart-view.js").ChartView} parts.view
   * @param {import("./cursor.js").Cursor} parts.cursor
   * @param {import("./toast.js").Toast} parts.toast
   */
  constructor(parts) {
    this.#parts = parts;
  }

  copy() {
    const { annotator, toast } = this.#parts;
    this.#copied = annotator.chosen;
    const count = this.#copied.length;
    toast(count ? `${count === 1 ? "One annotation is" : `${count} annotations are`} copied; paste at the crosshair` : "Select annotations to copy first");
  }

  paste() {
    const { annotator, book, view, cursor, toast } = this.#parts;
    const at = cursor.get();
    const made = at ? pasted(this.#copied, at.time, view.window, () => crypto.randomUUID()) : [];
    if (!made.length) return toast("Nothing is copied yet");
    const fresh = made.map((mark) => withinSeries(mark, view.bounds())).filter((mark) => !book.twinOf(mark));
    if (!fresh.length) return toast("What is copied stands there already");
    book.putAll(fresh);
    annotator.selectAll(fresh.map(({ id }) => id));
  }
}
