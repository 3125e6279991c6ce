// Reviewing another person's annotation: accept, correct or reject it; the mark and its correction are both kept.

import { button, element } from "./element.js";

const WORDS = /** @type {Record<string, string>} */ ({ accept: "accepted", correct: "corrected", reject: "rejected" });

/**
 * What somebody found of a mark: `rejected by Ada: too late`.
 * @param {NonNullable<import("../model/annotation.js").Annotation["review"]>} review
 */
export function reviewWords({ verdict, by, comment }) {
  return `${WORDS[verdict] ?? verdict} by ${by}${comment ? `: ${comment}` : ""}`;
}

/**
 * @param {import("../model/annotation.js").Annotation} mark by someone else, stored
 * @param {import("./annotator.js").Annotator} annotator
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 * @param {import("./toast.js").Toast} toast
 */
export function reviewRow(mark, annotator, book, toast) {
  /** @param {object} verdict */
  const review = async (verdict) => {
    try {
      await book.review(mark.id, verdict);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
    }
  };
  const correct = async () => {
    const mine = /** @type {import("../model/annotation.js").Annotation} */ ({ ...mark, id: crypto.randomUUID(), revision: 0, author: undefined, updated_by: undefined, review: null });
    annotator.put(mine);
    await book.queue.whenIdle();
    await review({ verdict: "correct", correction: mine.id });
    annotator.select(mine.id);
    toast("Your copy is selected: change it to what is right");
  };
  const given = mark.review;
  return element(
    "div",
    { class: "row", role: "group", "aria-label": "Review" },
    button("Accept", () => void review({ verdict: "accept" }), { class: "small", "data-focus": "accept", "aria-pressed": String(given?.verdict === "accept") }),
    button("Correct", () => void correct(), { class: "small", "data-focus": "correct", "aria-pressed": String(given?.verdict === "correct") }),
    button("Reject", () => void review({ verdict: "reject" }), { class: "small", "data-focus": "reject", "aria-pressed": String(given?.verdict === "reject") }),
    given && element("span", { class: "muted" }, reviewWords(given)),
  );
}
