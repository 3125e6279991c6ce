// What the first view loads: the scripts that the page imports before anything is drawn, and no heavy library among them.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const MOST_BYTES = 160_000;
const ENTRY = new URL("../../static/js/chart-page.js", import.meta.url);
const STATIC_IMPORT = /^(?:import|export)\s(?:[^"';]*?\sfrom\s)?"(\.[^"]+)"/gm;

/**
 * Every module that an entry imports statically, itself included.
 * @param {URL} entry
 * @returns {Map<string, string>} text by path
 */
function importedFrom(entry) {
  /** @type {Map<string, string>} */
  const found = new Map();
  const visit = (/** @type {URL} */ url) => {
    const path = fileURLToPath(url);
    if (found.has(path)) return;
    const text = readFileSync(url, "utf8");
    found.set(path, text);
    for (const [, target] of text.matchAll(STATIC_IMPORT)) visit(new URL(target, url));
  };
  visit(entry);
  return found;
}

/** @param {Map<string, string>} modules */
function gzipped(modules) {
  return [...modules.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
}

test("the scripts of the first view come to 160 kB gzip at most", () => {
  const modules = importedFrom(ENTRY);
  const bytes = gzipped(modules);
  assert.ok([...modules.keys()].some((path) => path.includes("lightweight-charts")), "the chart library counts");
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes in ${modules.size} modules: load by import() what the first view does not need`);
});

test("sockets, training and the panels behind tabs are no part of the first view", () => {
  const names = [...importedFrom(ENTRY).keys()].join("\n");
  for (const later of ["socket.io", "plotly", "train-panel", "data-panel", "metrics-panel", "log-panel", "help-overlay"]) assert.ok(!names.includes(later), later);
});

test("a module that is imported statically would be counted", () => {
  const url = new URL("../../static/js/view/training.js", import.meta.url);
  assert.ok(existsSync(url));
  assert.ok([...importedFrom(url).keys()].some((path) => path.includes("socket.io")));
});
