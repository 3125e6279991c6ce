"""The door to the suggester process: the thread that owns it, and what the web side may ask of it.

Only this module knows its questions. Suggestions are stored piece by piece, then told to the browsers of the series.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from annotate.actor import Actor
from annotate.annotations.veil import Veil
from annotate.errors import AnnotateError, InvalidInput
from annotate.store.events import newest_value
from annotate.store.label_sets import labels_to_json
from annotate.store.series import get_series
from annotate.store.suggestions import LEARNT, add_lesson, get_lesson
from annotate.suggesting.keeping import keep
from annotate.suggesting.material import Material
from annotate.suggesting.model_reading import LEAST_MARKS, ModelReading, earlier, learnt_by, marks_before, stretch_of
from annotate.suggesting.tasks import Task, Tasks
from annotate.suggesting.wanted import BEST, MARKS, MODEL, Wanted, checked_labels
from annotate.supervisor import PATIENT_S, Supervisor
from nn import commands, events, questions
from nn.offers import ORDERS, checked_parameters, rules_to_json

if TYPE_CHECKING:
    from annotate.candle_store import CandleStore
    from annotate.db import Database
    from annotate.publisher import Publisher
    from annotate.settings import Settings

log = logging.getLogger(__name__)

Json = dict[str, Any]

SHUTDOWN_S = 3.0
RULE = "rule"  # mode of a lesson that is a rule


class Suggester:
    """Asks for suggestions and keeps them. Its methods may be called from any thread; readings go on by themselves."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        candles: CandleStore,
        publisher: Publisher,
        read_labels: Callable[[int, Json], Json],
        command: Sequence[str] = (sys.executable, "-m", "nn.suggester"),
    ) -> None:
        self._database = database
        self._publisher = publisher
        self._material = Material(settings.data_dir, database, candles)
        self._read_labels = read_labels  # of the trainer: what the label head of a series says
        self._actor = Actor("suggester")
        self._tasks = Tasks()
        self._timeframes: dict[int, int] = {}  # task → length of a candle, ms
        self._supervisor = Supervisor(command, self._actor, self._said, self._ended)

    def start(self) -> None:
        """Start the thread and the process, so that the first question need not wait for them."""
        if self._actor.start():
            # From that thread: Linux ends the process when the thread that started it is gone.
            self._actor.tell(self._supervisor.start)

    def stop(self) -> None:
        """End the process and the thread; readings under way are cancelled."""
        self._actor.start()
        self._actor.ask(lambda: self._supervisor.close(commands.Shutdown().to_json()))
        self._actor.stop(SHUTDOWN_S)

    def suggest(self, series_id: int, veil: Veil, wanted: Wanted) -> Json:
        """Begin suggesting as far as the veil lets see; give the task. One under way of the same source is cancelled.

        Raises NotFound for the series, InvalidInput for a rule, parameter or label that does not exist.
        """
        with self._database.read() as session:
            labels = labels_to_json(get_series(session, series_id).label_set.labels)
        checked_labels(wanted, [label["name"] for label in labels if not label["archived"]])
        parameters = _checked(wanted)
        cursor = _earlier(veil.cursor, wanted.cursor)
        material = self._material.of(series_id, veil, cursor)
        request = {
            **material["request"],
            "start": wanted.start,
            "end": wanted.end,
            "cursor": cursor,
            "accepted_weight": wanted.accepted_weight,
        }
        with self._database.write() as session:
            lesson = add_lesson(
                session,
                series_id=series_id,
                author=veil.author,
                source=wanted.source,
                mode=wanted.mode if wanted.source in LEARNT else RULE,
                cursor=cursor,
                request=_kept(request) | {"parameters": parameters, "labels": wanted.labels},
                learnt=[],
                created=_now(),
            )
        self.start()
        return self._actor.ask(lambda: self._begin(series_id, lesson.id, wanted, parameters, material, request))

    def ask(self, series_id: int, veil: Veil, what: str, asked: Json, count: int = 50) -> Any:
        """Ask what the marks of a series that are seen teach: doubts, places, curve, live or summary.

        `asked` holds fields of the request. Raises Conflict where nothing is marked, NotFound for the series.
        """
        cursor = _earlier(veil.cursor, asked.get("cursor"))
        material = self._material.of(series_id, veil, cursor)
        request = {**material.pop("request"), **asked, "cursor": cursor}
        self.start()
        question = partial(questions.Ask, series_id=series_id, what=what, count=count, request=request, **material)
        return self._supervisor.ask(lambda number: question(request_id=number).to_json())["found"]

    def task(self, task_id: int) -> Task:
        """Give a task; raise NotFound."""
        return self._tasks.get(task_id)

    def running(self, series_id: int, cursor: int | None) -> list[Json]:
        """Give the tasks under way on a series; under replay those that look no further."""
        return [task.to_json() for task in self._tasks.running(series_id) if task.is_within(cursor)]

    def cancel(self, task_id: int) -> Json:
        """Stop a task at its next piece; what it found stays."""
        task = self._tasks.get(task_id)
        self.start()
        self._actor.ask(lambda: self._cancel(task))
        return task.to_json()

    # From here on: the suggester's thread. The process answers a task under its number with a minus before it.

    def _begin(
        self, series_id: int, lesson_id: int, wanted: Wanted, parameters: Json, material: Json, request: Json
    ) -> Json:
        self._supervisor.start()
        for older in self._tasks.running(series_id):
            if older.source == wanted.source or {older.source, wanted.source} <= set(LEARNT):
                self._cancel(older)
        task = self._tasks.add(
            series_id=series_id,
            lesson_id=lesson_id,
            source=wanted.source,
            start=wanted.start,
            end=wanted.end,
            cursor=request["cursor"],
        )
        self._timeframes[task.id] = material["timeframe_ms"]
        common = {**material, "request": request, "series_id": series_id, "request_id": -task.id}
        if wanted.source == MARKS:
            self._supervisor.send(questions.Suggest(**common, mode=wanted.mode).to_json())
        elif wanted.source in LEARNT:
            threading.Thread(target=self._by_model, args=(task, wanted, common), name="labels", daemon=True).start()
        else:
            rule = partial(questions.Prelabel, rule=wanted.source, parameters=parameters, labels=wanted.labels)
            self._supervisor.send(rule(**common).to_json())
        return task.to_json()

    def _cancel(self, task: Task) -> None:
        if task.state != "running":
            return
        self._finish(task, "cancelled")
        if self._supervisor.is_running:
            self._supervisor.send(questions.Cancel(request_id=-task.id).to_json())

    def _said(self, line: Json) -> None:
        try:
            message = questions.said_from_json(line)
        except (KeyError, TypeError) as error:
            log.warning("suggester said what nobody knows: %s: %s", error, str(line)[:500])
            return
        match message:
            case events.WorkerReady():
                self._supervisor.is_ready()
            case questions.Suggested():
                self._keep(self._tasks.get(-message.request_id), message)
            case events.Answer() if message.request_id > 0:
                self._supervisor.answered(message.request_id, message.body, message.error)
            case events.Answer():
                self._answered(self._tasks.get(-message.request_id), message)

    def _keep(self, task: Task, piece: questions.Suggested) -> None:
        if task.state != "running":
            return
        with self._database.write() as session:
            lesson = get_lesson(session, task.lesson_id)
            task.found += keep(session, task, lesson, piece.suggestions, self._timeframes[task.id], _now())
        task.done, task.total = piece.done, piece.total
        self._tell(task)

    def _answered(self, task: Task, answer: events.Answer) -> None:
        if task.state != "running":
            return
        if answer.error is not None:
            self._finish(task, "failed", answer.error)
            return
        with self._database.write() as session:
            get_lesson(session, task.lesson_id).learnt = (answer.body or {}).get("lesson", [])
        self._finish(task, "finished")

    def _finish(self, task: Task, state: str, error: str | None = None) -> None:
        task.state, task.error = state, error
        self._timeframes.pop(task.id, None)
        self._tell(task)

    def _tell(self, task: Task) -> None:
        body = {"what": "suggestions", "id": task.id, "task": task.to_json()}
        self._publisher.series_changed(task.series_id, body)

    def _ended(self, cause: str) -> None:
        for task in self._tasks.running():
            self._finish(task, "failed", cause)

    def _by_marks(self, task: Task, question: questions.Suggest) -> None:
        if task.state == "running":
            self._supervisor.send(question.to_json())

    # From here on: a thread of a task that asks the trained model; the trainer and the suggester answer it in turn.

    def _by_model(self, task: Task, wanted: Wanted, common: Json) -> None:
        reading = ModelReading(
            partial(self._read_labels, task.series_id),
            common["candles"],
            common["timeframe_ms"],
            common["annotations"],
            task.cursor,
            wanted.mode == "history",
        )
        try:
            if wanted.source == BEST and not self._is_better(task, reading, common):
                self._actor.ask(partial(self._by_marks, task, questions.Suggest(**common, mode=wanted.mode)))
                return
            for body in reading.pieces(wanted.start, wanted.end):
                if task.state != "running":
                    return
                piece = {name: body[name] for name in ("done", "total", "suggestions")}
                self._actor.ask(partial(self._keep, task, questions.Suggested(request_id=-task.id, **piece)))
            with self._database.read() as session:
                facts = newest_value(session, body["run_id"], "run_started", "data")
            answer = events.Answer(request_id=-task.id, body={"lesson": learnt_by(facts, body)})
            self._actor.ask(partial(self._answered, task, answer))
        except AnnotateError as error:
            self._actor.tell(partial(self._finish, task, "failed", error.message))
        except Exception as error:  # whatever broke, the task must not stay "running"
            log.exception("task %d broke", task.id)
            words = f"unexpected {type(error).__name__}; the log has the whole story"
            self._actor.tell(partial(self._finish, task, "failed", words))

    def _is_better(self, task: Task, reading: ModelReading, common: Json) -> bool:
        """Tell whether the trained model finds more of the marks that neither has seen; note the figures."""
        compared: Json | None = None
        try:
            marks = reading.held_out()
            if len(marks) >= LEAST_MARKS:
                compared = self._compared(reading, common, marks)
        except AnnotateError as error:  # no model is loaded, or nothing was marked before: there is nothing to compare
            log.info("series %d: the trained model is not compared: %s", task.series_id, error.message)
        is_better = compared is not None and compared["other"] > compared["own"]
        task.source = MODEL if is_better else MARKS
        with self._database.write() as session:
            lesson = get_lesson(session, task.lesson_id)
            lesson.source, lesson.request = task.source, lesson.request | {"compared": compared}
        return is_better

    def _compared(self, reading: ModelReading, common: Json, marks: list[Json]) -> Json:
        start, end = stretch_of(marks)
        request = common["request"]
        ranges = {name: earlier(request[name], start) for name in ("reviewed", "rejected")}
        asked = {**common, "annotations": marks_before(common["annotations"], start)}
        asked |= {"request": {**request, **ranges, "start": start, "end": end}}
        question = partial(questions.Compare, held_out=marks, other=reading.found_over(marks))
        return self._supervisor.ask(lambda number: question(**{**asked, "request_id": number}).to_json(), PATIENT_S)


def offers() -> Json:
    """List the rules with their parameters, and the orders of asking with why each asks."""
    return {"rules": rules_to_json(), "orders": [{"name": name, "why": why} for name, why in ORDERS.items()]}


def check_order(order: str) -> str:
    """Give the order; raise InvalidInput for one that does not exist."""
    if order not in ORDERS:
        raise InvalidInput(f"order = {order!r}: use {', '.join(ORDERS)}", field="order")
    return order


def _checked(wanted: Wanted) -> Json:
    if wanted.source in LEARNT:
        return {}
    try:
        return dict(checked_parameters(wanted.source, wanted.parameters))
    except ValueError as error:
        raise InvalidInput(str(error), field="source") from error


def _earlier(*cursors: int | None) -> int | None:
    return min((cursor for cursor in cursors if cursor is not None), default=None)


def _kept(request: Json) -> Json:
    """Give what a lesson remembers of its request: ranges by their number alone."""
    return {name: len(value) if isinstance(value, list) else value for name, value in request.items()}


def _now() -> int:
    return time.time_ns() // 1_000_000
