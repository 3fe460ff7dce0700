# SPDX-License-Identifier: Apache-2.0
"""numba-cuda: kernels compiled for the types of their arguments; its own arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Case, Rows, Setup, numbered
from kernels import ARRAYS, DOUBLE, FLOAT, INT, THREADS, parameter_types
from numba import cuda


def empty(count: int) -> Any:
    """Return a kernel with `count` parameters that does nothing."""
    names = ", ".join(f"a{i}" for i in range(count))
    namespace: dict[str, Any] = {}
    exec(compile(f"def empty({names}):\n    pass\n", "<row>", "exec"), namespace)
    return cuda.jit(namespace["empty"])


def rows() -> Rows:
    """Yield the name and the setup of each row."""
    stream = cuda.stream()
    values = {
        "float*": cuda.to_device(np.zeros(256, dtype=np.float32)),
        "int": INT,
        "float": np.float32(FLOAT),
        "double": DOUBLE,
    }

    def launch(types: tuple[str, ...]) -> Setup:
        def setup() -> Case:
            text, names = numbered([values[kind] for kind in types])
            names |= {"kernel": empty(len(types)), "stream": stream}
            return Case(f"kernel[1, {THREADS}, stream]({text})", names, stream.synchronize)

        return setup

    for parameters in (0, 1, 4, 16):
        yield f"launch_{parameters}", launch(parameter_types(parameters))
    yield "arrays_16", launch(ARRAYS)
    yield "stream_sync", lambda: Case("stream.synchronize()", {"stream": stream})
