// All annotations of a series, in order of time, quick to ask for those in view; never changed in place.

import { endOf, startOf } from "./annotation.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {{mark: Annotation, lane: number}} Placed lane: the row in which a span's band stands; overlapping spans have different ones */

const LANES = 4;

/** An immutable, ordered set of annotations. */
export class MarkIndex {
  #byId;
  /** @type {Placed[]} in order of start */
  #placed;
  /** @type {Float64Array} latest end among the marks up to each */
  #latestEnd;

  /** @param {Iterable<Annotation>} marks */
  constructor(marks = []) {
    this.#byId = new Map([...marks].map((mark) => [mark.id, mark]));
    const ordered = [...this.#byId.values()].sort((one, other) => startOf(one) - startOf(other) || (one.id < other.id ? -1 : 1));
    this.#placed = placeInLanes(ordered);
    this.#latestEnd = new Float64Array(ordered.length);
    let latest = -Infinity;
    ordered.forEach((mark, index) => {
      latest = Math.max(latest, endOf(mark));
      this.#latestEnd[index] = latest;
    });
  }

  get size() {
    return this.#byId.size;
  }

  /** @returns {Annotation[]} in order of start */
  all() {
    return this.#placed.map(({ mark }) => mark);
  }

  /**
   * @param {string | null} id
   * @returns {Annotation | undefined}
   */
  get(id) {
    return id === null ? undefined : this.#byId.get(id);
  }

  /**
   * Those that touch a time range, in order of start.
   * @param {number} from
   * @param {number} to
   * @returns {Placed[]}
   */
  between(from, to) {
    const found = [];
    for (let index = firstAtLeast(this.#latestEnd, from); index < this.#placed.length; index += 1) {
      const { mark } = this.#placed[index];
      if (startOf(mark) > to) break;
      if (endOf(mark) >= from) found.push(this.#placed[index]);
    }
    return found;
  }

  /** @param {Annotation[]} marks new or changed */
  with(...marks) {
    return new MarkIndex([...this.#byId.values(), ...marks]);
  }

  /** @param {string[]} ids */
  without(...ids) {
    return new MarkIndex([...this.#byId.values()].filter(({ id }) => !ids.includes(id)));
  }

  /**
   * The annotation after or before one, in order of start; the first or last without one.
   * @param {string | null} id
   * @param {1 | -1} step
   * @returns {Annotation | undefined}
   */
  neighbour(id, step) {
    const index = this.#placed.findIndex(({ mark }) => mark.id === id);
    if (index < 0) return this.#placed.at(step > 0 ? 0 : -1)?.mark;
    return this.#placed[index + step]?.mark;
  }
}

/**
 * @param {Annotation[]} ordered
 * @returns {Placed[]}
 */
function placeInLanes(ordered) {
  const ends = new Array(LANES).fill(-Infinity);
  return ordered.map((mark) => {
    if (mark.kind !== "span") return { mark, lane: 0 };
    const free = ends.findIndex((end) => end <= mark.start);
    const lane = free >= 0 ? free : ends.indexOf(Math.min(...ends));
    ends[lane] = Math.max(ends[lane], mark.end);
    return { mark, lane };
  });
}

/**
 * @param {Float64Array} ascending
 * @param {number} value
 */
function firstAtLeast(ascending, value) {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
