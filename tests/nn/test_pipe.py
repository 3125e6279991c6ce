"""The worker's end of the pipe: whole lines, numbers that JSON knows, and no command mistaken for another."""

import io
import json
import threading
from typing import Any

from nn import commands, events
from nn.pipe import Outbox, read_commands


def written(*items: events.Event | events.Message) -> list[dict[str, Any]]:
    pipe = io.StringIO()
    Outbox(pipe).put(*items)
    return [json.loads(line, parse_constant=refuse) for line in pipe.getvalue().splitlines()]


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_an_event_is_one_line_that_reads_back() -> None:
    ended = events.RunEnded(run_id=1, time=2, state="failed", cause="a\nb", summary={"é": 1})
    assert [events.from_json(line) for line in written(ended, ended)] == [ended, ended]


def test_what_is_not_finite_becomes_null() -> None:
    summary = {"loss": float("nan"), "range": [1.0, float("inf")], "n": 3}
    (line,) = written(events.RunEnded(run_id=1, time=2, state="finished", summary=summary))
    assert line["summary"] == {"loss": None, "range": [1.0, None], "n": 3}


def test_lines_of_several_threads_do_not_mix() -> None:
    pipe = io.StringIO()
    outbox = Outbox(pipe)

    def speak(run_id: int) -> None:
        for time in range(200):
            outbox.put(events.RunState(run_id=run_id, state=f"{time}" * 50))

    threads = [threading.Thread(target=speak, args=(run_id,)) for run_id in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [json.loads(line) for line in pipe.getvalue().splitlines()]
    assert len(lines) == 800


def test_commands_are_read_and_everything_else_is_named() -> None:
    taken, complaints = list[commands.Command](), list[str]()
    stop = commands.StopRun(run_id=3)
    lines = [json.dumps(stop.to_json()), "", "[]", "{", '{"command": "fly"}', '{"command": "stop", "now": 1}']
    read_commands(lines, taken.append, complaints.append)
    assert taken == [stop]
    assert len(complaints) == 4
    assert all(c.startswith(f"not a command: {line!r}: ") for c, line in zip(complaints, lines[2:], strict=True))
