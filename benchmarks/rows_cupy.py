# SPDX-License-Identifier: Apache-2.0
"""CuPy: RawKernel with typed NumPy scalars, made outside of the timed loop; its own memory pool."""

from __future__ import annotations

from itertools import count
from typing import Any

import cupy
import cupyx
import numpy as np
from cupy.cuda.compiler import compile_using_nvrtc
from harness import Case, Rows, Setup, numbered
from kernels import (
    ARRAYS,
    DOUBLE,
    FLOAT,
    GRAPH_KERNELS,
    INT,
    LAUNCH_COUNTS,
    SAXPY,
    THREADS,
    empty_kernel,
    parameter_types,
)

MEBIBYTE = 1 << 20
KIBIBYTE = 1 << 10


class Session:
    """The current stream and an array."""

    def __init__(self) -> None:
        self.stream: Any = cupy.cuda.Stream(non_blocking=True)
        self.stream.use()
        self.array: Any = cupy.zeros(KIBIBYTE, dtype=cupy.float32)
        self.settle = self.stream.synchronize
        self.settle()

    def launch(self, types: tuple[str, ...], *, synchronize: bool = False) -> Case:
        values = {
            "float*": self.array,
            "int": np.int32(INT),
            "float": np.float32(FLOAT),
            "double": np.float64(DOUBLE),
        }
        text, names = numbered([values[kind] for kind in types])
        arguments = f"({text},)" if text else "()"
        statement = f"kernel((1,), ({THREADS},), {arguments})"
        if synchronize:
            statement += "; stream.synchronize()"
        kernel = cupy.RawKernel(empty_kernel(types), "empty")
        names |= {"kernel": kernel, "stream": self.stream}
        return Case(statement, names, self.settle)

    def graph(self) -> Case:
        kernel = cupy.RawKernel(empty_kernel(()), "empty")
        kernel((1,), (THREADS,), ())
        self.stream.begin_capture()
        for _ in range(GRAPH_KERNELS):
            kernel((1,), (THREADS,), ())
        graph = self.stream.end_capture()
        return Case("launch()", {"launch": graph.launch}, self.settle)

    def alloc_free(self) -> Case:
        return Case(f"alloc({MEBIBYTE})", {"alloc": cupy.cuda.alloc}, self.settle)

    def event_record(self) -> Case:
        names = {"event": cupy.cuda.Event(disable_timing=True), "stream": self.stream}
        return Case("event.record(stream)", names, self.settle)

    def event_elapsed(self) -> Case:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record(self.stream)
        end.record(self.stream)
        end.synchronize()
        names = {"elapsed": cupy.cuda.get_elapsed_time, "start": start, "end": end}
        return Case("elapsed(start, end)", names)

    def event_create(self) -> Case:
        return Case("Event(disable_timing=True)", {"Event": cupy.cuda.Event}, self.settle)

    def stream_create(self) -> Case:
        return Case("Stream(non_blocking=True)", {"Stream": cupy.cuda.Stream}, self.settle)

    def copy(self, statement: str) -> Case:
        names = {
            "device": cupy.zeros(KIBIBYTE, dtype=np.uint8),
            "host": cupyx.empty_pinned(KIBIBYTE, dtype=np.uint8),
            "stream": self.stream,
        }
        return Case(statement, names, self.settle)

    def compile(self) -> Case:
        names = {"compile": compile_using_nvrtc, "source": SAXPY, "counter": count()}
        return Case("compile(source + str(next(counter)))", names)


def rows() -> Rows:
    """Yield the name and the setup of each row."""
    session = Session()

    def launch(parameters: int) -> Setup:
        return lambda: session.launch(parameter_types(parameters))

    for parameters in LAUNCH_COUNTS:
        yield f"launch_{parameters}", launch(parameters)
    yield "arrays_16", lambda: session.launch(ARRAYS)
    yield "cupy_arrays_16", lambda: session.launch(ARRAYS)
    yield "launch_sync", lambda: session.launch(parameter_types(4), synchronize=True)
    yield "graph_20", session.graph
    yield "alloc_free", session.alloc_free
    yield "alloc_free_caching", session.alloc_free
    yield "event_record", session.event_record
    yield "event_elapsed", session.event_elapsed
    yield "event_create", session.event_create
    yield "stream_create", session.stream_create
    yield "stream_sync", lambda: Case("stream.synchronize()", {"stream": session.stream})
    yield "copy_h2d", lambda: session.copy("device.set(host, stream)")
    yield "copy_d2h", lambda: session.copy("device.get(stream=stream, out=host, blocking=False)")
    yield "compile", session.compile
