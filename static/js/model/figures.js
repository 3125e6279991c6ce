// Plotly figures of the server, dressed in the page's colours. Pure; no DOM, no Plotly.

/**
 * @typedef {object} Trace
 * @property {string} name
 * @property {string} [type] `scatter` where it is left out; `heatmap` or `table`
 * @property {unknown[]} x
 * @property {(number | null)[]} y
 * @property {{width?: number, dash?: string, color?: string}} [line]
 * @property {string} [mode]
 * @property {string} [fill] an area, such as an interval
 */

/** @typedef {{data: Trace[], layout: Record<string, any>}} Figure */
/** @typedef {{name: string, title: string, figure: Figure}} NamedFigure */
/** @typedef {{text: string, muted: string, grid: string, line: string, panel?: string, series: string[]}} FigureColours */

const HEIGHT = 260;
const LEGEND_LINE = 18;
/** Traces whose names the usual height has room for. */
const LEGEND_LINES = 4;

/**
 * Dress a figure: the page's colours and sizes; baselines are muted and dashed, so that the model stands out.
 * @param {NamedFigure} named
 * @param {FigureColours} colours
 * @param {string} revision while it stays the same, zoom and hidden traces stay as a person left them
 * @returns {Figure}
 */
export function dressed({ title, figure }, colours, revision) {
  return {
    data: dressedTraces(figure.data, colours),
    layout: { ...figure.layout, ...frame(title, figure.layout, colours, figure.data.length), uirevision: revision },
  };
}

/**
 * @param {Trace[]} traces
 * @param {FigureColours} colours
 * @returns {Trace[]}
 */
function dressedTraces(traces, colours) {
  let next = 0;
  return traces.map((trace) => {
    if (trace.fill !== undefined) return { ...trace, fillcolor: `${colours.series[0]}22`, hoverinfo: "skip", showlegend: false };
    if (trace.type === "heatmap") return { ...trace, colorscale: [[0, colours.panel ?? "#fff"], [1, colours.series[0]]] };
    if (trace.type === "table") return dressedTable(trace, colours);
    const isDashed = trace.line?.dash === "dash";
    const place = isDashed ? 0 : next++;
    const color = isDashed ? colours.muted : colours.series[place % colours.series.length];
    const again = AGAIN[Math.floor(place / colours.series.length) % AGAIN.length];
    const dash = isDashed ? (BASELINE_DASHES[baselineOf(trace.name)] ?? "dash") : again;
    return { ...trace, line: { ...trace.line, color, dash }, hovertemplate: hoverOf(trace.name) };
  });
}

/**
 * @param {Record<string, any> & Trace} trace
 * @param {FigureColours} colours
 */
function dressedTable(trace, colours) {
  const look = { fill: { color: "rgba(0,0,0,0)" }, line: { color: colours.line }, font: { color: colours.text, size: 11 } };
  return { ...trace, header: { ...trace["header"], ...look }, cells: { ...trace["cells"], ...look, height: 24 } };
}

/** @type {Record<string, string | undefined>} */
const BASELINE_DASHES = { majority: "dash", persistence: "dot", momentum: "longdashdot", logistic: "dashdot", start: "longdash" };

/** Of a colour's first curve, its second, and so on: many compared runs share the colours. */
const AGAIN = ["solid", "9px,3px", "3px,3px", "9px,3px,3px,3px"];

/** @param {string} name a trace such as `majority (validation)` */
function baselineOf(name) {
  return name.split(" ", 1)[0];
}

/**
 * Tell whether a dressed trace is a baseline's.
 * @param {Trace} trace
 * @returns {boolean}
 */
export function isBaseline(trace) {
  return Object.values(BASELINE_DASHES).includes(trace.line?.dash);
}

/** @param {string} name of a trace */
export function hoverOf(name) {
  return `%{y}<extra>${escaped(name)}</extra>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("<", "&lt;");
}

/**
 * @param {string} title
 * @param {Record<string, any>} layout
 * @param {FigureColours} colours
 * @param {number} traces
 */
function frame(title, layout, colours, traces) {
  const over = layout["xaxis"]?.title?.text; // said in the title: below the axis it takes the legend's room
  const axis = { gridcolor: colours.grid, linecolor: colours.line, zeroline: false, automargin: true };
  return {
    title: {
      text: escaped(over === undefined ? title : `${title}, by ${over}`),
      font: { size: 13 },
      x: 0,
      xref: "paper",
      pad: { t: 4 },
    },
    height: HEIGHT + LEGEND_LINE * Math.max(0, traces - LEGEND_LINES),
    margin: { l: 48, r: 12, t: 30, b: 34 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colours.text, size: 11 },
    hovermode: "x unified",
    hoverlabel: { bgcolor: colours.panel ?? "#fff", bordercolor: colours.line, font: { color: colours.text, size: 11 } },
    showlegend: true,
    legend: { orientation: "h", y: -0.2, x: 0, font: { size: 10 } },
    xaxis: { ...layout["xaxis"], ...axis, title: { text: "" }, spikecolor: colours.muted, spikethickness: 1 },
    yaxis: { ...layout["yaxis"], ...axis, hoverformat: layout["yaxis"]?.tickformat === ".0%" ? ".1%" : ".5~g" },
  };
}
