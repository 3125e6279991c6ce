// The Suggestions section: ask, see how far it is, decide on one or on all, and what is asked next.

import { activeLabels } from "../model/label-set.js";
import { isLearnt } from "../model/suggest-settings.js";
import { originText, shareDone, suggestionText } from "../model/suggestion.js";
import { button, element, field, fill } from "./element.js";

/** @typedef {import("../net/suggestion-book.js").Rule} Rule */

/**
 * @typedef {object} PanelParts
 * @property {import("./suggester.js").Suggester} suggester
 * @property {import("../net/suggestion-book.js").SuggestionBook} book
 * @property {import("../model/store.js").Store<import("../model/suggest-settings.js").SuggestSettings>} settings
 * @property {import("../net/label-book.js").LabelBook} labels
 * @property {import("../model/store.js").Store<{rules: Rule[], orders: {name: string, why: string}[]}>} offers
 */

const IN_TIME = { name: "time", why: "the next stretch without marks, in order of time" };
/** @type {Record<string, string>} */
const ORDER_TITLES = {
  time: "In order of time",
  random: "By chance",
  entropy: "Most open classes",
  margin: "Closest classes",
  improbable: "Least probable suggestions",
  disagreement: "Two models disagree",
  annotator: "Model disagrees with a mark",
  unseen: "Never seen regimes",
};

/**
 * @param {HTMLElement} root
 * @param {PanelParts} parts
 */
export function mountSuggestPanel(root, parts) {
  const rule = element("div", { class: "stack" });
  const progress = element("div", { class: "row", role: "status", "aria-live": "polite", "aria-label": "Suggesting" });
  const chosen = element("div", { class: "stack" });
  root.append(element("h2", {}, "Suggestions"), askRow(parts), rule, progress, chosen, allRow(parts), nextRow(parts), itselfRow(parts));
  mountRule(rule, parts);
  mountProgress(progress, parts);
  mountChosen(chosen, parts);
}

/** @param {PanelParts} parts */
function askRow({ suggester, settings, offers }) {
  const source = element("select", { "aria-label": "Suggest from" });
  const reach = select("Suggest over", [["view", "What is in view"], ["series", "Whole series"]]);
  const mode = select("Look at", [["history", "With hindsight"], ["causal", "No hindsight"]]);
  mode.title = "With hindsight: later candles count too. Without: none does, as at the live edge";
  const draw = () => {
    const now = settings.get();
    const { rules } = offers.get();
    const spans = rules.filter(({ kind }) => kind === "span");
    const points = rules.filter(({ kind }) => kind === "point");
    fill(
      source,
      element("option", { value: "marks" }, "Learn from my marks"),
      element("option", { value: "model" }, "Trained model (label head)"),
      element("optgroup", { label: "Rules for spans" }, ...spans.map(ruleOption)),
      element("optgroup", { label: "Candle patterns (TA-Lib)" }, ...points.map(ruleOption)),
    );
    source.value = now.source;
    reach.value = now.reach;
    mode.value = now.mode;
    mode.hidden = !isLearnt(now.source);
  };
  source.addEventListener("change", () => settings.update((now) => ({ ...now, source: source.value })));
  reach.addEventListener("change", () => settings.update((now) => ({ ...now, reach: /** @type {"view" | "series"} */ (reach.value) })));
  mode.addEventListener("change", () => settings.update((now) => ({ ...now, mode: /** @type {"history" | "causal"} */ (mode.value) })));
  settings.subscribe(draw);
  offers.subscribe(draw);
  draw();
  const ask = button("Suggest", () => void suggester.suggest(), { class: "primary", title: "Suggest marks (Shift+S)" });
  return element("div", { class: "suggest-ask" }, source, reach, mode, ask);
}

/** @param {Rule} rule */
function ruleOption({ name, title }) {
  return element("option", { value: name }, title.replace("Pattern: ", ""));
}

/**
 * Parameters of the rule that is chosen, and the labels that it gives.
 * @param {HTMLElement} root
 * @param {PanelParts} parts
 */
function mountRule(root, { settings, offers, labels }) {
  const draw = () => {
    const { source, parameters, labels: given } = settings.get();
    const rule = offers.get().rules.find(({ name }) => name === source);
    root.hidden = !rule;
    if (!rule) return fill(root);
    const names = activeLabels(labels.set.get()).map(({ name }) => name);
    /** @param {"rising" | "falling"} side */
    const label = (side) => {
      const box = select(`Label for ${side}`, [["", "none"], ...names.map((name) => /** @type {[string, string]} */ ([name, name]))]);
      box.value = names.includes(given[side]) ? given[side] : "";
      box.addEventListener("change", () => settings.update((now) => ({ ...now, labels: { ...now.labels, [side]: box.value } })));
      return field(side === "rising" ? "Rising becomes" : "Falling becomes", box);
    };
    const numbers = rule.parameters.map((parameter) => numberField(parameter, parameters[source]?.[parameter.name], settings, source));
    fill(root, element("div", { class: "two" }, label("rising"), label("falling")), numbers.length > 0 && element("div", { class: "two" }, ...numbers));
  };
  settings.subscribe((now, before) => (now.source !== before.source || now.labels !== before.labels) && draw());
  offers.subscribe(draw);
  labels.set.subscribe(draw);
  draw();
}

/**
 * @param {import("../net/suggestion-book.js").RuleParameter} parameter
 * @param {number | undefined} given
 * @param {PanelParts["settings"]} settings
 * @param {string} source
 */
function numberField({ name, default: usual, least, most, meaning }, given, settings, source) {
  const box = element("input", { type: "number", min: least, max: most, step: "any", value: given ?? usual });
  box.addEventListener("change", () => {
    const value = box.valueAsNumber;
    if (Number.isFinite(value)) settings.update((now) => ({ ...now, parameters: { ...now.parameters, [source]: { ...now.parameters[source], [name]: value } } }));
  });
  return field(name, box, meaning);
}

/**
 * @param {HTMLElement} root
 * @param {PanelParts} parts
 */
function mountProgress(root, { book }) {
  const draw = () => {
    const { task, count } = book.state.get();
    root.dataset.state = task?.state ?? "none";
    if (task?.state === "running") {
      const bar = element("progress", { max: 1, value: shareDone(task), "aria-label": "Candles read" });
      return fill(root, bar, element("span", { class: "muted number grow" }, `${task.found} found`), button("Cancel", () => void book.cancel(), { class: "quiet" }));
    }
    if (task?.state === "failed") return fill(root, element("span", { class: "problem" }, task.error ?? "It failed"));
    fill(root, element("span", { class: "muted number" }, count ? `${count} suggestions, none of them a mark yet` : "No suggestions. Draw a few marks, then press Suggest."));
  };
  book.state.subscribe(draw);
  draw();
}

/**
 * @param {HTMLElement} root
 * @param {PanelParts} parts
 */
function mountChosen(root, { suggester, book }) {
  const draw = () => {
    const chosen = suggester.selected;
    root.hidden = !chosen;
    if (!chosen) return fill(root);
    fill(
      root,
      element("div", { class: "row spread" }, element("b", {}, suggestionText(chosen)), element("span", { class: "muted clip" }, originText(chosen))),
      element(
        "div",
        { class: "row" },
        button("Accept", () => suggester.accept(), { title: "Accept (A); corrected edges are kept" }),
        button("Reject", () => suggester.reject(), { title: "Reject (R): a negative example" }),
        button("Ignore", () => suggester.ignore(), { class: "quiet", title: "Ignore (I): teaches nothing, and is not suggested again" }),
      ),
      element("small", { class: "muted" }, "Drag its edges or press a label's digit to correct it."),
    );
  };
  suggester.state.subscribe(draw);
  book.state.subscribe(draw);
  draw();
}

/** @param {PanelParts} parts */
function allRow({ suggester, book, settings }) {
  const slider = element("input", { type: "range", min: 0, max: 0.95, step: 0.05, "aria-label": "Least probability shown" });
  const shown = element("span", { class: "number muted" });
  const all = button("Accept all", () => void suggester.acceptAll(), { title: "Accept every suggestion of the series that is at least so probable (Shift+A); one undo takes it back" });
  const draw = () => {
    const { least } = settings.get();
    slider.value = String(least);
    shown.textContent = least > 0 ? `from ${Math.round(least * 100)}%` : "of any probability";
    all.textContent = least > 0 ? `Accept all from ${Math.round(least * 100)}%` : "Accept all";
    row.hidden = book.state.get().count === 0;
  };
  slider.addEventListener("input", () => settings.update((now) => ({ ...now, least: slider.valueAsNumber })));
  const row = element("div", { class: "stack" }, element("div", { class: "row" }, element("span", { class: "muted" }, "Show"), slider, shown), all);
  settings.subscribe(draw);
  book.state.subscribe(draw);
  draw();
  return row;
}

/** @param {PanelParts} parts */
function nextRow({ suggester, settings, offers }) {
  const order = element("select", { "aria-label": "Order of asking" });
  const next = button("Next", () => void suggester.nextPlace(), {});
  const draw = () => {
    const orders = [IN_TIME, ...offers.get().orders];
    fill(order, ...orders.map(({ name, why }) => element("option", { value: name, title: why }, ORDER_TITLES[name] ?? name)));
    order.value = settings.get().order;
    const why = orders.find(({ name }) => name === order.value)?.why ?? IN_TIME.why;
    order.title = next.title = `Go to the next place to mark (N): ${why}`;
  };
  order.addEventListener("change", () => settings.update((now) => ({ ...now, order: order.value })));
  settings.subscribe(draw);
  offers.subscribe(draw);
  draw();
  return element("div", { class: "next" }, element("span", { class: "muted" }, "Ask"), order, next);
}

/** @param {PanelParts} parts */
function itselfRow({ settings }) {
  const itself = element("input", { type: "checkbox" });
  const weight = element("input", { type: "number", min: 0.05, max: 1, step: 0.05, class: "narrow" });
  itself.checked = settings.get().byItself;
  weight.value = String(settings.get().weight);
  itself.addEventListener("change", () => settings.update((now) => ({ ...now, byItself: itself.checked })));
  weight.addEventListener("change", () => {
    const value = weight.valueAsNumber;
    if (value > 0 && value <= 1) settings.update((now) => ({ ...now, weight: value }));
  });
  return element(
    "div",
    { class: "stack" },
    element("label", { class: "row" }, itself, "Suggest by itself after each mark, and after each training by what reads unseen marks better"),
    element("label", { class: "row", title: "So that a model does not learn its own echo" }, "An accepted mark counts", weight, "of a drawn one"),
  );
}

/**
 * @param {string} name for screen readers
 * @param {[string, string][]} options value and text
 */
function select(name, options) {
  return element("select", { "aria-label": name }, ...options.map(([value, text]) => element("option", { value }, text)));
}
