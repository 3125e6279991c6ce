"""What cannot fit into memory is refused before any is taken, with advice; what may fit is tried."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from nn import room
from nn.config import BatchConfig, ModelConfig
from nn.device import choose
from nn.memory import need
from nn.ranks import Ranks
from nn.room import DOUBT, NoRoom, check_room
from tests.nn.test_fit import job, run_of

HUGE: dict[str, Any] = {"d_model": 4096, "n_layers": 64, "n_heads": 8, "batch_size": 4096, "sequence_length": 8192}


def test_a_run_that_cannot_fit_is_refused_with_what_each_change_would_save() -> None:
    with pytest.raises(NoRoom, match=r"^out of memory before it began: .* free, which will not do: .* saves "):
        run_of(job(**HUGE))


@pytest.mark.parametrize(("share", "refused"), [(0.95, True), (1.05, False)])
def test_what_the_estimate_may_err_by_is_tried(monkeypatch: pytest.MonkeyPatch, share: float, refused: bool) -> None:
    config = BatchConfig(heads={"candle": 1.0})
    monkeypatch.setattr(room, "free_memory", lambda: round(need(config).total / DOUBT * share))
    try:
        check_room(config, choose("cpu"))
    except NoRoom:
        assert refused
    else:
        assert not refused


def test_processes_on_other_hosts_take_no_memory_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    config = BatchConfig(batch_size=512, ranks=8)
    monkeypatch.setattr(room, "free_memory", lambda: need(dataclasses.replace(config, batch_size=64, ranks=1)).total)
    check_room(config, choose("cpu"), Ranks(0, 8, elsewhere=7))
    with pytest.raises(NoRoom, match="ranks = 1 saves"):
        check_room(config, choose("cpu"), Ranks(0, 8))


def test_where_the_system_tells_nothing_everything_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_memory", lambda: None)
    check_room(ModelConfig.from_json(HUGE), choose("cpu"))
