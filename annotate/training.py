"""THE DOOR: what the web side may ask of the trainer thread, which owns the worker process.

Only the door knows the worker's commands, events and configs: this module, `under_way.py` and `run_commands.py`.
Requests hand work to the one trainer thread and get an answer quickly; the worker's pipe and life, the runs under way
and their rows are touched by that thread alone (`under_way.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from annotate.actor import Actor
from annotate.errors import InvalidInput
from annotate.feeds.replay import Clock, SystemClock
from annotate.heartbeat import Heartbeat
from annotate.kept_snapshots import choose, kept_snapshots, to_json
from annotate.live_feed import FeedMaker, OpenGateway, gateways
from annotate.live_marks import WHAT
from annotate.run_config import checked_config
from annotate.run_data import RunData
from annotate.run_desk import RunDesk
from annotate.run_ledger import RunLedger
from annotate.store.checkpoints import get_checkpoint
from annotate.supervisor import PATIENT_S
from annotate.under_way import UnderWay
from annotate.weights import Weights
from nn import commands
from nn.config import Mode, ModelConfig, config_class
from nn.free_memory import free_memory
from nn.memory import estimate

if TYPE_CHECKING:
    from annotate.candle_store import CandleStore
    from annotate.db import Database
    from annotate.feeds.intake import Intake
    from annotate.publisher import Publisher
    from annotate.settings import Settings

Json = dict[str, Any]
RunMode = Literal["batch", "live", "skill", "leaks"]

SHUTDOWN_S = 5.0
BEAT_S = 5.0  # between two signs of life of the worker

Result = TypeVar("Result")


class Trainer:
    """The one trainer. Its methods may be called from any thread, and answer at once."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        candles: CandleStore,
        publisher: Publisher,
        intake: Intake,
        *,
        worker: Sequence[str] = (),
        clock: Clock | None = None,
        open_gateway: OpenGateway | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._database = database
        self._actor = Actor("trainer")
        self._ledger = RunLedger(database, publisher)
        self._data = RunData(settings.data_dir, database, candles)
        self._feeds = FeedMaker(self._data, intake, clock, open_gateway or gateways(settings.exchange_at))
        self._weights = Weights(database, settings.data_dir / "checkpoints", ModelConfig.SHAPE)
        self._desk = RunDesk(database, self._ledger, self._weights)
        self._kept_bytes = settings.keep_snapshots_mb << 20
        self._under_way = UnderWay(
            *(self._actor, self._desk, self._ledger, self._weights, self._data, self._feeds, clock),
            worker=worker or worker_command(settings),
            answer_s=settings.worker_answer_s,
            kept_bytes=self._kept_bytes,
        )
        self._supervisor = self._under_way.supervisor
        self._heartbeat = Heartbeat("heartbeat", BEAT_S, lambda: self._actor.tell(self._under_way.beat))
        self._is_stopped = False
        publisher.watch_series(self._series_changed)

    def settle(self) -> None:
        """Give every run that a death of this process cut off its end, `interrupted`; called once, before `start`."""
        self._weights.remove_orphans()
        for run in self._ledger.unfinished():
            self._under_way.end(run, "interrupted", "the server ended while this run was under way")

    def start(self) -> None:
        """Start the trainer thread, which starts the worker; a second call changes nothing."""
        if self._actor.start():
            # From that thread: Linux ends the worker when the thread that started it is gone.
            self._actor.tell(self._supervisor.start)
            self._heartbeat.start()

    def stop(self) -> None:
        """Let the worker save and leave, end what is under way as interrupted, and end the threads."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self._actor.start()
        self._heartbeat.stop()
        self._actor.ask(self._under_way.shut_down)
        if not self._under_way.worker_is_gone.wait(SHUTDOWN_S):
            self._actor.ask(self._supervisor.kill)
            self._under_way.worker_is_gone.wait(SHUTDOWN_S)
        self._under_way.marks.stop()
        self._actor.stop()

    def state(self) -> str:
        """Say idle, loading, training, live or failed."""
        return "failed" if self._supervisor.has_failed else self._desk.jobs.state()

    def load(
        self, series_id: int, model: str | None, checkpoint: Literal["latest", "new"] | int, config: Mapping[str, Any]
    ) -> Json:
        """Load weights: `latest`, `new`, or the checkpoint of that number; give the run that does it."""
        self._data.check_series(series_id)
        named = None
        if isinstance(checkpoint, int):
            with self._database.read() as session:
                row = get_checkpoint(session, checkpoint)
            named, model = str(self._weights.directory(row.run_id, row.name)), model or row.model
        checked = self._config("load", series_id, {**config, **({"model": model} if model else {})})
        start = {"named": named, "fresh": checkpoint == "new"}
        return self._ask(lambda: self._under_way.open("load", series_id, None, checked, start))

    def submit(
        self, mode: RunMode, config: Mapping[str, Any], *, series_id: int | None = None, dataset_id: int | None = None
    ) -> Json:
        """Ask for a batch or a live run on a series or a dataset, or for an audit of a batch run; give the run.

        Raises InvalidInput for a config that cannot be taken, Conflict where the series has a live run already.
        """
        if dataset_id is not None:
            series_id = self._data.series_of(dataset_id)
        if series_id is None:
            raise InvalidInput("name the series_id or the dataset_id that the run is about", field="series_id")
        self._data.check_series(series_id)
        checked = self._config(mode, series_id, config)
        if mode == "live":
            begin = self._ask(lambda: self._desk.begin_of_new(series_id, checked))
            if begin is not None:
                self._feeds.check(series_id, checked["feed"], begin)
            return self._ask(lambda: self._under_way.open(mode, series_id, None, checked))
        if dataset_id is not None and "split" not in config:
            checked["split"] = self._data.split_of(dataset_id)
        dataset = dataset_id if dataset_id is not None else self._data.make(series_id, config=checked)
        self._check_split(dataset, checked)
        return self._ask(lambda: self._under_way.open(mode, series_id, dataset, checked))

    def memory(self, mode: Mode, given: Mapping[str, Any]) -> Json:
        """Say what a run with this config will need of memory, and what to change where it does not fit."""
        config = config_class(mode).from_json(checked_config(mode, given, None))
        card = self._under_way.card
        on_card = card is not None and card.device.startswith("cuda")
        free = card.free_bytes if on_card and card else free_memory()
        return estimate(config, free, amp=on_card and config.use_amp)

    def stop_run(self, run_id: int) -> Json:
        """Stop a run after its present step; give it, `stopping` or, where it had not begun, `stopped`."""
        return self._ask(lambda: self._under_way.stop_run(run_id))

    def pause(self, run_id: int) -> Json:
        """Hold a run after its present step."""
        return self._ask(lambda: self._under_way.pause(run_id))

    def resume(self, run_id: int) -> Json:
        """Let a paused or interrupted run go on, as the same run."""
        return self._ask(lambda: self._under_way.resume(run_id))

    def snapshots(self, run_id: int) -> Json:
        """List the snapshots that a live run keeps, `{items, bytes, most_bytes}`; raise NotFound for the run."""
        self._desk.row(run_id)
        return to_json(kept_snapshots(self._weights.directory(run_id)), self._kept_bytes)

    def forget(self, run_id: int, since: int | None, snapshot: int | None) -> Json:
        """Have a live run forget: every candle from `since` on, or all that a kept snapshot has not learnt.

        Gives `{run, snapshot}`: where it goes back to. Raises Conflict where the run is not live now, InvalidInput
        where no kept snapshot is old enough.
        """
        self._desk.row(run_id)
        kept = kept_snapshots(self._weights.directory(run_id))
        chosen, begin = choose(kept, since, snapshot)
        return self._ask(lambda: self._under_way.forget(run_id, begin, chosen))

    def predict(self, series_id: int, model: str | None, as_of: int | None) -> Json:
        """Ask the newest snapshot about the window that ends with the candle `as_of`, the newest by default."""
        fed = self._ask(lambda: self._desk.is_fed(series_id))
        history = None if fed else str(self._data.whole_series(series_id))
        question = partial(commands.Predict, series_id=series_id, model=model, history_dir=history, as_of=as_of)
        return self._supervisor.ask(lambda number: question(request_id=number).to_json())

    def read_labels(self, series_id: int, asked: Mapping[str, Any]) -> Json:
        """Ask the label head of the newest snapshot for spans; `asked` has the other fields of `ReadLabels`."""
        self.start()
        question = partial(commands.ReadLabels, series_id=series_id, model=None, **asked)
        return self._supervisor.ask(lambda number: question(request_id=number).to_json(), PATIENT_S)

    def discard(self, series_id: int, model: str | None) -> int:
        """Delete the checkpoints of a series and have the worker forget its weights; give how many there were."""
        count = self._ask(lambda: self._desk.discard(series_id, model))
        question = partial(commands.Discard, series_id=series_id, model=model)
        self._supervisor.ask(lambda number: question(request_id=number).to_json())
        return count

    def _check_split(self, dataset_id: int, config: Json) -> None:
        """Raise InvalidInput where a run would be judged by another split than the dataset's leak gate was."""
        split = self._data.split_of(dataset_id)
        if config["split"] != split:
            raise InvalidInput(
                f"split = {config['split']}: dataset {dataset_id} is split {split}; leave split out, or make a dataset "
                "with that split",
                field="split",
            )

    def _config(self, mode: Mode, series_id: int, given: Mapping[str, Any]) -> Json:
        default = self._ask(lambda: self._weights.default_model(series_id))
        return checked_config(mode, given, default)

    def _ask(self, work: Callable[[], Result]) -> Result:
        self.start()
        return self._actor.ask(work)

    def _series_changed(self, series_id: int, notice: Json) -> None:
        """Hear what the browsers hear, from any thread."""
        if notice.get("what") in WHAT and "task" not in notice:  # one with a task tells how far suggesting is
            self._actor.tell(lambda: self._under_way.marks_changed(series_id))


def worker_command(settings: Settings) -> list[str]:
    """Give the command line of the worker."""
    return [sys.executable, "-m", "nn.worker", "--device", settings.device, "--threads", str(settings.threads)]
