// Keeps the results of trades beside their marks: asked again once the marks stand still for a moment.

import { resultText } from "../model/worth.js";

const WAIT_MS = 400;

/**
 * @param {import("./context.js").PageContext} context
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 * @param {import("./mark-layer.js").MarkLayer} layer
 */
export function followWorth({ api, series }, book, layer) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const ask = async () => {
    const { current } = series.get();
    if (!current || !book.index.has("trade")) return book.worth.set(new Map());
    try {
      const { items } = await api.get(`/api/series/${current.id}/worth`);
      const found = /** @type {import("../model/worth.js").TradeResult[]} */ (items);
      if (current.id === series.get().current?.id) book.worth.set(new Map(found.map((item) => [item.id, item])));
    } catch {
      // The marks keep the return between their two prices; the results are asked for again with the next change.
      book.worth.set(new Map());
    }
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => void ask(), WAIT_MS);
  };
  book.state.subscribe((now, before) => now.index !== before.index && soon());
  book.worth.subscribe((now) => layer.set({ worth: new Map([...now].map(([id, item]) => [id, resultText(item)])) }));
  soon();
}
