// What an upload gave: the report of an import.

import { reportRows } from "../model/import-report.js";
import { element } from "./element.js";

/** @typedef {import("./dialog.js").Dialog} Dialog */

/**
 * Show what an import gave.
 * @param {Dialog} dialog
 * @param {string} title
 * @param {Record<string, unknown>} report
 */
export function showReport(dialog, title, report) {
  const rows = reportRows(report).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const save = () => {
    saveJson(`${title.replace(/[^\p{L}\p{N}.-]+/gu, "-")}.report.json`, report);
    return false;
  };
  dialog.open({
    title,
    body: [element("dl", { class: "facts report" }, ...rows)],
    actions: [{ text: "Download as JSON", run: save }],
    cancel: "Close",
    wide: true,
  });
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function saveJson(name, value) {
  const address = URL.createObjectURL(new Blob([JSON.stringify(value, null, 1)], { type: "application/json" }));
  element("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
