// What a dataset holds and what changed, in words; splits as typed; views that travel with a workspace.
import assert from "node:assert/strict";
import { test } from "node:test";

import { changeLines, factRows, importRows, sampleRows, splitShares } from "../../static/js/model/dataset.js";
import { DEFAULTS } from "../../static/js/model/settings.js";
import { viewsIn, viewsOut } from "../../static/js/model/views.js";
import { Zone } from "../../static/js/model/zone.js";

const FACTS = {
  counts: { Long: 3, Short: 0 },
  parts: { train: { candles: 65, from: 0, to: 1 }, validation: null },
  gate: { purge: 5, embargo: 5, purged: { train: ["a", "b"] }, left_out: 0, modes: { replay: 0, hindsight: 3 } },
  chance: { default: { candles: { Long: 30, Short: 10 }, majority: 0.75, uniform: 0.5 } },
  gaps: { count: 2, missing: 7 },
  reviewed: 40,
};
const NONE = { count: 0, times: [] };
const SAME = { same: true, marks: { added: [], removed: [], changed: [] }, candles: { added: NONE, removed: NONE, changed: NONE }, labels: { added: [], removed: [] }, other: [] };
const REPORT = {
  format: "plain_csv", read: 3, new: 2, same: 0, conflicts: [], unplaced: [{ where: "line 4", stored: false }], skipped: [],
  labels_added: ["Bull"], mapping: { time: "when" }, notes: [], options: [],
  sample: [
    { where: "line 2", kind: "span", label: "Long", start: 1_704_103_200_000, end: 1_704_139_200_000 },
    { where: "line 3", kind: "trade", label: "Bull", entry: { time: 1_704_103_200_000, price: 1 }, exit: { time: 1_704_106_800_000, price: 2 } },
    { where: "line 5", kind: "chart_class", label: "Bull", start: null, end: null },
  ],
};

test("a preview says counts, chance, split, gate and gaps", () => {
  const rows = Object.fromEntries(factRows(FACTS));
  assert.equal(rows["Marks a class"], "Long 3, Short 0");
  assert.equal(rows["Chance level"], "default: 75% by always saying the most frequent class, 50% by guessing");
  assert.equal(rows["Split"], "train 65 candles, validation none");
  assert.match(rows["Leak gate"], /2 marks purged, purge 5, embargo 5 candles/);
  assert.equal(rows["Gaps"], "2, 7 candles missing");
  assert.equal(rows["Reviewed"], "40 candles (62%)");
});

test("changes are counted, changed marks named with their fields", () => {
  assert.deepEqual(changeLines(SAME), ["Nothing changed."]);
  const changed = [{ id: "0123456789", fields: { start: { before: 1, after: 2 }, comment: { before: "", after: "x" } } }];
  const lines = changeLines({ ...SAME, same: false, marks: { added: ["a", "b"], removed: [], changed } });
  assert.deepEqual(lines, ["2 marks added", "mark 01234567 changed: start, comment"]);
  assert.deepEqual(changeLines({ ...SAME, same: false, other: ["split"] }), ["split changed"]);
});

test("a long list of changes is cut and says by how much", () => {
  const changed = Array.from({ length: 25 }, (_, number) => ({ id: String(number), fields: {} }));
  const lines = changeLines({ ...SAME, same: false, marks: { added: [], removed: [], changed } });
  assert.equal(lines.at(-1), "and 5 more");
});

test("an import's report names what fits no candle and leaves out what says nothing", () => {
  const rows = Object.fromEntries(importRows(REPORT));
  assert.equal(rows["New marks"], "2");
  assert.equal(rows["Fits no candle"], "line 4 (left out)");
  assert.equal("Known already" in rows, false);
});

test("the first marks of a file are shown with their times", () => {
  assert.deepEqual(sampleRows(REPORT, new Zone("UTC"), "1h"), [
    ["line 2", "span", "Long", "2024-01-01 10:00 – 2024-01-01 20:00"],
    ["line 3", "trade", "Bull", "2024-01-01 10:00 – 2024-01-01 11:00"],
    ["line 5", "chart_class", "Bull", ""],
  ]);
});

test("shares are read as typed, and what are none is told apart", () => {
  assert.deepEqual(splitShares("70/15/15"), [70, 15, 15]);
  assert.deepEqual(splitShares("60, 20 20"), [60, 20, 20]);
  for (const text of ["70/30", "0/50/50", "a/b/c", "70/-5/35", ""]) assert.equal(splitShares(text), null);
});

test("views leave with the place of their series and come back with its new id", () => {
  const view = { seriesId: 7, timeframe: "4h", from: 1, to: 2 };
  const settings = { ...DEFAULTS, zone: "Asia/Tokyo", author: "Ann", views: [view, { ...view, seriesId: 99 }] };
  const out = viewsOut(settings, [{ id: 3 }, { id: 7 }]);
  assert.equal("author" in out, false);
  const back = viewsIn(DEFAULTS, JSON.parse(JSON.stringify(out)), [{ id: 11 }, { id: 12 }]);
  assert.equal(back.zone, "Asia/Tokyo");
  assert.deepEqual(back.views, [{ ...view, seriesId: 12 }]);
});

test("views that are none change nothing", () => {
  for (const views of [null, 5, { zone: 7, placed: [{ series: "x" }, { series: 9, timeframe: "1h", from: 1, to: 2 }] }])
    assert.deepEqual(viewsIn(DEFAULTS, views, [{ id: 1 }]), DEFAULTS);
});
