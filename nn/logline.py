"""The printed lines, letter for letter in form. The one place outside the page where a time becomes text."""

from __future__ import annotations

from datetime import UTC, datetime

GIB = 2**30


def batch_line(
    batch: int, batches: int, loss: float, candle_accuracy: float | None, trend_accuracy: float | None
) -> str:
    """Give `Batch 1/23, Loss: 0.535, Candle Acc: 21.4%, Trend Acc: 51.2%`."""
    candle, trend = _percent(candle_accuracy, 1), _percent(trend_accuracy, 1)
    return f"Batch {batch}/{batches}, Loss: {loss:.3f}, Candle Acc: {candle}, Trend Acc: {trend}"


def epoch_line(epoch: int, epochs: int, loss: float | None, accuracy: float | None, batches: int) -> str:
    """Give `Epoch 1/10, Loss: 0.385, Accuracy: 26.34% (23 batches)`; the figures are the train means of the epoch."""
    mean = f"{loss:.3f}" if loss is not None else "n/a"
    return f"Epoch {epoch}/{epochs}, Loss: {mean}, Accuracy: {_percent(accuracy, 2)} ({batches} batches)"


def learnt_lines(
    *,
    loss: float | None,
    average_loss: float | None,
    accuracy: float | None,
    average_accuracy: float | None,
    symbol: str,
    timeframe: str,
    candle_time: int,
    change: float | None,
) -> str:
    """Give the two per-candle lines, `Per-candle training: …` and `Trained on candle: …`."""
    first = (
        f"Per-candle training: Loss={_number(loss)} (avg: {_number(average_loss)}), "
        f"Acc={_percent(accuracy, 2)} (avg: {_percent(average_accuracy, 2)})"
    )
    moved = f"{change:+.2%}" if change is not None else "n/a"
    return f"{first}\nTrained on candle: {symbol} {timeframe} @ {clock(candle_time)} (change: {moved})"


def memory_line(what: str, used_bytes: int, total_bytes: int) -> str:
    """Give `GPU memory: 1.63GB / 46.97GB (3.5%)`, in units of 2**30 bytes."""
    return f"{what} memory: {used_bytes / GIB:.2f}GB / {total_bytes / GIB:.2f}GB ({used_bytes / total_bytes:.1%})"


def _percent(share: float | None, digits: int) -> str:
    return f"{share:.{digits}%}" if share is not None else "n/a"


def _number(value: float | None) -> str:
    return f"{value:.4f}" if value is not None else "n/a"


def clock(time_ms: int) -> str:
    """Give a moment in UTC, `2025-11-22 17:03:41+00:00`."""
    moment = datetime.fromtimestamp(time_ms // 1000, UTC).replace(microsecond=time_ms % 1000 * 1000)
    return moment.isoformat(sep=" ")
