// Suggestions as the page holds them: which are shown, which comes next, how they read.

import { endOf, startOf } from "./annotation.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */

/**
 * A mark that a model or a rule proposes; never an annotation until a person accepts it.
 * @typedef {Annotation & {probability: number | null, source: string, made: "history" | "causal" | "rule", lesson: number}} Suggestion
 */

/**
 * @typedef {object} Task
 * @property {number} id
 * @property {string} source
 * @property {"running" | "finished" | "cancelled" | "failed"} state
 * @property {number} done
 * @property {number} total
 * @property {number} found
 * @property {string | null} error
 */

/**
 * What a lesson learnt for one kind and layer of marks.
 * @typedef {object} Learnt
 * @property {string} kind
 * @property {string} layer
 * @property {string} reader
 * @property {Record<string, number>} marks how many of each source
 * @property {Record<string, number>} weights
 * @property {number} rejected
 * @property {number} taught
 * @property {Record<string, {f1: number, true: number}>} scores
 */

/** @typedef {{marks: number, own: number, other: number}} Compared F1 of the marks' own lesson and of the trained model */
/** @typedef {{id: number, source: string, mode: string, created: number, learnt: Learnt[], fates: Record<string, number>, request: {compared?: Compared | null}}} Lesson */

/**
 * Give what the server says of a suggestion the fields that every annotation has.
 * @param {Record<string, unknown>} item
 * @returns {Suggestion}
 */
export function suggestionOf({ mode, ...item }) {
  return /** @type {Suggestion} */ (/** @type {unknown} */ ({ comment: "", confidence: null, revision: 0, made: mode, ...item }));
}

/**
 * Those of at least a probability; a rule's have none and always pass.
 * @param {Suggestion[]} items
 * @param {number} least
 */
export function probable(items, least) {
  return items.filter(({ probability }) => probability === null || probability >= least);
}

/**
 * The suggestion after or before one, in order of start; without one, the first that ends after a time.
 * @param {Suggestion[]} items by start
 * @param {string | null} id
 * @param {1 | -1} step
 * @param {number} time
 * @returns {Suggestion | null}
 */
export function neighbour(items, id, step, time) {
  const index = items.findIndex((item) => item.id === id);
  if (index >= 0) return items[index + step] ?? null;
  return (step > 0 ? items.find((item) => endOf(item) > time) : items.findLast((item) => startOf(item) < time)) ?? null;
}

/**
 * `Long 83%`; a rule's has no probability.
 * @param {Suggestion} item
 */
export function suggestionText({ label, probability }) {
  return probability === null ? label : `${label} ${Math.round(probability * 100)}%`;
}

/**
 * Where it comes from, in words.
 * @param {Suggestion} item
 */
export function originText({ made, source }) {
  if (made === "rule") return `by the rule ${source.replaceAll("_", " ")}`;
  if (source === "model") return made === "causal" ? "by the trained model; no later candle was looked at" : "by the trained model, spans cut with hindsight";
  return made === "causal" ? "from your marks; no later candle was looked at" : "from your marks, with hindsight";
}

/**
 * What a lesson learnt from: `26 marks: 20 drawn, 3 corrected, 3 accepted (each counts 0.3); 2 rejected`.
 * @param {Learnt} learnt
 */
export function marksText({ marks, weights, rejected }) {
  /** @type {Record<string, string>} */
  const words = { human: "drawn", model_corrected: "corrected", model_accepted: "accepted", import: "imported" };
  const parts = Object.entries(marks).map(([source, count]) => {
    const weight = weights[source];
    return `${count} ${words[source] ?? source}${weight === undefined || weight === 1 ? "" : ` (each counts ${weight})`}`;
  });
  const total = Object.values(marks).reduce((sum, count) => sum + count, 0);
  return `${total} marks: ${parts.join(", ")}${rejected ? `; ${rejected} rejected` : ""}`;
}

/**
 * What a lesson is of.
 * @param {Pick<Lesson, "source" | "mode">} lesson
 */
export function lessonTitle({ source, mode }) {
  if (source === "import") return "Rejected elsewhere";
  if (mode === "rule") return `Rule ${source.replaceAll("_", " ")}`;
  return `${source === "model" ? "Trained model" : "Marks"}, ${mode === "causal" ? "causal" : "with hindsight"}`;
}

/**
 * Which of the two read the marks better that neither had seen; empty where they were not compared.
 * @param {Pick<Lesson, "request">} lesson
 */
export function comparedText({ request: { compared } }) {
  if (!compared) return "";
  return `On ${compared.marks} marks that neither had seen: your marks F1 ${compared.own.toFixed(2)}, trained model ${compared.other.toFixed(2)}`;
}

/**
 * How well it reads marks that it had not seen.
 * @param {Learnt} learnt
 */
export function readerText({ reader, scores }) {
  const score = scores[reader];
  return score ? `reader “${reader}”, F1 ${score.f1.toFixed(2)} on ${score.true} marks it had not seen` : `reader “${reader}”`;
}

/**
 * How far a task is, 0 to 1.
 * @param {Task} task
 */
export function shareDone({ done, total }) {
  return total > 0 ? Math.min(1, done / total) : 0;
}
