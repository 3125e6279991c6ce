"""The trainer loop's rule of turns: live first, and neither kind starves."""

from nn.turns import Kind, Turns


def steps(count: int, cost_s: dict[Kind, float], *, live_waits: bool = True, batch_waits: bool = True) -> list[Kind]:
    turns, taken = Turns(), list[Kind]()
    for _ in range(count):
        kind = turns.next(live_waits=live_waits, batch_waits=batch_waits)
        assert kind is not None
        turns.took(kind, cost_s[kind])
        taken.append(kind)
    return taken


def seconds(taken: list[Kind], kind: Kind, cost_s: dict[Kind, float]) -> float:
    return sum(cost_s[kind] for one in taken if one == kind)


def test_nothing_waits_so_nothing_steps() -> None:
    assert Turns().next(live_waits=False, batch_waits=False) is None


def test_a_live_step_goes_first() -> None:
    assert steps(1, {"live": 0.1, "batch": 0.1}) == ["live"]


def test_a_run_that_is_alone_gets_every_turn() -> None:
    cost: dict[Kind, float] = {"live": 0.1, "batch": 0.1}
    assert steps(5, cost, batch_waits=False) == ["live"] * 5
    assert steps(5, cost, live_waits=False) == ["batch"] * 5


def test_a_long_batch_step_leaves_live_as_much_time_as_it_took() -> None:
    cost: dict[Kind, float] = {"live": 0.01, "batch": 0.4}
    taken = steps(500, cost)
    assert 0.8 < seconds(taken, "live", cost) / seconds(taken, "batch", cost) < 1.3


def test_a_slow_live_step_is_taken_once_between_two_batch_steps() -> None:
    taken = steps(20, {"live": 0.4, "batch": 0.01})
    assert taken == ["live", "batch"] * 10


def test_a_live_candle_that_comes_after_a_pause_waits_for_no_second_batch_step() -> None:
    turns = Turns()
    for _ in range(10):
        turns.took("batch", 0.5)
    assert turns.next(live_waits=True, batch_waits=True) == "live"
