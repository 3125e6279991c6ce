"""A worker for tests of the door: a real process that speaks the pipe's protocol, quickly and without torch.

A batch run takes `epochs` × 5 steps of 10 ms. `seed` asks for a death at the third step: 9 and 11 are signals, 1 an
exception; `seed` 3 reacts to nothing once it has begun.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any

from nn import commands, events

BATCHES = 5
STEP_S = 0.01

Json = dict[str, Any]


def now() -> int:
    return time.time_ns() // 1_000_000


class Peer:
    def __init__(self) -> None:
        self.inbox: queue.Queue[commands.Command] = queue.Queue()
        self.stopped: set[int] = set()
        self.paused: set[int] = set()
        self.live: dict[int, commands.StartLive] = {}

    def say(self, item: events.Event | events.Message) -> None:
        sys.stdout.write(json.dumps(item.to_json()) + "\n")
        sys.stdout.flush()

    def read(self) -> None:
        for line in sys.stdin:
            command = commands.from_json(json.loads(line))
            if isinstance(command, commands.StopRun):
                self.stopped.add(command.run_id)
            elif isinstance(command, commands.PauseRun):
                self.paused.add(command.run_id)
            elif isinstance(command, commands.ResumeRun):
                self.paused.discard(command.run_id)
                self.say(events.RunResumed(run_id=command.run_id, time=now(), step=0, from_checkpoint=None))
            self.inbox.put(command)
        os._exit(0)

    def serve(self) -> None:
        self.say(events.WorkerReady(
            pid=os.getpid(), device="cpu", dtype="float32", device_reason="no card", threads=1, memory=""
        ))  # fmt: skip
        while True:
            self.obey(self.inbox.get())

    def obey(self, command: commands.Command) -> None:
        match command:
            case commands.LoadModel():
                self.load(command)
            case commands.StartBatch():
                self.batch(command)
            case commands.StartLive():
                self.start_live(command)
            case commands.CandleClosed():
                self.candle(command)
            case commands.FeedEnded():
                self.end(command.run_id, "failed" if command.cause else "finished", command.cause)
            case commands.Shutdown():
                os._exit(0)
            case _:
                self.answer(command)

    def answer(self, command: commands.Command) -> None:
        match command:
            case commands.Ping():
                self.say(events.Pong())
            case commands.MarksChanged():
                for code, said in (("marks", command.annotations), ("rejected", command.rejected)):
                    self.warn(command.run_id, code, json.dumps([one["label"] for one in said]))
            case commands.ForgetSince():
                self.warn(command.run_id, "forget", json.dumps([command.since, command.snapshot]))
            case commands.StopRun():
                if self.live.pop(command.run_id, None):
                    self.end(command.run_id, "stopped")
            case commands.Predict():
                body = {"as_of": command.as_of, "history_dir": command.history_dir, "model": command.model}
                error = "no model is loaded" if command.model == "gru" else None
                self.say(events.Answer(request_id=command.request_id, body=body, error=error))
            case commands.Discard():
                self.say(events.Answer(request_id=command.request_id, body={}))

    def load(self, command: commands.LoadModel) -> None:
        time.sleep(command.config["dropout"])  # a load that takes its time
        if command.named and not (Path(command.named) / "meta.json").exists():
            self.end(command.run_id, "failed", f"{command.named}: no checkpoint")
            return
        found = command.named or next(iter(command.candidates), None)
        found = None if command.fresh else found
        data_cut = None if found is None else json.loads((Path(found) / "meta.json").read_text())["cut"]
        origin = "fresh" if found is None else "checkpoint"
        self.say(events.ModelLoaded(
            run_id=command.run_id, time=now(), model=command.config["model"], origin=origin,
            reason="asked", checkpoint=found, parameters=1, device="cpu", dtype="float32", device_reason="no card",
            memory="", data_cut=data_cut, snapshot=1,
        ))  # fmt: skip
        self.end(command.run_id, "finished")

    def started(self, command: commands.StartBatch | commands.StartLive, mode: str, data: Json) -> None:
        self.say(events.RunStarted(
            run_id=command.run_id, time=now(), mode=mode, config=command.config, origin="fresh", reason="none fits",
            parameters=1, device="cpu", dtype="float32", threads=1, data=data,
        ))  # fmt: skip

    def batch(self, command: commands.StartBatch) -> None:
        run_id, seed, epochs = command.run_id, command.config["seed"], command.config["epochs"]
        self.started(command, "batch", {"candidates": command.candidates})
        for step in range(command.recorded_step + 1, epochs * BATCHES + 1):
            if step == 3:
                self.die(seed)
            while seed == 3 and step > 3:
                time.sleep(1)
            while run_id in self.paused and run_id not in self.stopped:
                time.sleep(STEP_S)
            if run_id in self.stopped:
                self.save(command, "last", step - 1)
                self.end(run_id, "stopped")
                return
            time.sleep(STEP_S)
            self.say(events.BatchDone(
                run_id=run_id, time=now(), line=f"Batch {step}", epoch=(step - 1) // BATCHES + 1, epochs=epochs,
                batch=(step - 1) % BATCHES + 1, batches=BATCHES, step=step, loss=1.0 / step, candle_accuracy=0.2,
                trend_accuracy=0.5, learning_rate=0.1, gradient_norm=1.0, windows_per_s=1.0, eta_s=0.0, skipped_steps=0,
            ))  # fmt: skip
        self.save(command, "best", epochs * BATCHES)
        self.end(run_id, "finished", summary={"best_epoch": epochs})

    def die(self, seed: int) -> None:
        if seed in (9, 11):
            os.kill(os.getpid(), seed)
            time.sleep(10)
        if seed == 1:
            raise RuntimeError("a leaf Variable was modified")

    def save(self, command: commands.StartBatch, name: str, step: int) -> None:
        cut = json.loads((Path(command.dataset_dir) / "manifest.json").read_text())["candles"]["first"] + 50_000
        folder = Path(command.checkpoint_dir) / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "meta.json").write_text(json.dumps({"cut": cut}))
        self.say(events.CheckpointSaved(
            run_id=command.run_id, name=name, step=step, data_cut=cut, result=name == "best",
            meta={"config": command.config},
        ))  # fmt: skip

    def start_live(self, command: commands.StartLive) -> None:
        self.live[command.run_id] = command
        rows = json.loads((Path(command.history_dir) / "manifest.json").read_text())["candles"]["rows"]
        data = {
            "first": command.first_time,
            "history": rows,
            "recorded": command.recorded,
            "coalesce": command.coalesce,
            "marks": [mark["label"] for mark in command.annotations or ()],
            "rejected": [one["label"] for one in command.rejected],
        }
        self.started(command, "live", data)
        if command.resume:
            self.say(events.RunResumed(run_id=command.run_id, time=now(), step=0, from_checkpoint=None))

    def candle(self, command: commands.CandleClosed) -> None:
        if command.run_id not in self.live:
            return
        if self.live[command.run_id].config["seed"] == 9 and command.time % 7000 == 0:
            os.kill(os.getpid(), 9)
        self.say(events.CandleLearnt(
            run_id=command.run_id, time=now(), line=None, candle_time=command.time, seen=False, skipped=None, loss=1.0,
            average_loss=1.0, accuracy=0.2, average_accuracy=0.2, step=1, snapshot=1, change=0.0,
        ))  # fmt: skip
        self.say(events.CandleDone(run_id=command.run_id, candle_time=command.time))

    def warn(self, run_id: int, code: str, message: str) -> None:
        self.say(events.Warned(run_id=run_id, time=now(), code=code, message=message))

    def end(self, run_id: int, state: str, cause: str | None = None, summary: Json | None = None) -> None:
        self.say(events.RunEnded(run_id=run_id, time=now(), state=state, cause=cause, summary=summary or {}))


if __name__ == "__main__":
    peer = Peer()
    threading.Thread(target=peer.read, daemon=True).start()
    peer.serve()
