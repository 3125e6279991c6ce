"""An HTML report that opens without a network: candles, marks, trades with results, figures of the last run. Pure.

Plotly's code is inside of the file. Names are data: every text is escaped for HTML, and again for Plotly's own markup.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from plotly.offline.offline import get_plotlyjs

from annotate.annotations.geometry import CLASS_KINDS, KINDS
from annotate.candles import Candles, aggregate
from annotate.exporting.description import PARTS
from annotate.exporting.iso import iso
from annotate.exporting.losses import PEOPLE
from annotate.exporting.member import Member, Source
from annotate.exporting.trades import TradeResult, results_of, totals_of
from annotate.timeframe import USER_TIMEFRAMES, coarser
from nn.dataset_dir import COLUMNS, DatasetDir

Json = dict[str, Any]
Mark = Mapping[str, Any]

MOST_CANDLES = 4_000  # drawn; a longer series is drawn in coarser ones
MOST_SPANS = 1_000  # boxes that a browser draws without waiting
MOST_LISTED = 500  # marks in the table
HALF_OPEN = (*CLASS_KINDS, "chart_class")  # kinds that end with the close of their last candle
STYLE = """
:root { color-scheme: light dark; --text: #1c2330; --muted: #5b6575; --line: #c9d0da; --ground: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ef; --muted: #98a3b5; --line: #39424f; --ground: #14181f; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--text);
  background: var(--ground); overflow-wrap: anywhere; }
h2 { margin-top: 2rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
td, th { border: 1px solid var(--line); padding: 2px 8px; text-align: left; vertical-align: top; }
td, th { white-space: nowrap; overflow-wrap: normal; unicode-bidi: isolate; } th { color: var(--muted); }
td:last-child { white-space: pre-line; overflow-wrap: anywhere; min-width: 8rem; }
.chart { height: 32rem; } .figure { height: 22rem; }
"""
VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
DRAW = """
const figures = JSON.parse(document.getElementById("figures").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const draw = () => {
  const style = getComputedStyle(document.documentElement);
  const axis = {gridcolor: style.getPropertyValue("--line"), zerolinecolor: style.getPropertyValue("--line")};
  const font = {color: style.getPropertyValue("--text")};
  const look = {paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font};
  for (const {id, figure} of figures) {
    const {xaxis, yaxis, ...rest} = figure.layout;
    const layout = {...rest, ...look, xaxis: {...axis, ...xaxis}, yaxis: {...axis, ...yaxis}};
    Plotly.react(id, figure.data, layout, {responsive: true, displaylogo: false});
  }
};
dark.addEventListener("change", draw);
draw();
"""


def members(source: Source) -> list[Member]:
    """Give report.html."""
    return [Member("report.html", _page(source))]


def lost(source: Source) -> list[str]:
    """Name what the report leaves out."""
    dataset = source.dataset
    said = ["it is for reading: no product reads it back"]
    drawn, timeframe = _drawn(dataset)
    if len(drawn) < len(dataset.candles):
        said.append(f"{len(dataset.candles):,} candles are drawn as {len(drawn):,} of {timeframe}")
    spans = sum(mark["kind"] in CLASS_KINDS for mark in dataset.annotations)
    if spans > MOST_SPANS:
        said.append(f"{spans - MOST_SPANS:,} spans are not drawn, only counted")
    more = len(dataset.annotations) - MOST_LISTED
    said += [f"{more:,} marks are not in its table"] if more > 0 else []
    return [*said, ", ".join(name for name in PEOPLE if name != "author") + " of each mark"]


def _page(source: Source) -> Iterator[bytes]:
    dataset, manifest = source.dataset, source.dataset.manifest
    title = f"{manifest['symbol']} {manifest['timeframe']}"
    figures = [{"id": "candles", "figure": _chart(dataset)}]
    figures += [{"id": f"figure-{n}", "figure": each["figure"]} for n, each in enumerate(source.figures)]
    trades = results_of(dataset.annotations)
    body = [
        f"<h1>{_text(title)}</h1>",
        f"<p>Dataset {manifest['hash'][:16]}, {len(dataset.candles):,} candles{_simulated(manifest)}.</p>",
        '<div class="chart" id="candles"></div>',
        "<h2>Classes</h2>",
        _classes(manifest),
        "<h2>Split and leak gate</h2>",
        _split(manifest),
        "<h2>Trades</h2>",
        _trades(trades),
        "<h2>Marks</h2>",
        _marks(dataset.annotations),
        *(["<h2>The run that last learnt from it</h2>"] if source.figures else []),
        *(f'<div class="figure" id="figure-{n}"></div>' for n in range(len(source.figures))),
    ]
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>{VIEWPORT}'
    yield f"{head}<style>{STYLE}</style></head><body>{''.join(body)}".encode()
    yield f'<script type="application/json" id="figures">{_embedded(figures)}</script><script>'.encode()
    yield get_plotlyjs().encode("utf-8")
    yield f"</script><script>{DRAW}</script></body></html>\n".encode()


def _drawn(dataset: DatasetDir) -> tuple[Candles, str]:
    """Give the candles in the finest timeframe in which they are few enough to draw."""
    candles = Candles(*(getattr(dataset.candles, name) for name in COLUMNS))
    timeframe: str = dataset.manifest["timeframe"]
    for wider in coarser(timeframe, USER_TIMEFRAMES):
        if len(candles) <= MOST_CANDLES:
            break
        candles, timeframe = aggregate(candles, wider), wider
    return candles, timeframe


def _chart(dataset: DatasetDir) -> Json:
    candles, timeframe = _drawn(dataset)
    columns = {name: getattr(candles, name).tolist() for name in COLUMNS[1:5]}
    trace = {"type": "candlestick", "x": _days(candles.time.tolist()), "name": timeframe, **columns}
    labels = {label["name"]: label["colour"] for label in dataset.manifest["label_set"]["labels"]}
    spans = [mark for mark in dataset.annotations if mark["kind"] in CLASS_KINDS][:MOST_SPANS]
    lines = [mark for mark in dataset.annotations if mark["kind"] in ("level", "trend_line")]
    ends = [int(candles.time[0]), int(candles.time[-1])] if len(candles) else [0, 0]
    return {
        "data": [trace, *_point_traces(dataset.annotations, labels), *_trade_traces(dataset.annotations, labels)],
        "layout": {
            "shapes": [
                *(_box(span, labels[span["label"]]) for span in spans),
                *(_line(mark, labels[mark["label"]], ends) for mark in lines),
            ],
            "xaxis": {"rangeslider": {"visible": False}, "title": {"text": "UTC"}},
            "margin": {"t": 20},
        },
    }


def _box(span: Mark, colour: str) -> Json:
    start, end = _days([span["start"], span["end"]])
    place = {"yref": "paper", "y0": 0, "y1": 1, "x0": start, "x1": end}
    look = {"fillcolor": colour, "opacity": 0.2, "line": {"width": 0}, "label": {"text": _markup(span["label"])}}
    return {"type": "rect", **place, **look}


def _line(mark: Mark, colour: str, ends: Sequence[int]) -> Json:
    """Draw a level or a trend line between its ends; an open level reaches to those of the chart."""
    if mark["kind"] == "level":
        times = [ends[0] if mark["time"] is None else mark["time"], mark["until"] or ends[1]]
        prices = [mark["price"], mark["price"]]
    else:
        times, prices = ([mark[end][name] for end in ("start", "end")] for name in ("time", "price"))
    start, end = _days(times)
    look = {"line": {"color": colour, "width": 2}, "label": {"text": _markup(mark["label"])}}
    return {"type": "line", "x0": start, "x1": end, "y0": prices[0], "y1": prices[1], **look}


def _point_traces(marks: Sequence[Mark], labels: Mapping[str, str]) -> Iterator[Json]:
    points = [mark for mark in marks if mark["kind"] == "point"]
    for name, colour in labels.items():
        chosen = [mark for mark in points if mark["label"] == name]
        if chosen:
            place = {"x": _days([mark["time"] for mark in chosen]), "y": [mark["price"] for mark in chosen]}
            look = {"mode": "markers", "marker": {"color": colour, "size": 9}}
            yield {"type": "scatter", "name": _markup(name), **place, **look}


def _trade_traces(marks: Sequence[Mark], labels: Mapping[str, str]) -> Iterator[Json]:
    for trade in (mark for mark in marks if mark["kind"] == "trade"):
        ends = [trade["entry"], trade["exit"]]
        place = {"x": _days([end["time"] for end in ends]), "y": [end["price"] for end in ends]}
        look = {"mode": "lines+markers", "showlegend": False, "line": {"color": labels[trade["label"]], "dash": "dot"}}
        yield {"type": "scatter", "name": _markup(f"{trade['side']} {trade['label']}"), **place, **look}


def _classes(manifest: Mark) -> str:
    rows: list[tuple[str, ...]] = []
    for layer, chance in manifest["chance"].items():
        names = [name for name in manifest["labels"] if name in chance["candles"]]
        most = "" if chance["majority"] is None else f"{chance['majority']:.1%}"
        rows += [(layer, name, str(manifest["counts"][name]), str(chance["candles"][name]), most) for name in names]
    return _table(("Layer", "Class", "Marks", "Candles", "Most frequent class of the layer"), rows)


def _split(manifest: Mark) -> str:
    rows = [
        (name, *((f"{part['candles']:,}", iso(part["from"]), iso(part["to"])) if part else ("0", "", "")))
        for name, part in ((name, manifest["parts"][name]) for name in PARTS)
    ]
    gate = manifest["gate"]
    purged = sum(map(len, gate["purged"].values()))
    words = f"Purge {gate['purge']}, embargo {gate['embargo']} candles; {purged} marks reach beyond their part."
    return _table(("Part", "Candles", "First", "Last"), rows) + f"<p>{words}</p>"


def _trades(trades: Sequence[TradeResult]) -> str:
    if not trades:
        return "<p>None.</p>"
    rows = [
        (each.label, each.side, iso(each.entry), iso(each.exit), _share(each.change), _plain(each.risk))
        for each in trades
    ]
    totals = totals_of(trades)
    words = f"{totals.count} trades, {totals.won} won, sum {_share(totals.change)}, mean {_share(totals.mean)}."
    return f"<p>{words}</p>" + _table(("Label", "Side", "Entry", "Exit", "Result", "Result ÷ risk"), rows)


def _marks(marks: Sequence[Mark]) -> str:
    rows = [
        (mark["kind"].replace("_", " "), mark["label"], *_when(mark), mark["author"], mark["comment"])
        for mark in marks[:MOST_LISTED]
    ]
    more = len(marks) - len(rows)
    words = f"<p>and {more:,} more.</p>" if more > 0 else ""
    return _table(("Kind", "Label", "From", "To", "Author", "Comment"), rows) + words if rows else "<p>None.</p>"


def _when(mark: Mark) -> tuple[str, str]:
    kind = KINDS[mark["kind"]]
    first, last = kind.first(mark), kind.last(mark)
    if first is None or last is None:
        return "the whole chart", ""
    end = last + 1 if mark["kind"] in HALF_OPEN else last
    return iso(first), "" if first == last else iso(end)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["".join(f"<td>{_text(cell)}</td>" for cell in cells) for cells in rows]
    names = "".join(f"<th>{_text(name)}</th>" for name in head)
    return f'<div class="wide"><table><tr>{names}</tr>{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>'


def _embedded(value: object) -> str:
    """Write JSON that no HTML parser mistakes for markup."""
    return json.dumps(value).replace("<", "\\u003c")


def _text(text: str) -> str:
    return html.escape(text)


def _markup(text: str) -> str:
    """Escape what Plotly would read as its own small HTML."""
    return html.escape(text, quote=False)


def _days(times: list[int]) -> list[str]:
    return [str(time) for time in np.array(times, "datetime64[ms]")]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:+.2%}"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _simulated(manifest: Mark) -> str:
    return ", simulated" if manifest["simulated"] else ""
