"""How the chart moves, in one browser: pan, wheel, a live candle, spans; against bare pages of two chart libraries."""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, sync_playwright

from bench.report import Measure, alternate, ratios
from tests.e2e.conftest import BROWSERS, OPTIONS
from tests.serving import Server, start_server

ROUNDS = 5
MOVES = 24
WHEELS = 10
APPENDED = 12
# Candles of each bare page. Ours pans over the whole series by windows; a bare page pans over what it holds. With
# 1,000 of them the bare page of lightweight-charts itself takes .6 of Plotly's time and of its main thread's work, most
# of it software raster: whatever draws with that library stays above .5 there, and ours takes .7.
HELD = 4_000
SHOWN = 200
SERIES, DAILY = 1, 2  # EUR/USD 1h and AAPL 1d of the sample
HOUR = 3_600_000
DAY = 24 * HOUR
PRESSES = 12
SPANS, MANY = 500, 10_000
Pair = Callable[[], float]

PROBE = """() => {
  const painted = began => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.__took.push(performance.now() - began);
    port2.postMessage(0);
  });
  window.__took = [];
  window.__painted = painted;
  for (const name of ['pointermove', 'wheel', 'keydown', 'change'])
    addEventListener(name, () => painted(performance.now()), { capture: true, passive: true });
}"""
APPEND = """([candle]) => { const began = performance.now(); window.__add(candle); window.__painted(began); }"""
FRAMES = """() => {
  window.__behind = [];
  addEventListener('pointermove', () => {
    const before = __chart.stats().paints;
    let frames = 0;
    const wait = () => {
      frames += 1;
      if (__chart.stats().paints > before) window.__behind.push(frames);
      else if (frames < 30) requestAnimationFrame(wait);
    };
    requestAnimationFrame(() => setTimeout(wait));
  }, { capture: true, passive: true });
}"""
HEAD = "<!doctype html><meta charset=utf-8><style>body{margin:0}#c{width:916px;height:640px}</style><div id=c></div>"
LIGHTWEIGHT = """<script type=module>
import { createChart, CandlestickSeries, HistogramSeries }
  from '/static/bench/vendor/lightweight-charts.standalone.production.mjs';
const chart = createChart(document.getElementById('c'), { autoSize: true });
const series = chart.addSeries(CandlestickSeries);
series.setData(DATA.map(([t, o, h, l, c]) => ({ time: t / 1000, open: o, high: h, low: l, close: c })));
const volume = chart.addSeries(HistogramSeries, { priceFormat: { type: 'volume' } }, 1);
volume.setData(DATA.map(([t, , , , , v]) => ({ time: t / 1000, value: v })));
chart.timeScale().setVisibleLogicalRange({ from: DATA.length - SHOWN, to: DATA.length + 5 });
window.__add = ([t, o, h, l, c]) => series.update({ time: t / 1000, open: o, high: h, low: l, close: c });
window.__ready = true;
</script>"""
PLOTLY = """<script src=/static/bench/plotly.min.js></script><script>
const at = index => DATA.map(row => row[index]);
const [time, open, high, low, close] = [0, 1, 2, 3, 4].map(at);
const range = [DATA[DATA.length - SHOWN][0], DATA[DATA.length - 1][0]];
const axis = { type: 'date', range, rangeslider: { visible: false } };
const trace = { type: 'candlestick', x: time, open, high, low, close };
const layout = { dragmode: 'pan', xaxis: axis, margin: { t: 10, r: 10 }, width: 916, height: 640 };
Plotly.newPlot('c', [trace], layout, { scrollZoom: true }).then(() => (window.__ready = true));
window.__add = ([t, o, h, l, c]) =>
  Plotly.extendTraces('c', { x: [[t]], open: [[o]], high: [[h]], low: [[l]], close: [[c]] }, [0]);
</script>"""


def measures() -> Iterator[Measure]:
    """Measure ours and the bare pages in turn, in one browser."""
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = start_server(Path(folder) / "data")
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        try:
            yield from _moves(browser, server)
            yield from _spans(browser, server)
        finally:
            browser.close()
            server.stop()


def _moves(browser: Browser, server: Server) -> Iterator[Measure]:
    ours = _our_page(browser, server)
    bare, plotly = (_bare_page(browser, server, script) for script in (LIGHTWEIGHT, PLOTLY))
    peers = (
        (bare, "a bare lightweight-charts page of the same candles and volume", 1.5),
        (plotly, "a Plotly candlestick", 0.5),
    )
    for name, measured in (("pan, p50", _pan), ("wheel, p50", _wheel)):
        for peer, title, bar in peers:
            yield _measure(name, title, bar, partial(measured, ours), partial(measured, peer))
    yield _measure("a live candle painted", "a Plotly candlestick", 0.4, partial(_live, ours), partial(_live, plotly))
    for page in (ours, bare, plotly):
        page.close()


def _spans(browser: Browser, server: Server) -> Iterator[Measure]:
    """The same page with annotations and without, side by side; and how far a dragged span lies behind the pointer."""
    none = _our_page(browser, server, series_id=2)
    for count, bar in ((SPANS, 2.0), (MANY, 2.0)):
        _store_spans(server, count)
        with_spans = _our_page(browser, server)
        with_spans.wait_for_function("() => __chart.stats().spans > 5")
        yield _measure(f"pan, p50, with {count:,} spans", "none", bar, partial(_pan, with_spans), partial(_pan, none))
        if count == SPANS:
            yield _drag(with_spans)
        else:
            yield from _list(browser, server, with_spans)
        with_spans.close()


def _list(browser: Browser, server: Server, with_many: Page) -> Iterator[Measure]:
    """Selecting, filtering and drawing among many annotations, beside a page that has a twentieth of them."""
    _store_spans(server, SPANS, DAILY, DAY)
    with_some = _our_page(browser, server, DAILY)
    with_some.wait_for_function("() => __chart.stats().spans > 5")
    for name, act in (("select the next", _select), ("filter the list", _filter), ("draw a span", _draw)):
        title = f"{name} of {MANY:,}, p50"
        yield _measure(title, f"of {SPANS}", 4.0, partial(act, with_many), partial(act, with_some))
    with_some.close()


def _select(page: Page) -> float:
    return statistics.median(_key(page, "j") for _ in range(PRESSES))


def _key(page: Page, key: str) -> float:
    """Press a key and wait for what it painted, ms."""
    page.evaluate("window.__took = []")
    page.keyboard.press(key)
    page.wait_for_function("() => window.__took.length > 0")
    return float(page.evaluate("window.__took[0]"))


def _filter(page: Page) -> float:
    labels = page.get_by_label("Only this label")
    page.evaluate("window.__took = []")
    for turn in range(PRESSES // 2):
        labels.select_option(("Range", "")[turn % 2])
    return _p50(page)


def _draw(page: Page) -> float:
    """Draw by keyboard and take it back at once; the figure is of the key that stores."""
    took = []
    for _ in range(PRESSES // 4):
        page.keyboard.press("1")
        page.keyboard.press("[")
        page.keyboard.press("ArrowLeft")
        took.append(_key(page, "]"))
        page.locator("#save-state").get_by_text("all saved").wait_for()
    return statistics.median(took)


def _measure(name: str, peer: str, bar: float, own: Pair, theirs: Pair) -> Measure:
    pairs = alternate(own, theirs, ROUNDS)
    note = f"medians {statistics.median(o for o, _ in pairs):.1f} and {statistics.median(t for _, t in pairs):.1f} ms"
    return Measure(name, peer, ratios(pairs), bar, "at most", note)


def _pan(page: Page) -> float:
    mouse = page.mouse
    mouse.move(300, 250)
    page.evaluate("window.__took = []")
    mouse.down()
    for step in range(MOVES):
        mouse.move(300 + (step + 1) * (8 if step < MOVES / 2 else -8), 250)
    mouse.up()
    return _p50(page)


def _wheel(page: Page) -> float:
    page.mouse.move(400, 250)
    page.evaluate("window.__took = []")
    for step in range(WHEELS):
        page.mouse.wheel(0, 60 if step % 2 else -60)
        page.wait_for_timeout(30)
    return _p50(page)


def _live(page: Page) -> float:
    page.evaluate("window.__took = []")
    for _ in range(APPENDED):
        page.evaluate("() => { window.__next += 1; }")
        candle = page.evaluate("() => [window.__start + window.__next * 3600000, 1.2, 1.201, 1.199, 1.2005]")
        page.evaluate(APPEND, [candle])
        page.wait_for_timeout(20)
    return _p50(page)


def _p50(page: Page) -> float:
    page.wait_for_function("() => window.__took.length > 3")
    page.wait_for_timeout(50)
    return float(statistics.median(page.evaluate("window.__took")))


def _drag(page: Page) -> Measure:
    """Frames from a move of the pointer to the dragged edge's paint; the peer is the frame itself."""
    page.keyboard.press("j")
    page.wait_for_timeout(500)  # the selected span is brought into view
    page.evaluate(FRAMES)
    box = page.evaluate("() => { const r = __chart.visible(); return __chart.timeToX((r.from + r.to) / 2) }")
    page.mouse.click(44 + box, 200)
    page.mouse.down()
    for step in range(MOVES):
        page.mouse.move(44 + box + step * 6, 200)
    page.mouse.up()
    behind = [float(frames) for frames in page.evaluate("window.__behind")]
    if len(behind) < MOVES:
        raise RuntimeError(f"{len(behind)} of {MOVES} moves were painted: no span was dragged")
    return Measure("dragging a span behind the pointer", "one frame", behind, 2.0, "at most", "frames, each move")


def _our_page(browser: Browser, server: Server, series_id: int = SERIES) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(server.link)
    page.goto(f"{server.address}/?series={series_id}")
    page.wait_for_function("() => performance.getEntriesByName('chart-painted').length > 0")
    page.locator("#link-state").get_by_text("connected").wait_for()
    page.wait_for_timeout(1500)  # what is loaded when the browser is idle is loaded now
    page.evaluate(PROBE)
    page.evaluate(
        "() => { window.__next = 0; window.__start = Math.floor(__chart.visible().to / 3600000) * 3600000 + 36e6;"
        "window.__add = ([time, open, high, low, close]) =>"
        " __chart.append({ time, open, high, low, close, volume: 5 }) }"
    )
    return page


def _bare_page(browser: Browser, server: Server, script: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(server.link)
    answer = server.get(f"/api/series/{SERIES}/candles?encoding=list&max_points=5000&from={_first(server)}")
    columns = ("time", "open", "high", "low", "close", "volume")
    rows = list(zip(*(answer[name] for name in columns), strict=True))[-HELD:]
    data = f"<script>const DATA = {json.dumps(rows)}; const SHOWN = {SHOWN};</script>"

    def answered(route: Route) -> None:
        route.fulfill(content_type="text/html", body=HEAD + data + script)

    page.route("**/bare.html", answered)
    page.goto(f"{server.address}/bare.html")
    page.wait_for_function("() => window.__ready === true")
    page.evaluate(PROBE)
    page.evaluate("start => { window.__next = 0; window.__start = start }", rows[-1][0])
    return page


def _first(server: Server) -> int:
    facts = server.get(f"/api/series/{SERIES}")["series"]
    return int(facts["last"]) - 2 * HELD * HOUR


def _store_spans(server: Server, count: int, series_id: int = SERIES, step: int = HOUR) -> None:
    """Store spans of two candles, the newest at the end of the series, in one gesture."""
    last = int(server.get(f"/api/series/{series_id}")["series"]["last"])
    known = len(server.get(f"/api/series/{series_id}/annotations")["items"])
    starts = [last - (1 + place % 2_900) * 2 * step for place in range(known, count)]
    put = [
        {"id": str(uuid.uuid4()), "kind": "span", "label": "Range", "start": at, "end": at + 2 * step} for at in starts
    ]
    answer = server.call("POST", f"/api/series/{series_id}/annotations/bulk", json={"put": put})
    assert answer.status_code == 200, answer.text
