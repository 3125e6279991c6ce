// Where the crosshair is or was last: what the keys that draw go by.

const INSIDE = 1e-6; // of a candle: a position just inside the candle that opens there

/** The crosshair's candle and price. */
export class Cursor {
  #view;
  /** @type {{time: number, price: number | null} | null} */
  #last = null;

  /** @param {import("./chart-view.js").ChartView} view */
  constructor(view) {
    this.#view = view;
    view.chart.crosshair.watch((at) => {
      if (at && view.window.length) this.#last = { time: view.window.openAt(at.position), price: at.price };
    });
  }

  /**
   * The candle to act on: the one under the crosshair while it is in view, else the one in the middle.
   * @returns {{index: number, position: number, time: number, price: number} | null}
   */
  get() {
    const [candles, range] = [this.#view.window, this.#view.visible()];
    if (!candles.length || !range) return null;
    const last = this.#last;
    const isInView = last !== null && last.time >= range.from && last.time < range.to;
    const time = isInView ? last.time : Math.min((range.from + range.to) / 2, candles.columns.time[candles.length - 1]);
    const index = Math.max(0, candles.indexAt(time));
    const price = (isInView ? last.price : null) ?? candles.columns.close[index];
    const position = candles.positionOf(time) + INSIDE;
    return { index, position, time: candles.openAt(position), price };
  }

  /**
   * Act on the candle at a time from now on, until the crosshair moves.
   * @param {number} time
   * @param {number | null} [price]
   */
  aim(time, price = null) {
    this.#last = { time, price };
  }

  /**
   * Put the crosshair on a candle.
   * @param {number} index
   */
  set(index) {
    const { close, time } = this.#view.window.columns;
    this.#last = { time: time[index], price: close[index] };
    this.#view.chart.crosshair.put(index, close[index]);
  }

  /**
   * Move to the next of its candle's four prices.
   * @param {1 | -1} direction up or down
   */
  stepPrice(direction) {
    const at = this.get();
    if (!at) return;
    const { open, high, low, close, time } = this.#view.window.candle(at.index);
    const further = [open, high, low, close].filter((price) => (price - at.price) * direction > 0);
    if (further.length === 0) return;
    const price = direction > 0 ? Math.min(...further) : Math.max(...further);
    this.#last = { time, price };
    this.#view.chart.crosshair.put(at.index, price);
  }
}
