// An import report as a person reads it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { reportRows } from "../../static/js/model/import-report.js";

/** @param {Record<string, unknown>} report */
const said = (report) => Object.fromEntries(reportRows(report));

test("times and lengths are written out, counts get their separators", () => {
  const report = {
    rows_kept: 6225,
    first: 1577836800000,
    gaps: { count: 1, longest_ms: 1900800000, items: [{ start: 1578614400000, missing: 22 }] },
  };
  assert.deepEqual(said(report), {
    "Rows kept": "6,225",
    First: "2020-01-01 00:00:00 UTC",
    Gaps: "Count: 1\nLongest: 22 d 0 h\nItems: Start: 2020-01-10 00:00:00 UTC\nMissing: 22",
  });
});

test("what says nothing is left out", () => {
  assert.deepEqual(
    said({
      notes: [],
      null_volumes: 0,
      violations: { count: 0, lines: [] },
      duplicates: { exact: 0, conflicting: 0, rule: "last" },
      date_only: false,
      zone: null,
      sha256: "ab",
      dropped: {},
    }),
    {},
  );
});

test("a column says its name and why it was taken", () => {
  assert.deepEqual(said({ columns: { high: { name: "h", reason: "named 'h'" } } }), { Columns: "High: h (named 'h')" });
});

test("a long list says how many more there are", () => {
  const lines = Array.from({ length: 14 }, (_, index) => index + 1);
  assert.equal(said({ lines })["Lines"], "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, and 2 more");
});
