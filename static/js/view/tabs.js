// Tabs: one list of buttons, one panel shown at a time; arrow keys move between them.

import { element } from "./element.js";

/** @typedef {{id: string, title: string, panel: HTMLElement}} Tab */

/**
 * @typedef {object} Tabs
 * @property {(id: string) => void} show
 * @property {() => string} shown
 * @property {(watch: (id: string) => void) => void} onShow
 */

/**
 * Turn panels into tabs.
 * @param {HTMLElement} list gets the buttons
 * @param {Tab[]} tabs
 * @param {string} first id of the tab to show
 * @returns {Tabs}
 */
export function createTabs(list, tabs, first) {
  let current = "";
  /** @type {((id: string) => void)[]} */
  const watchers = [];
  const buttons = tabs.map((tab) => tabButton(tab, () => show(tab.id)));
  list.append(...buttons);

  /** @param {string} id */
  function show(id) {
    if (id === current) return;
    current = id;
    tabs.forEach((tab, index) => {
      const chosen = tab.id === id;
      tab.panel.hidden = !chosen;
      buttons[index].setAttribute("aria-selected", String(chosen));
      buttons[index].tabIndex = chosen ? 0 : -1;
    });
    for (const watch of watchers) watch(id);
  }

  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const now = tabs.findIndex((tab) => tab.id === current);
    const next = (now + step + tabs.length) % tabs.length;
    show(tabs[next].id);
    buttons[next].focus();
  });

  show(tabs.some((tab) => tab.id === first) ? first : tabs[0].id);
  return { show, shown: () => current, onShow: (watch) => void watchers.push(watch) };
}

/**
 * @param {Tab} tab
 * @param {() => void} onclick
 */
function tabButton(tab, onclick) {
  tab.panel.setAttribute("role", "tabpanel");
  tab.panel.setAttribute("aria-label", tab.title);
  const id = `tab-${tab.id}`;
  return element("button", { type: "button", role: "tab", id, "aria-controls": tab.panel.id, onclick }, tab.title);
}
