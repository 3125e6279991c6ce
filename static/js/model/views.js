// What a workspace's export takes along of this browser's views, and how they come back. Pure; no DOM.

/** @typedef {import("./settings.js").Settings} Settings */
/** @typedef {{series: number, timeframe: string, from: number, to: number}} PlacedView */

const KEPT = /** @type {const} */ (["zone", "theme", "palette", "scale"]);

/**
 * Give the views of a workspace; a series is named by its place, since ids differ from one instance to the next.
 * @param {Settings} settings
 * @param {readonly {id: number}[]} series in the order of their ids
 * @returns {Record<string, unknown>}
 */
export function viewsOut(settings, series) {
  const places = new Map(series.map(({ id }, index) => [id, index + 1]));
  const placed = settings.views
    .filter(({ seriesId }) => places.has(seriesId))
    .map(({ seriesId, timeframe, from, to }) => ({ series: places.get(seriesId), timeframe, from, to }));
  return { ...Object.fromEntries(KEPT.map((name) => [name, settings[name]])), placed };
}

/**
 * Give settings that hold the views of an imported workspace.
 * @param {Settings} settings
 * @param {unknown} views as `viewsOut` gave them; anything else changes nothing
 * @param {readonly {id: number}[]} series the imported ones, by place
 * @returns {Settings}
 */
export function viewsIn(settings, views, series) {
  const given = views !== null && typeof views === "object" ? /** @type {Record<string, unknown>} */ (views) : {};
  const look = KEPT.filter((name) => typeof given[name] === typeof settings[name]).map((name) => [name, given[name]]);
  const placed = Array.isArray(given["placed"]) ? given["placed"].filter(isPlaced) : [];
  const taken = placed.flatMap(({ series: place, ...view }) => (series[place - 1] ? [{ seriesId: series[place - 1].id, ...view }] : []));
  const others = settings.views.filter(({ seriesId }) => !taken.some((view) => view.seriesId === seriesId));
  return { ...settings, ...Object.fromEntries(look), views: [...others, ...taken] };
}

/**
 * @param {unknown} view
 * @returns {view is PlacedView}
 */
function isPlaced(view) {
  const { series, timeframe, from, to } = /** @type {Record<string, unknown>} */ (view ?? {});
  return Number.isInteger(series) && typeof timeframe === "string" && typeof from === "number" && typeof to === "number";
}
