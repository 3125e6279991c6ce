"""Where to train, said with its reason; threads by measurement; memory in the known form."""

from __future__ import annotations

import re
import time

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


def test_threads_that_bring_nothing_are_not_taken(threads: None) -> None:
    assert calibrate_threads(lambda: time.sleep(0.01), limit_s=2) == 1
    assert torch.get_num_threads() == 1


def test_threads_that_bring_much_are_taken(threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert calibrate_threads(lambda: time.sleep(0.02 / torch.get_num_threads()), limit_s=2) == 4


def test_calibration_keeps_to_its_time(threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)))
    start = time.perf_counter()
    calibrate_threads(lambda: time.sleep(0.1), limit_s=0.5)
    assert time.perf_counter() - start < 1.5


@pytest.fixture
def threads() -> object:
    """Set the thread count back after a test."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
