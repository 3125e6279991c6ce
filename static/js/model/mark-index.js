// All annotations of a series, in order of time, quick to ask for those in view; never changed in place.

import { endOf, isTwin, reachOf, startOf } from "./annotation.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {{mark: Annotation, lane: number}} Placed lane: the row in which a span's band stands; overlapping spans have different ones */

const LANES = 4;

/** An immutable, ordered set of annotations. */
export class MarkIndex {
  #byId;
  /** @type {Placed[]} in order of where they begin to be drawn */
  #placed;
  /** @type {Float64Array} latest end among the marks up to each */
  #latestEnd;
  /** @type {Set<import("./annotation.js").Kind>} */
  #kinds;

  /** @param {Iterable<Annotation>} marks */
  constructor(marks = []) {
    this.#byId = new Map([...marks].map((mark) => [mark.id, mark]));
    const ordered = [...this.#byId.values()].map((mark) => ({ mark, from: reachOf(mark).from, start: startOf(mark) }));
    ordered.sort((one, other) => compare(one.from, other.from) || compare(one.start, other.start) || (one.mark.id < other.mark.id ? -1 : 1));
    this.#placed = placeInLanes(ordered.map(({ mark }) => mark));
    this.#latestEnd = new Float64Array(ordered.length);
    this.#kinds = new Set(this.#placed.map(({ mark }) => mark.kind));
    let latest = -Infinity;
    this.#placed.forEach(({ mark }, index) => {
      latest = Math.max(latest, reachOf(mark).to, endOf(mark));
      this.#latestEnd[index] = latest;
    });
  }

  get size() {
    return this.#byId.size;
  }

  /**
   * Whether an annotation of a kind is among them.
   * @param {import("./annotation.js").Kind} kind
   */
  has(kind) {
    return this.#kinds.has(kind);
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
      const reach = reachOf(this.#placed[index].mark);
      if (reach.from > to) break;
      if (reach.to >= from) found.push(this.#placed[index]);
    }
    return found;
  }

  /**
   * One of an author that says the same of the same place; those without an author are not stored yet and theirs.
   * @param {Annotation} mark
   * @param {string} author
   * @returns {Annotation | undefined}
   */
  twin(mark, author) {
    const from = startOf(mark);
    return this.between(from, Math.max(from, endOf(mark))).find(({ mark: other }) => (other.author ?? author) === author && isTwin(other, mark))?.mark;
  }

  /** @param {Annotation[]} marks new or changed */
  with(...marks) {
    return new MarkIndex([...this.#byId.values(), ...marks]);
  }

  /** @param {string[]} ids */
  without(...ids) {
    const gone = new Set(ids);
    return new MarkIndex([...this.#byId.values()].filter(({ id }) => !gone.has(id)));
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

/**
 * @param {number} one
 * @param {number} other
 */
function compare(one, other) {
  return one === other ? 0 : one - other;
}
