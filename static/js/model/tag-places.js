// Where the names of annotations stand on the chart: beside their mark, a row up or down where another name is.

/**
 * A name as it wants to stand.
 * @typedef {object} Tag
 * @property {string} text
 * @property {string} colour
 * @property {number} left px
 * @property {number} width px
 * @property {number} middle px
 * @property {boolean} first whether it chooses its place before the others
 */

const ROWS = [0, -1, 1, -2, 2, -3, 3];

/**
 * Find for each tag the row nearest to its own that no other covers and that lies in the pane.
 * @template {Pick<Tag, "left" | "width" | "middle" | "first">} T
 * @param {readonly T[]} tags
 * @param {number} rowPx height of a tag with the space below it
 * @param {number} height of the pane, px
 * @returns {T[]} in the order of painting; where all rows are taken, a tag stays where it wanted
 */
export function placedTags(tags, rowPx, height) {
  const inTurn = [...tags.filter(({ first }) => first), ...tags.filter(({ first }) => !first)];
  /** @type {T[]} */
  const placed = [];
  for (const tag of inTurn) {
    const middles = ROWS.map((row) => tag.middle + row * rowPx).filter((middle, place) => place === 0 || (middle >= rowPx / 2 && middle <= height - rowPx / 2));
    const free = middles.find((middle) => !placed.some((other) => covers(other, { ...tag, middle }, rowPx)));
    placed.push({ ...tag, middle: free ?? tag.middle });
  }
  return placed.reverse(); // what chose first is painted last
}

/**
 * @param {Pick<Tag, "left" | "width" | "middle">} one
 * @param {Pick<Tag, "left" | "width" | "middle">} other
 * @param {number} rowPx
 */
function covers(one, other, rowPx) {
  return one.left < other.left + other.width && other.left < one.left + one.width && Math.abs(one.middle - other.middle) < rowPx;
}
