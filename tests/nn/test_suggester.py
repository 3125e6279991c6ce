"""The suggester process: questions in, pieces and answers out; it outlives bad questions."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from nn import events, questions
from nn.commands import Command, Shutdown
from nn.dataset_dir import Candles, write_candles
from nn.few.market import Market
from nn.suggester import Suggester
from tests.nn.few.markets import HOUR_MS, annotation, candles, swings_of

NAMES = ("Short", "Long")


class Talk:
    """A suggester in this process, and what it said."""

    def __init__(self) -> None:
        self.said: list[events.Message] = []
        self.suggester = Suggester(self.said.append)

    def ask(self, *commands: Command) -> list[events.Message]:
        """Have it answer these and leave; give what it said."""
        for command in commands:
            self.suggester.take(command)
        runner = threading.Thread(target=self.suggester.run)
        runner.start()
        self._wait_for(sum(isinstance(command, questions.Question) for command in commands))
        self.suggester.leave()
        runner.join(60)
        return self.said

    def _wait_for(self, count: int) -> None:
        deadline = threading.Event()
        for _ in range(6_000):
            if sum(isinstance(item, events.Answer) for item in self.said) >= count:
                return
            deadline.wait(0.01)
        raise AssertionError(f"{count} answers did not come; it said {self.said[-3:]}")


@pytest.fixture(scope="module")
def rows() -> Candles:
    return candles(3_000, seed=7)


@pytest.fixture(scope="module")
def path(rows: Candles, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("candles") / "c.arrow"
    write_candles(file, rows)
    return str(file)


@pytest.fixture
def about(rows: Candles, path: str) -> dict[str, Any]:
    marks = [annotation(span, rows, NAMES[span.label]) for span in swings_of(Market(rows))[:12]]
    return {"series_id": 1, "candles": path, "timeframe_ms": HOUR_MS, "annotations": marks}


@pytest.fixture
def talk() -> Talk:
    return Talk()


def answers(said: list[events.Message]) -> list[events.Answer]:
    return [item for item in said if isinstance(item, events.Answer)]


def test_pieces_come_before_the_lesson_that_they_are_of(talk: Talk, about: dict[str, Any]) -> None:
    said = talk.ask(questions.Suggest(request_id=1, **about))
    *pieces, answer = said
    assert isinstance(answer, events.Answer)
    assert answer.body is not None
    assert answer.body["lesson"][0]["marks"] == {"human": 12}
    assert all(isinstance(piece, questions.Suggested) for piece in pieces)
    last = pieces[-1]
    assert isinstance(last, questions.Suggested)
    assert last.done == last.total == 3_000
    assert sum(len(piece.suggestions) for piece in pieces if isinstance(piece, questions.Suggested)) > 5


def test_everything_said_survives_the_pipe(talk: Talk, about: dict[str, Any]) -> None:
    question = questions.Suggest(request_id=1, **about, mode="causal")
    assert questions.question_from_json(json.loads(json.dumps(question.to_json()))) == question
    for message in talk.ask(question):
        assert questions.said_from_json(json.loads(json.dumps(message.to_json()))) == message


def test_a_long_reading_waits_for_a_quick_question_and_can_be_called_off(
    talk: Talk, about: dict[str, Any], rows: Candles
) -> None:
    labels = {"rising": "Long", "falling": "Short"}
    long = questions.Prelabel(request_id=1, **about, rule="CDLSPINNINGTOP", parameters={}, labels=labels)
    said = talk.ask(long, questions.Ask(request_id=2, **about, what="summary"), questions.Cancel(request_id=1))
    assert [answer.request_id for answer in answers(said)] == [2, 1]
    assert answers(said)[1].body == {"cancelled": True}


def test_a_question_without_marks_is_answered_in_words_and_the_next_one_too(talk: Talk, about: dict[str, Any]) -> None:
    bare = {**about, "annotations": []}
    wrong = {**about, "request": {"order": "luck"}}
    first = questions.Suggest(request_id=1, **bare)
    said = talk.ask(
        first, questions.Ask(request_id=2, **wrong, what="places"), questions.Ask(request_id=3, **about, what="summary")
    )
    assert [(a.request_id, bool(a.error)) for a in answers(said)] == [(1, True), (2, True), (3, False)]
    assert "mark a few first" in str(answers(said)[0].error)
    assert "no order 'luck'" in str(answers(said)[1].error)


def test_a_file_that_is_gone_costs_the_question_and_not_the_process(talk: Talk, about: dict[str, Any]) -> None:
    gone = {**about, "candles": str(Path(about["candles"]).with_name("gone.arrow"))}
    said = talk.ask(
        questions.Ask(request_id=1, **gone, what="summary"), questions.Ask(request_id=2, **about, what="summary")
    )
    assert [bool(answer.error) for answer in answers(said)] == [True, False]


def test_the_same_marks_are_learnt_once(talk: Talk, about: dict[str, Any]) -> None:
    talk.ask(*(questions.Ask(request_id=n, **about, what=what) for n, what in ((1, "summary"), (2, "doubts"))))
    assert len(talk.suggester._lessons) == 1
    more = {**about, "request": {"accepted_weight": 0.9}}
    talk.ask(questions.Ask(request_id=3, **more, what="summary"))
    assert len(talk.suggester._lessons) == 2


def test_the_process_answers_over_its_pipes_loads_no_torch_and_ends_with_them(about: dict[str, Any]) -> None:
    code = "import sys, nn.suggester; assert 'torch' not in sys.modules; nn.suggester.main()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    labels = {"rising": "Long"}
    asked = questions.Prelabel(request_id=7, **about, rule="zigzag", parameters={"turn": 5.0}, labels=labels)
    process.stdin.write("not a question\n" + json.dumps(asked.to_json()) + "\n")
    process.stdin.flush()
    with process.stdout:
        said = [questions.said_from_json(json.loads(process.stdout.readline())) for _ in range(3)]
    process.stdin.close()
    assert process.wait(30) == 0
    ready, piece, answer = said
    assert isinstance(ready, events.WorkerReady)
    assert isinstance(piece, questions.Suggested)
    assert {item["label"] for item in piece.suggestions} == {"Long"}
    assert answer == events.Answer(request_id=7, body={"lesson": []})


def test_shutdown_ends_it(talk: Talk) -> None:
    talk.suggester.take(Shutdown())
    talk.suggester.run()
    assert talk.said == []
