// Tells when this author's replay of the open series began, moved or ended, or a blind pass did, in whatever tab. No DOM.

/** A beginning, a step back and the end change what may be told: soon. */
const SOON_MS = 300;
/** A replay that goes on only adds to it, and each time all is asked again: once it rests. */
const RESTS_MS = 3000;

/** @typedef {{series_id: number, cursor?: number}} Moved the cursor is left out at the end, and of a blind pass */

/** Whoever keeps what was told forgets it and asks again. */
export class ReplayWatch {
  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #rests;
  /** @type {Map<number, number | undefined>} series → where its replay stands */
  #cursors = new Map();
  #isUrgent = false;

  /**
   * Be called each time, in the order of asking.
   * @param {() => void} watcher
   */
  onRest(watcher) {
    this.#watchers.add(watcher);
  }

  /** @param {Moved} notice */
  moved({ series_id: seriesId, cursor }) {
    const goesOn = cursor !== undefined && cursor >= (this.#cursors.get(seriesId) ?? Infinity);
    this.#cursors.set(seriesId, cursor);
    this.#isUrgent ||= !goesOn;
    clearTimeout(this.#rests);
    this.#rests = setTimeout(() => this.#tell(), this.#isUrgent ? SOON_MS : RESTS_MS);
  }

  #tell() {
    this.#isUrgent = false;
    for (const watcher of this.#watchers) watcher();
  }
}
