"""Arrow's kernels and columns for this package, typed once."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

Column: TypeAlias = "pa.ChunkedArray[Any]"

# The stubs give most kernels one array type; columns here hold text, numbers or times, as the file has them.
pc: Any = pyarrow.compute


def mask_of(column: Any) -> NDArray[np.bool_]:
    """Give a Boolean column as a NumPy mask; null is False."""
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def ints_of(column: Any) -> NDArray[np.int64]:
    """Give a column of integers without nulls as NumPy."""
    return np.asarray(column.to_numpy(), dtype=np.int64)


def first_false(column: Any) -> int | None:
    """Give the first row of a Boolean column that is not True; None when all are."""
    row = int(pc.index(pc.fill_null(column, False), pa.scalar(value=False)).as_py())
    return None if row < 0 else row
