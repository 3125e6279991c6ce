// Tells when this author's replay of the open series began, moved or ended, in whatever tab, once it rests. No DOM.

const RESTS_MS = 300; // one that plays on is waited for

/** Others may be told now than before: whoever keeps what was told forgets it and asks again. */
export class ReplayWatch {
  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #rests;

  /**
   * Be called each time it rests, in the order of asking.
   * @param {() => void} watcher
   */
  onRest(watcher) {
    this.#watchers.add(watcher);
  }

  /** Take note that it moved. */
  moved() {
    clearTimeout(this.#rests);
    this.#rests = setTimeout(() => {
      for (const watcher of this.#watchers) watcher();
    }, RESTS_MS);
  }
}
