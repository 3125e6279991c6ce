// The form of training: every field of the server's table with its meaning, a refused value marked in the server's words.

import { kindOf, limitsOf, partFields, textOf, titleOf, valueOf } from "../model/config.js";
import { button, element, fill } from "./element.js";
import { FeedForm } from "./feed-form.js";

/** @typedef {import("../model/config.js").Field} Field */
/** @typedef {import("../model/train-settings.js").TrainSettings} TrainSettings */
/** @typedef {import("../model/train-settings.js").Group} Group */
/** @typedef {{group: Group, field: Field}} Placed */
/** @typedef {{root: HTMLElement, show: () => void}} Shown an element, and how it follows the settings */

/** Builds the form once the fields are known; then only values and refusals change. */
export class TrainForm {
  root = element("form", { class: "stack train-form", "aria-label": "Training settings", onsubmit: stay });
  /** @type {Shown[]} */
  #shown = [];
  #settings;
  #names = "";

  /** @param {TrainSettings} settings */
  constructor(settings) {
    this.#settings = settings;
    settings.onChange(() => this.#follow());
    this.#follow();
  }

  #follow() {
    const names = JSON.stringify(
      ["model", "batch", "live"].map((group) => this.#settings.fieldsOf(/** @type {Group} */ (group)).map((field) => field.name)),
    );
    if (names !== this.#names) this.#build();
    this.#names = names;
    for (const { show } of this.#shown) show();
  }

  #build() {
    this.#shown = [];
    const model = partFields(this.#settings.fieldsOf("model"));
    const batch = partFields(this.#settings.fieldsOf("batch"));
    const live = this.#settings.fieldsOf("live").filter((field) => field.name !== "feed");
    const feed = new FeedForm(this.#settings);
    this.#shown.push({ root: feed.root, show: () => feed.show() });
    const reset = button("Back to the defaults", () => this.#settings.reset(), { class: "quiet small" });
    this.#shown.push({ root: reset, show: () => (reset.hidden = !this.#settings.isTouched) });
    fill(
      this.root,
      this.#section("Batch training", [...placed("batch", batch.first), ...placed("model", model.first)]),
      element(
        "details",
        {},
        element("summary", {}, "More settings"),
        this.#section("", [...placed("batch", batch.more), ...placed("model", model.more)]),
      ),
      element("details", {}, element("summary", {}, "Live training"), feed.root, this.#section("", placed("live", live))),
      reset,
    );
  }

  /**
   * @param {string} title
   * @param {Placed[]} fields
   */
  #section(title, fields) {
    const rows = fields.map((each) => this.#field(each));
    return element("div", { class: "stack" }, title !== "" && element("h2", {}, title), ...rows);
  }

  /** @param {Placed} place */
  #field({ group, field }) {
    const id = `train-${group}-${field.name}`;
    const control = this.#control(group, field, id);
    const refused = element("p", { class: "refused", role: "alert", id: `${id}-refused`, hidden: true });
    const show = () => {
      control.show();
      const refusal = this.#settings.refusal;
      const mine = refusal !== null && refusal.group === group && refusal.field === field.name;
      refused.hidden = !mine;
      refused.textContent = mine ? refusal.message : "";
      control.root.setAttribute("aria-invalid", String(mine));
      if (mine) reveal(refused);
    };
    this.#shown.push({ root: control.root, show });
    const limits = limitsOf(field);
    return element(
      "div",
      { class: kindOf(field) === "weights" ? "train-field wide" : "train-field" },
      element("label", { for: kindOf(field) === "weights" ? `${id}-candle` : id }, titleOf(field.name)),
      control.root,
      element("small", { class: "muted", id: `${id}-meaning` }, field.meaning + (limits === "" ? "" : ` (${limits})`)),
      refused,
    );
  }

  /**
   * @param {Group} group
   * @param {Field} field
   * @param {string} id
   * @returns {Shown}
   */
  #control(group, field, id) {
    const kind = kindOf(field);
    if (kind === "weights") return this.#weights(group, field, id);
    return kind === "choice" ? this.#choice(group, field, id) : this.#input(group, field, id);
  }

  /**
   * @param {Group} group
   * @param {Field} field
   * @param {string} id
   * @returns {Shown}
   */
  #input(group, field, id) {
    const isSwitch = kindOf(field) === "switch";
    const input = element("input", {
      id,
      name: field.name,
      type: isSwitch ? "checkbox" : "text",
      inputmode: isSwitch ? null : "decimal",
      autocomplete: "off",
      "aria-describedby": `${id}-meaning ${id}-refused`,
    });
    input.addEventListener("change", () =>
      this.#settings.set(group, field.name, isSwitch ? input.checked : valueOf(field, input.value)),
    );
    const show = () => {
      const value = this.#settings.get(group, field.name);
      if (isSwitch) input.checked = value === true;
      else if (document.activeElement !== input) input.value = textOf(value);
    };
    return { root: input, show };
  }

  /**
   * @param {Group} group
   * @param {Field} field
   * @param {string} id
   * @returns {Shown}
   */
  #choice(group, field, id) {
    const options = (field.choices ?? []).map((choice) => element("option", { value: choice }, choice));
    const root = element("select", { id, name: field.name, "aria-describedby": `${id}-meaning ${id}-refused` }, ...options);
    root.addEventListener("change", () => this.#settings.set(group, field.name, root.value));
    return { root, show: () => (root.value = String(this.#settings.get(group, field.name))) };
  }

  /**
   * @param {Group} group
   * @param {Field} field
   * @param {string} id
   * @returns {Shown}
   */
  #weights(group, field, id) {
    const inputs = Object.keys(/** @type {object} */ (field.default)).map((head) =>
      element("input", { id: `${id}-${head}`, type: "text", inputmode: "decimal", "data-head": head, autocomplete: "off" }),
    );
    const weights = () => /** @type {Record<string, unknown>} */ (this.#settings.get(group, field.name));
    for (const input of inputs)
      input.addEventListener("change", () =>
        this.#settings.set(group, field.name, { ...weights(), [input.dataset["head"] ?? ""]: numberOf(input.value) }),
      );
    const root = element(
      "div",
      { class: "weights", role: "group", "aria-label": titleOf(field.name) },
      ...inputs.map((input) =>
        element("label", { class: "weight" }, element("span", { class: "muted" }, titleOf(input.dataset["head"] ?? "")), input),
      ),
    );
    const show = () => {
      for (const input of inputs)
        if (document.activeElement !== input) input.value = textOf(weights()[input.dataset["head"] ?? ""]);
    };
    return { root, show };
  }
}

/**
 * @param {Group} group
 * @param {Field[]} fields
 * @returns {Placed[]}
 */
function placed(group, fields) {
  return fields.map((field) => ({ group, field }));
}

/** @param {Event} event */
function stay(event) {
  event.preventDefault();
}

/** @param {string} text */
function numberOf(text) {
  const number = Number(text);
  return text.trim() === "" || !Number.isFinite(number) ? text : number;
}

/** @param {HTMLElement} node */
function reveal(node) {
  const folded = node.closest("details");
  if (folded !== null) folded.open = true;
  node.scrollIntoView({ block: "nearest" });
}
