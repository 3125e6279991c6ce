"""Where to train, said with its reason; threads by measurement; memory in the known form."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

from nn.device import DeviceError, calibrate_threads, choose, memory_line, peak_resident_bytes, resident_bytes

CUDA = torch.cuda.is_available()


def test_the_cpu_is_taken_when_it_is_asked_for_and_says_so() -> None:
    device = choose("cpu")
    assert (device.device.type, device.dtype) == ("cpu", "float32")
    assert "asked for" in device.reason


def test_a_device_is_always_found_and_its_reason_names_it() -> None:
    device = choose()
    assert device.device.type == ("cuda" if CUDA else "cpu")
    assert (torch.cuda.get_device_name() if CUDA else "no CUDA card was found") in device.reason


def test_a_card_that_is_not_there_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="use auto or cpu"):
        choose("cuda")


def test_the_memory_line_speaks_of_this_process_on_a_cpu() -> None:
    line = memory_line(torch.device("cpu"))
    used = re.fullmatch(r"Process memory: (\d+\.\d\d)GB / \d+\.\d\dGB \(\d+\.\d%\)", line)
    assert used is not None
    assert float(used[1]) == pytest.approx(resident_bytes() / 2**30, abs=0.05)
    assert resident_bytes() <= 1.01 * peak_resident_bytes()  # the system counts both in coarse steps


class Work:
    """Work whose seconds by thread count are known; its clock moves by nothing else."""

    def __init__(self, seconds: Callable[[int], float]) -> None:
        self.seconds, self.now = seconds, 0.0

    def __call__(self) -> None:
        self.now += self.seconds(torch.get_num_threads())

    def fastest(self, monkeypatch: pytest.MonkeyPatch, cores: int) -> int:
        monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
        return calibrate_threads(self, limit_s=2, clock=lambda: self.now)


@pytest.mark.parametrize("gain", [0.0, 0.08, -3.0])
def test_threads_that_bring_little_or_harm_are_not_taken(
    threads: None, monkeypatch: pytest.MonkeyPatch, gain: float
) -> None:
    assert Work(lambda count: 0.1 if count == 1 else 0.1 * (1 - gain)).fastest(monkeypatch, 8) == 1
    assert torch.get_num_threads() == 1


def test_threads_that_bring_much_are_taken(threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Work(lambda count: 0.1 / count).fastest(monkeypatch, 4) == 4
    assert torch.get_num_threads() == 4


def test_what_else_a_machine_does_for_a_moment_decides_nothing(threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(lambda count: 0.1 / count)
    work.seconds = lambda count: 0.1 / count + (0.2 if 0.3 <= work.now < 1 else 0)  # as two are tried first
    assert work.fastest(monkeypatch, 2) == 2


def test_calibration_keeps_to_its_time(threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Work(lambda _: 0.4)
    slow.fastest(monkeypatch, 64)
    assert slow.now <= 2


@pytest.fixture
def threads() -> object:
    """Set the thread count back after a test."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
