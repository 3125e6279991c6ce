"""Arrow's arrays and kernels for this package, typed once: the stubs give most kernels one array type."""

from __future__ import annotations

from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute

Column: TypeAlias = "pa.Array[Any]"

pc: Any = pyarrow.compute
