"""What trading costs in this workspace, kept as a setting."""

from __future__ import annotations

from sqlalchemy.orm import Session

from annotate.annotations.worth import Costs
from annotate.models import Setting

SETTING = "costs"


def get_costs(session: Session) -> Costs:
    """Give the costs; the defaults until someone sets them."""
    setting = session.get(Setting, SETTING)
    return Costs(**setting.value) if setting else Costs()


def set_costs(session: Session, costs: Costs) -> None:
    """Keep the costs."""
    session.merge(Setting(name=SETTING, value=costs.to_json()))
    session.flush()
