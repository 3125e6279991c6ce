// The train form as data: fields from the server's table, texts to values and back, the server's refusals. Pure.

/**
 * One field of a run's config, as GET /api/models describes it.
 * @typedef {object} Field
 * @property {string} name
 * @property {string} type Python's word: `int`, `float`, `bool`, `str`, `int | None`, …
 * @property {unknown} default
 * @property {string} meaning
 * @property {number | null} least
 * @property {number | null} most
 * @property {string[] | null} [choices] the only values, where there are only some
 */

/** @typedef {"switch" | "whole" | "number" | "shares" | "weights" | "choice" | "feed" | "text"} FieldKind */

/** Fields that matter on a first run; the others stand behind "More settings". */
const FIRST = ["epochs", "batch_size", "learning_rate", "sequence_length", "trend_horizon", "heads", "policy", "learn_every"];

/** Fields that have a control of their own elsewhere on the page. */
const ELSEWHERE = new Set(["model", "feed"]);

/**
 * Say which control a field needs.
 * @param {Field} field
 * @returns {FieldKind}
 */
export function kindOf(field) {
  if (field.name === "model" || field.choices) return "choice";
  if (field.name === "feed") return "feed";
  if (field.name === "split") return "shares";
  if (field.name === "heads") return "weights";
  const type = field.type.replace(" | None", "");
  if (type === "bool") return "switch";
  if (type === "int") return "whole";
  return type === "float" ? "number" : "text";
}

/**
 * Part the fields of a form: those of a first run, in a fixed order, and the rest in the server's order.
 * @param {readonly Field[]} fields
 * @returns {{first: Field[], more: Field[]}}
 */
export function partFields(fields) {
  const shown = fields.filter((field) => !ELSEWHERE.has(field.name));
  const first = FIRST.flatMap((name) => shown.filter((field) => field.name === name));
  return { first, more: shown.filter((field) => !first.includes(field)) };
}

/**
 * Name a field for a person: `use_amp` → `Use AMP`, `n_layers` → `Layers`.
 * @param {string} name
 * @returns {string}
 */
export function titleOf(name) {
  const special = SPECIAL_TITLES[name];
  if (special !== undefined) return special;
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @type {Record<string, string | undefined>} */
const SPECIAL_TITLES = {
  d_model: "Width (d_model)",
  n_layers: "Layers",
  n_heads: "Attention heads",
  use_amp: "Mixed precision (AMP)",
  use_gradient_checkpointing: "Gradient checkpointing",
  use_uncertainty_estimation: "Uncertainty head",
  shuffle_targets: "Control: shuffle targets",
  patch_size: "Candles a token (patch_size)",
  sequence_length: "Look-back (sequence_length)",
  heads: "Weights of the heads",
  split: "Split train/validation/test",
};

/**
 * Write a value as the text of its control.
 * @param {unknown} value
 * @returns {string}
 */
export function textOf(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.join("/");
  return String(value);
}

/**
 * Read a control's text as the value that is sent.
 *
 * Text that is no number is sent as it is, so that the server refuses it in its own words.
 * @param {Field} field
 * @param {string} text
 * @returns {unknown}
 */
export function valueOf(field, text) {
  const trimmed = text.trim();
  if (trimmed === "" && field.type.includes("None")) return null;
  const kind = kindOf(field);
  if (kind !== "whole" && kind !== "number") return trimmed;
  const number = Number(trimmed);
  return trimmed === "" || !Number.isFinite(number) ? trimmed : number;
}

/**
 * Say what is allowed, for the hint under a field.
 * @param {Field} field
 * @returns {string}
 */
export function limitsOf(field) {
  const { least, most } = field;
  if (least !== null && most !== null) return `${least} to ${most}`;
  if (least !== null) return `at least ${least}`;
  return most === null ? "" : `at most ${most}`;
}

/**
 * Leave out what equals the default, so that a stored config says what a person chose.
 * @param {readonly Field[]} fields
 * @param {Record<string, unknown>} values
 * @returns {Record<string, unknown>}
 */
export function chosen(fields, values) {
  /** @type {Record<string, unknown>} */
  const kept = {};
  for (const field of fields) {
    const value = values[field.name];
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(field.default)) kept[field.name] = value;
  }
  return kept;
}

/**
 * Read a refusal: which field it is about, in the server's words.
 * @param {{message: string, details?: Record<string, unknown>}} error
 * @returns {{field: string | null, message: string}} `heads.candle` speaks of the field `heads`
 */
export function refusalOf(error) {
  const named = error.details?.["field"];
  if (typeof named !== "string") return { field: null, message: error.message };
  return { field: named.split(".")[0] ?? null, message: error.message };
}
