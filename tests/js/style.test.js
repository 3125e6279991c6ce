// The style sheet: every text can be read on every surface, in both themes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { contrast } from "../../static/js/model/colour.js";

const sheet = readFileSync(new URL("../../static/css/tokens.css", import.meta.url), "utf8");

/**
 * The colours of a block of the style sheet.
 * @param {string} selector
 * @returns {Record<string, string>}
 */
function tokens(selector) {
  const block = sheet.slice(sheet.indexOf(selector));
  const body = block.slice(block.indexOf("{"), block.indexOf("}"));
  return Object.fromEntries([...body.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, colour]) => [name, colour]));
}

const THEMES = { dark: tokens(':root[data-theme="dark"]'), light: tokens(':root[data-theme="light"]') };
const SURFACES = ["page", "surface", "raised", "hover", "chart-background"];

for (const [theme, colours] of Object.entries(THEMES)) {
  test(`text can be read on every surface of the ${theme} theme`, () => {
    for (const text of ["text", "text-muted", "accent", "warning", "danger", "ok"]) {
      for (const surface of SURFACES.filter((each) => each !== "hover" || text.startsWith("text"))) {
        assert.ok(contrast(colours[text], colours[surface]) >= 4.5, `${text} on ${surface}: ${contrast(colours[text], colours[surface]).toFixed(2)}`);
      }
    }
    assert.ok(contrast(colours["on-accent"], colours["accent-fill"]) >= 4.5);
    assert.ok(contrast("#ffffff", colours["danger-fill"]) >= 4.5);
  });

  test(`candles and field borders stand out in the ${theme} theme`, () => {
    const palettes = [colours, tokens(theme === "light" ? ':root[data-theme="light"][data-palette' : ':root[data-palette="blue-orange"]')];
    for (const { up, down } of palettes) {
      assert.ok(contrast(up, colours["chart-background"]) >= 3, up);
      assert.ok(contrast(down, colours["chart-background"]) >= 3, down);
    }
    assert.ok(contrast(colours["line-strong"], colours.surface) >= 3);
  });
}
