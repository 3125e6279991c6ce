// Panes beside the chart and shaded sessions: which, where, when.

import assert from "node:assert/strict";
import { test } from "node:test";

import { alignedTo, nextPane, usablePanes } from "../../static/js/model/panes.js";
import { SESSIONS, sessionRanges } from "../../static/js/model/sessions.js";
import { DEFAULTS, viewOf, withLook, withView } from "../../static/js/model/settings.js";
import { Zone } from "../../static/js/model/zone.js";
import { at, DAY, HOUR } from "./chart-builders.js";

const OFFERED = ["1h", "4h", "1d", "1w"];

test("a new pane shows the next coarser timeframe, and a finer one only where there is no coarser", () => {
  assert.equal(nextPane(["1h"], OFFERED), "4h");
  assert.equal(nextPane(["1h", "4h"], OFFERED), "1d");
  assert.equal(nextPane(["1w"], OFFERED), "1d");
  assert.equal(nextPane(["1w"], ["1w"]), "1w");
});

test("kept panes that the series does not offer are left out, and there are never more than three", () => {
  assert.deepEqual(usablePanes(["4h", "15m", "1d", "1w", "1h"], OFFERED), ["4h", "1d", "1w"]);
  assert.deepEqual(usablePanes("4h", OFFERED), []);
});

test("a pane keeps its width and shows the same middle as the one that is moved", () => {
  assert.deepEqual(alignedTo({ from: at(0), to: at(100) }, { from: at(200), to: at(220) }, at(1000)), { from: at(160), to: at(260) });
});

test("at the newest candles all panes end together", () => {
  const moved = alignedTo({ from: at(0), to: at(100) }, { from: at(990), to: at(1001) }, at(1000));
  assert.equal(moved.to, at(1005));
  assert.equal(moved.to - moved.from, 100 * HOUR);
});

test("twenty rounds of two panes following each other do not drift", () => {
  let [one, other] = [{ from: at(100), to: at(120) }, { from: at(0), to: at(200) }];
  for (let round = 0; round < 20; round += 1) {
    other = alignedTo(other, one, at(1000));
    one = alignedTo(one, other, at(1000));
  }
  assert.deepEqual(one, { from: at(100), to: at(120) });
});

test("the panes of a series stay when its view moves", () => {
  const view = { seriesId: 3, timeframe: "1h", from: at(0), to: at(9) };
  const settings = withLook(withView(DEFAULTS, view), 3, { panes: ["1d"] });
  const moved = withView(settings, { ...view, to: at(20) });
  assert.deepEqual(viewOf(moved, 3), { ...view, to: at(20), panes: ["1d"] });
});

test("New York's session follows its clocks over the change to summer time, and rests at the weekend", () => {
  const session = SESSIONS.find(({ name }) => name === "new-york");
  assert.ok(session);
  const friday = Date.UTC(2024, 2, 8); // clocks change on Sunday the 10th
  const ranges = sessionRanges(session, { from: friday, to: friday + 4 * DAY }, new Zone("America/New_York"));
  assert.deepEqual(ranges.map(({ from }) => new Date(from).toISOString()), ["2024-03-08T14:30:00.000Z", "2024-03-11T13:30:00.000Z"]);
  assert.ok(ranges.every(({ from, to }) => to - from === 6.5 * HOUR));
});

test("every other day is shaded by the clocks of the axis", () => {
  const [days] = SESSIONS;
  const ranges = sessionRanges(days, { from: at(0), to: at(96) }, new Zone("Asia/Tokyo"));
  assert.ok(ranges.every(({ from, to }) => to - from === DAY && (from + 9 * HOUR) % (2 * DAY) === 0));
  assert.ok(ranges.length >= 2);
});
