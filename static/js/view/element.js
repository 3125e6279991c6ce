// Builds elements from plain values; text is always set as text.

/**
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {{[name: string]: unknown}} Properties `class`, `data-…`, `aria-…`, `on…` handlers, any attribute; false and null leave it out
 */

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) setProperty(made, name, value);
  made.append(...children.filter(isShown));
  return made;
}

/**
 * Replace everything inside a node.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter(isShown));
}

/** @type {WeakMap<Element, () => void>} by what is drawn, what waits there for the end of a press */
const waiting = new WeakMap();

/**
 * Draw something anew, with the focus on the control that had it: the one with the same `data-focus`.
 * While a control in it is pressed it waits: a press and its release on two elements make no click.
 * @param {Element} root
 * @param {() => void} draw
 */
export function redraw(root, draw) {
  if (root.querySelector(":active")) {
    if (!waiting.has(root)) requestAnimationFrame(() => drawWaiting(root));
    waiting.set(root, draw);
    return;
  }
  waiting.delete(root);
  const active = document.activeElement;
  const name = root.contains(active) ? active?.getAttribute("data-focus") : null;
  draw();
  if (!name || root.contains(document.activeElement)) return;
  /** @type {HTMLElement | null} */ (root.querySelector(`[data-focus="${CSS.escape(name)}"]`))?.focus();
}

/** @param {Element} root */
function drawWaiting(root) {
  const draw = waiting.get(root);
  waiting.delete(root);
  if (draw) redraw(root, draw);
}

/**
 * Make a button with a name that screen readers can say.
 * @param {string} text
 * @param {(event: MouseEvent) => void} onclick
 * @param {Properties} [properties] `class` is added to `button`
 * @returns {HTMLButtonElement}
 */
export function button(text, onclick, properties = {}) {
  const { class: extra, ...rest } = properties;
  return element("button", { type: "button", class: extra ? `button ${extra}` : "button", onclick, ...rest }, text);
}

/**
 * Make a labelled form field.
 * @param {string} label
 * @param {HTMLElement} control gets an id when it has none
 * @param {string} [hint]
 * @returns {HTMLDivElement}
 */
export function field(label, control, hint) {
  if (!control.id) control.id = `field-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
  return element(
    "div",
    { class: "field" },
    element("label", { for: control.id }, label),
    control,
    hint && element("small", { class: "muted" }, hint),
  );
}

/**
 * Make an icon from the path of a 24 × 24 drawing.
 * @param {string} path
 * @returns {SVGSVGElement}
 */
export function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/**
 * @param {Child} child
 * @returns {child is Node | string}
 */
function isShown(child) {
  return child !== null && child !== undefined && child !== false && child !== "";
}

/**
 * @param {HTMLElement} made
 * @param {string} name
 * @param {unknown} value
 */
function setProperty(made, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") made.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
  else if (name === "value") /** @type {HTMLInputElement} */ (made).value = String(value);
  else if (name === "checked") /** @type {HTMLInputElement} */ (made).checked = true;
  else made.setAttribute(name, value === true ? "" : String(value));
}
