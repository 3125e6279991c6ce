"""The suggester process: `python -m nn.suggester` learns a person's marks and suggests, beside all training. No torch.

One thread answers. A quick question goes before long readings, which go on a piece at a time between questions.
It ends by itself when its stdin ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from threadpoolctl import threadpool_limits

from nn.commands import Command, Shutdown
from nn.dataset_dir import DatasetDir, read_candles
from nn.events import Answer, Message, WorkerReady
from nn.few.spans import Span, agreement
from nn.pipe import Outbox, die_with_parent, read_commands, reserve_stdout
from nn.questions import Ask, Cancel, Compare, Prelabel, Question, Suggest, Suggested, question_from_json
from nn.suggest import BLAS_THREADS, Known, NothingMarked, Request, Taught, rule

Json = dict[str, Any]

LESSONS = 3  # lessons that are kept, so that doubts and places after suggestions need not be learnt again
PIECE = 5_000  # suggestions by rule that go into one message
TEACHING = ("reviewed", "rejected", "accepted_weight", "cursor")  # the fields of a request that change a lesson


class Suggester:
    """Answers questions; `take` may be called by any thread, `run` is the life of one."""

    def __init__(self, say: Callable[[Message], None]) -> None:
        self._say = say
        self._bell = threading.Condition()
        self._inbox: deque[Command] = deque()
        self._readings: dict[int, Iterator[None]] = {}
        self._lessons: OrderedDict[str, Taught] = OrderedDict()
        self._known: dict[int, dict[tuple[str, str], Known]] = {}  # series → what was chosen there last

    def take(self, command: Command) -> None:
        """Take a question."""
        with self._bell:
            self._inbox.append(command)
            self._bell.notify()

    def leave(self) -> None:
        """End after the step under way."""
        self.take(Shutdown())

    def run(self) -> None:
        """Answer until told to leave."""
        with threadpool_limits(BLAS_THREADS, user_api="blas"):  # type: ignore[no-untyped-call]
            while True:
                command = self._next()
                if isinstance(command, Shutdown):
                    return
                if command is not None:
                    self._obey(command)
                elif self._readings:
                    self._go_on(next(iter(self._readings)))

    def _next(self) -> Command | None:
        with self._bell:
            while not self._inbox and not self._readings:
                self._bell.wait()
            return self._inbox.popleft() if self._inbox else None

    def _obey(self, command: Command) -> None:
        match command:
            case Cancel():
                if self._readings.pop(command.request_id, None) is not None:
                    self._say(Answer(request_id=command.request_id, body={"cancelled": True}))
            case Suggest():
                self._begin(command.request_id, self._suggest(command))
            case Prelabel():
                self._begin(command.request_id, self._prelabel(command))
            case Ask():
                self._begin(command.request_id, self._answer(command))
            case Compare():
                self._begin(command.request_id, self._compare(command))

    def _begin(self, number: int, steps: Iterator[None]) -> None:
        """Take the first step at once: a question whose answer is one step never waits for a long reading."""
        self._readings[number] = steps
        self._go_on(number)

    def _go_on(self, number: int) -> None:
        steps = self._readings.pop(number)
        try:
            next(steps)
        except StopIteration:
            return
        except (NothingMarked, ValueError) as error:
            self._say(Answer(request_id=number, body=None, error=str(error)))
            return
        except Exception as error:  # noqa: BLE001 - the process must outlive whatever one question meets
            _complain("".join(traceback.format_exception(error)))
            words = "".join(traceback.format_exception_only(error)).strip()
            self._say(Answer(request_id=number, body=None, error=f"{words}; the log has the whole story"))
            return
        self._readings[number] = steps  # to the end of the line: each reading gets its turn

    def _suggest(self, question: Suggest) -> Iterator[None]:
        taught = self._taught(question)
        for piece in taught.causal() if question.mode == "causal" else taught.suggestions():
            self._say(Suggested(request_id=question.request_id, **piece))
            yield
        self._say(Answer(request_id=question.request_id, body={"lesson": taught.summary()}))

    def _prelabel(self, question: Prelabel) -> Iterator[None]:
        request = Request.from_json(question.request)
        found = rule(_dataset(question), question.rule, question.parameters, question.labels, request.cursor)
        kept = [item for item in found if _touches(item, request)]
        for start in range(0, max(1, len(kept)), PIECE):
            part, done = kept[start : start + PIECE], min(start + PIECE, len(kept))
            self._say(Suggested(request_id=question.request_id, done=done, total=len(kept), suggestions=part))
            yield
        self._say(Answer(request_id=question.request_id, body={"lesson": []}))

    def _answer(self, question: Ask) -> Iterator[None]:
        taught = self._taught(question)
        answers: dict[str, Callable[[], Any]] = {
            "doubts": lambda: taught.doubts(question.count),
            "places": taught.places,
            "curve": taught.curve,
            "live": lambda: taught.live(question.count),
            "summary": taught.summary,
        }
        self._say(Answer(request_id=question.request_id, body={"found": answers[question.what]()}))
        yield from ()

    def _compare(self, question: Compare) -> Iterator[None]:
        found = [item for piece in self._taught(question).suggestions() for item in piece["suggestions"]]
        number = {name: i for i, name in enumerate(sorted({item["label"] for item in question.held_out}))}
        true, own, other = (_spans(spans, number) for spans in (question.held_out, found, question.other))
        body = {"marks": len(true), "own": agreement(own, true).f1, "other": agreement(other, true).f1}
        self._say(Answer(request_id=question.request_id, body=body))
        yield from ()

    def _taught(self, question: Question) -> Taught:
        """Give the lesson of the question's marks, learnt unless it is one of the last few."""
        request = Request.from_json(question.request)
        teaching = {name: question.request.get(name) for name in TEACHING}
        facts = [question.candles, question.timeframe_ms, question.layers, question.annotations, teaching]
        key = json.dumps(facts, sort_keys=True)
        kept = self._lessons.pop(key, None)
        taught = kept or Taught(_dataset(question), request, self._known.get(question.series_id))
        taught.request = request
        self._lessons[key] = taught
        self._known[question.series_id] = taught.known
        while len(self._lessons) > LESSONS:
            self._lessons.popitem(last=False)
        return taught


def _dataset(question: Question) -> DatasetDir:
    manifest = {"timeframe_ms": question.timeframe_ms, "layers": question.layers}
    return DatasetDir(manifest, read_candles(Path(question.candles)), question.annotations)


def _spans(items: Sequence[Json], number: Mapping[str, int]) -> list[Span]:
    """Give the spans among drafts of annotations by their times; a label without a number has -1."""
    spans = (item for item in items if item["kind"] == "span")
    return [Span(int(span["start"]), int(span["end"]), number.get(span["label"], -1)) for span in spans]


def _touches(item: Json, request: Request) -> bool:
    first, last = (int(item["time" if "time" in item else name]) for name in ("start", "end"))
    return (request.start is None or last >= request.start) and (request.end is None or first < request.end)


def _complain(what: str) -> None:
    sys.stderr.write(f"suggester: {what}\n")
    sys.stderr.flush()


def main() -> NoReturn:
    """Serve until stdin ends or a shutdown is asked for."""
    outbox = Outbox(reserve_stdout())
    die_with_parent()
    suggester = Suggester(outbox.put)

    def read() -> None:
        read_commands(sys.stdin, suggester.take, _complain, question_from_json)
        os._exit(0)  # the parent is gone: nothing here needs saving

    threading.Thread(target=read, name="pipe-reader", daemon=True).start()
    outbox.put(
        WorkerReady(pid=os.getpid(), device="cpu", dtype="float64", device_reason="", threads=BLAS_THREADS, memory="")
    )
    suggester.run()
    sys.stderr.flush()
    os._exit(0)  # an orderly exit would wait for the thread that is blocked in reading stdin


if __name__ == "__main__":
    main()
