"""Candle files in the page: dropped, looked at, answered, corrected, imported, and added to again."""

from __future__ import annotations

import uuid

from playwright.sync_api import Page, expect

from tests.serving import Server

ROWS = [f"2024.01.02,10:{minute:02},1.10,1.30,1.00,1.2{minute},7" for minute in range(5)]
TEN = 1_704_189_600_000  # 2024-01-02 10:00 UTC
MINUTE = 60_000
DROP = """([name, text]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name, { type: "text/csv" }));
    for (const kind of ["dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def test_a_file_is_dropped_looked_at_corrected_imported_and_added_to(
    shared_server: Server, page: Page, errors: list[str]
) -> None:
    page.goto(shared_server.link)
    expect(page.locator("#toolbar select.symbol")).to_be_visible()
    # Dropped anywhere: the question is answered beforehand, and what it does is seen in the rows.
    page.evaluate(DROP, ["EURUSD1.csv", "\n".join(ROWS) + "\n"])
    dialog = page.get_by_role("dialog", name="Import EURUSD1.csv")
    zone = dialog.get_by_label("In which time zone are the times of this file?")
    expect(zone).to_have_value("New York+7")
    expect(dialog.locator("tbody tr").first).to_contain_text("2024-01-02 08:00")
    expect(dialog.get_by_label("The first and last of 5 candles")).to_be_visible()
    zone.fill("+2:00 h")
    zone.press("Tab")
    expect(dialog.get_by_role("alert")).to_contain_text("is not known; give UTC")
    errors.clear()  # the browser itself notes the refusal
    zone.fill("UTC")
    zone.press("Tab")
    expect(dialog.locator("tbody tr").first).to_contain_text("2024-01-02 10:00")
    # Given up, and taken up again; a choice that nobody asked about is changed.
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Look at it again").click()
    dialog.get_by_label("A time is").select_option("close")
    expect(dialog.locator("tbody tr").first).to_contain_text("2024-01-02 09:59")
    dialog.get_by_label("A time is").select_option("open")
    expect(dialog.locator("tbody tr").first).to_contain_text("2024-01-02 10:00")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("5 candles are stored")).to_be_visible()
    stored = next(
        each
        for each in shared_server.get("/api/series")["items"]
        if each["symbol"] == "EUR/USD" and each["timeframe"] == "1m"
    )
    assert (stored["first"], stored["zone"]) == (TEN, "UTC")
    # Again, longer, with a changed and a vanished candle: both are listed, with the annotation on them.
    label = "Long"
    span = {"kind": "span", "label": label, "start": TEN + MINUTE, "end": TEN + 2 * MINUTE, "revision": 0}
    mark = shared_server.call("PUT", f"/api/series/{stored['id']}/annotations/{uuid.uuid4()}", json=span)
    assert mark.status_code == 200, mark.text
    page.get_by_label("Show me how it is read before it is imported").check()
    longer = [ROWS[0], ROWS[1].replace("1.21", "1.25"), *ROWS[3:], "2024.01.02,10:05,1.10,1.30,1.00,1.2,7"]
    payload = {"name": "EURUSD1.csv", "mimeType": "text/csv", "buffer": "\n".join(longer).encode()}
    page.get_by_label("File of candles").set_input_files(payload)  # type: ignore[arg-type]  # its own FilePayload
    expect(zone).to_have_value("UTC")  # as it was answered for the file before
    dialog.get_by_label("Import into").select_option(str(stored["id"]))
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 added, 3 as they were, 1 changed in the file, 1 no longer in the file")).to_be_visible()
    flagged = page.get_by_role("list", name="Annotations to look at")
    expect(flagged).to_contain_text(f"{label} (span) at 2024-01-02 10:01 UTC")
    expect(flagged).to_contain_text("its candles differ in the file")
    page.get_by_role("button", name="Import report of EUR/USD 1m").click()
    expect(page.get_by_role("dialog", name="Import of EUR/USD 1m")).to_contain_text("Vanished candles")


def test_a_file_of_two_series_is_shown_one_by_one_and_only_the_chosen_one_is_stored(
    shared_server: Server, page: Page
) -> None:
    rows = [
        f"{symbol},{TEN + minute * MINUTE},{low + 1},{low + 3},{low},{low + 2},5"
        for minute in range(3)
        for symbol, low in (("AAABTC", 10), ("BBBBTC", 500))
    ]
    page.goto(shared_server.link)
    page.get_by_role("tab", name="Data").click()
    payload = {
        "name": "two.csv",
        "mimeType": "text/csv",
        "buffer": "\n".join(["symbol,time,open,high,low,close,volume", *rows]).encode(),
    }
    page.get_by_label("File of candles").set_input_files(payload)  # type: ignore[arg-type]  # its own FilePayload
    dialog = page.get_by_role("dialog", name="Import two.csv")
    dialog.get_by_label("Series shown").select_option(label="BBB/BTC 1m")
    expect(dialog.locator("tbody tr").first).to_contain_text("501")
    dialog.get_by_label("Which of the series in this file").select_option("BBBBTC")
    expect(dialog.get_by_label("Series shown")).to_have_count(0)
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("two.csv is BBB/BTC 1m. 3 candles are stored")).to_be_visible()
    symbols = {each["symbol"] for each in shared_server.get("/api/series")["items"]}
    assert "BBB/BTC" in symbols
    assert "AAA/BTC" not in symbols
