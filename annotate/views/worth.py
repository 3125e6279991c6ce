"""What marked trades are worth over HTTP, and what trading costs in this workspace."""

from __future__ import annotations

from flask import Blueprint, request

from annotate.annotations.fields import Fields
from annotate.annotations.worth import Costs, Worth, totals
from annotate.models import Json
from annotate.store.annotations import list_annotations
from annotate.store.costs import get_costs as stored_costs
from annotate.store.costs import set_costs
from annotate.store.series import get_series
from annotate.views.services import services
from annotate.views.veil import cursor_of, shown_marks

bp = Blueprint("worth", __name__, url_prefix="/api")


@bp.get("/series/<int:series_id>/worth")
def get_worth(series_id: int) -> Json:
    """Give the result of every trade mark, and totals by label, author and mode."""
    with services().database.read() as session:
        timeframe = get_series(session, series_id).timeframe
        marks = [mark for mark in list_annotations(session, series_id) if mark["kind"] == "trade"]
        costs = stored_costs(session)
    worth = Worth(services().candles.read(series_id, before=cursor_of(series_id)), timeframe, costs)
    items = [worth.of(mark) for mark in shown_marks(series_id, marks)]
    return {"costs": costs.to_json(), "items": items, "totals": totals(items)}


@bp.get("/costs")
def get_costs() -> Json:
    """Give what a side of a trade costs, in hundredths of a percent."""
    with services().database.read() as session:
        return stored_costs(session).to_json()


@bp.put("/costs")
def put_costs() -> Json:
    """Set fee and slippage for the whole workspace; what is left out has its default."""
    costs = Costs.from_fields(Fields(request.get_json()))
    with services().database.write() as session:
        set_costs(session, costs)
    return costs.to_json()
