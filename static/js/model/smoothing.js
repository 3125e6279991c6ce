// Smoothed curves, with the raw line kept behind them. Pure.

import { hoverOf, isBaseline } from "./figures.js";

/** @typedef {import("./figures.js").Trace} Trace */

const LEAST_POINTS = 20; // fewer show their course by themselves
const RAW_OPACITY = 0.3;

/**
 * Average a curve with weights that fade into the past; the start is not drawn towards 0 (Kingma and Ba 2015, section 3).
 * @param {readonly (number | null)[]} values null is passed on and does not count
 * @param {number} weight of what came before, 0 to below 1
 * @returns {(number | null)[]}
 */
export function smooth(values, weight) {
  let mean = 0;
  let total = 0;
  return values.map((value) => {
    if (value === null) return null;
    mean = weight * mean + (1 - weight) * value;
    total = weight * total + (1 - weight);
    return mean / total;
  });
}

/**
 * Put a smoothed curve over each long raw one; baselines and short curves stay as they are.
 * @param {readonly Trace[]} traces dressed already
 * @param {number} weight 0: as they are
 * @returns {Trace[]}
 */
export function smoothed(traces, weight) {
  if (weight === 0) return [...traces];
  return traces.flatMap((trace) => {
    if (!isRaw(trace)) return [trace];
    const raw = { ...trace, opacity: RAW_OPACITY, showlegend: false };
    const name = `${trace.name}, smoothed`;
    return [raw, { ...trace, y: smooth(trace.y, weight), line: { ...trace.line, width: 2 }, name, hovertemplate: hoverOf(name) }];
  });
}

/** @param {Trace} trace */
function isRaw(trace) {
  const isLine = (trace.type ?? "scatter") === "scatter" && trace.mode === "lines";
  return isLine && trace.x.length >= LEAST_POINTS && !isBaseline(trace);
}
