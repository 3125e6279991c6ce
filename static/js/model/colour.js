// Colour rules: reading #rrggbb, and which text colour can be read on it.

/**
 * Black or white, whichever stands out more on a colour.
 * @param {string} colour #rrggbb
 * @returns {"#000000" | "#ffffff"}
 */
export function textOn(colour) {
  return contrast(colour, "#000000") >= contrast(colour, "#ffffff") ? "#000000" : "#ffffff";
}

/**
 * Contrast of two colours by WCAG 2.1, from 1 to 21.
 * @param {string} one #rrggbb
 * @param {string} other #rrggbb
 */
export function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/**
 * The colour with an opacity.
 * @param {string} colour #rrggbb
 * @param {number} alpha 0 to 1
 */
export function faint(colour, alpha) {
  return colour + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

/** @param {string} colour */
function luminance(colour) {
  const parts = [1, 3, 5].map((start) => {
    const share = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
