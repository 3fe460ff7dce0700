# SPDX-License-Identifier: Apache-2.0
"""cuda.core: typed NumPy scalars, made outside of the timed loop; it accepts no Python float."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cuda.core
import numpy as np
from core_api import Session, core_rows
from kernels import DOUBLE, FLOAT, INT

if TYPE_CHECKING:
    from harness import Rows


def make_argument(kind: str, buffer: object) -> object:
    """Return a buffer for a pointer, otherwise a NumPy scalar of the parameter's type."""
    return {
        "float*": buffer,
        "int": np.int32(INT),
        "float": np.float32(FLOAT),
        "double": np.float64(DOUBLE),
    }[kind]


def rows() -> Rows:
    """Yield the name and the setup of each row."""
    yield from core_rows(Session(cuda.core, make_argument))
