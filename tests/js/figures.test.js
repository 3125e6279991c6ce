// Figures of the server, dressed in the page's colours.
import assert from "node:assert/strict";
import { test } from "node:test";

import { dressed } from "../../static/js/model/figures.js";

const COLOURS = { text: "#111", muted: "#777", grid: "#eee", line: "#ccc", series: ["blue", "orange"] };

/**
 * @param {string} name
 * @param {string} [dash]
 */
const trace = (name, dash = "solid") => ({ name, x: [1, 2], y: [0.2, null], line: { width: 2, dash } });
const NAMED = {
  name: "candle_accuracy",
  title: "Candle <accuracy>",
  figure: {
    data: [trace("train"), trace("majority (validation)", "dash"), trace("validation"), trace("logistic (validation)", "dash")],
    layout: { xaxis: { title: { text: "step" } }, yaxis: { tickformat: ".0%" } },
  },
};

test("the model's lines are coloured in turn, baselines are muted and told apart by their dashes", () => {
  const lines = dressed(NAMED, COLOURS, "run-1").data.map(({ line }) => [line?.color, line?.dash]);
  assert.deepEqual(lines, [
    ["blue", "solid"],
    ["#777", "dash"],
    ["orange", "solid"],
    ["#777", "dashdot"],
  ]);
});

test("points and formats stay as the server gave them", () => {
  const { data, layout } = dressed(NAMED, COLOURS, "run-1");
  assert.deepEqual(data[0].y, [0.2, null]);
  assert.equal(layout["yaxis"].tickformat, ".0%");
  assert.equal(layout["uirevision"], "run-1");
});

test("a title is text, whatever it holds", () => {
  assert.equal(dressed(NAMED, COLOURS, "r").layout["title"].text, "Candle &lt;accuracy>, by step");
});

test("a heat map and a table take the page's colours and keep what they say", () => {
  const heat = { name: "validation", type: "heatmap", x: ["a"], y: [], z: [[1]] };
  const table = { name: "validation", type: "table", x: [], y: [], header: { values: ["n"] }, cells: { values: [[3]] } };
  const [map, rows] = dressed({ name: "n", title: "t", figure: { data: [heat, table], layout: {} } }, COLOURS, "r").data;
  const dressedMap = /** @type {any} */ (map);
  const dressedRows = /** @type {any} */ (rows);
  assert.equal(dressedMap.colorscale[1][1], "blue");
  assert.deepEqual(dressedMap.z, [[1]]);
  assert.deepEqual(dressedRows.cells.values, [[3]]);
  assert.equal(dressedRows.header.font.color, "#111");
});
