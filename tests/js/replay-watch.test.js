import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { ReplayWatch } from "../../static/js/net/replay-watch.js";

test("a replay that begins, turns back or ends is told soon, one that goes on once it rests", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const watch = new ReplayWatch();
  let told = 0;
  watch.onRest(() => (told += 1));
  const after = (/** @type {number | undefined} */ cursor, /** @type {number} */ ms, series = 1) => {
    watch.moved({ series_id: series, ...(cursor === undefined ? {} : { cursor }) });
    mock.timers.tick(ms);
    return told;
  };
  assert.equal(after(100, 300), 1, "it begins");
  for (const cursor of [110, 120, 130]) assert.equal(after(cursor, 2000), 1, "it plays on");
  assert.equal(after(140, 3000), 2, "it rests");
  assert.equal(after(90, 0), 2);
  assert.equal(after(95, 300), 3, "a step on does not put off what a step back asked for");
  assert.equal(after(200, 300, 2), 4, "that of another series begins");
  assert.equal(after(undefined, 300), 5, "it ends");
  mock.timers.reset();
});
