"""The printed lines, letter for letter in the form that people know."""

from nn.logline import batch_line, clock, epoch_line, learnt_lines, memory_line


def test_the_batch_line() -> None:
    assert batch_line(1, 23, 0.5351, 0.2141, 0.5119) == "Batch 1/23, Loss: 0.535, Candle Acc: 21.4%, Trend Acc: 51.2%"


def test_the_batch_line_where_no_target_counts() -> None:
    assert batch_line(1, 23, 0.5, None, None) == "Batch 1/23, Loss: 0.500, Candle Acc: n/a, Trend Acc: n/a"


def test_the_epoch_line() -> None:
    assert epoch_line(1, 10, 0.3849, 0.26341, 23) == "Epoch 1/10, Loss: 0.385, Accuracy: 26.34% (23 batches)"


def test_the_lines_of_a_learnt_candle() -> None:
    lines = learnt_lines(
        loss=0.4231, average_loss=0.4156, accuracy=0.285, average_accuracy=0.2532,
        symbol="ETH/USDT", timeframe="1s", candle_time=1_763_831_021_000, change=-0.0006,
    )  # fmt: skip
    assert lines.split("\n") == [
        "Per-candle training: Loss=0.4231 (avg: 0.4156), Acc=28.50% (avg: 25.32%)",
        "Trained on candle: ETH/USDT 1s @ 2025-11-22 17:03:41+00:00 (change: -0.06%)",
    ]


def test_the_memory_line() -> None:
    gib = 2**30
    assert memory_line("GPU", round(1.63 * gib), round(46.97 * gib)) == "GPU memory: 1.63GB / 46.97GB (3.5%)"


def test_a_moment_with_milliseconds() -> None:
    assert clock(1_763_831_021_250) == "2025-11-22 17:03:41.250000+00:00"
