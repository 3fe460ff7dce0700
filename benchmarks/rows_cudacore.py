# SPDX-License-Identifier: Apache-2.0
"""cudacore: cuda.core's rows with plain Python numbers, and its bound launchers."""

from __future__ import annotations

from itertools import cycle

import cudacore
import cudacore.graph
from core_api import LAUNCH, MEBIBYTE, Session, core_rows
from harness import Case, Rows, Setup, numbered
from kernels import (
    ARRAYS,
    DOUBLE,
    FLOAT,
    INT,
    LAUNCH_COUNTS,
    RECORDED_KERNELS,
    THREADS,
    TUPLE_COUNTS,
    parameter_types,
)
from specification import LIVE_COUNTS


def make_argument(kind: str, buffer: object) -> object:
    """Return a buffer for a pointer, otherwise a Python number."""
    return {"float*": buffer, "int": INT, "float": FLOAT, "double": DOUBLE}[kind]


def rows() -> Rows:
    """Yield the name and the setup of each row."""
    session = Session(cudacore, make_argument)
    yield from core_rows(session)

    def bound(parameters: int, *, keep_tuple: bool = False) -> Setup:
        def setup() -> Case:
            types = parameter_types(parameters)
            arguments = session.arguments(types)
            text, names = numbered(arguments)
            if keep_tuple:
                text, names = "*arguments", {"arguments": tuple(arguments)}
            launcher = session.kernel(types)[1, THREADS, session.stream]
            return Case(f"bound({text})", {"bound": launcher, **names}, session.stream.sync)

        return setup

    for parameters in LAUNCH_COUNTS:
        yield f"launch_{parameters}_bound", bound(parameters)
    for parameters in TUPLE_COUNTS:
        yield f"launch_{parameters}_tuple", bound(parameters, keep_tuple=True)

    def subscript() -> Case:
        text, names = numbered(session.arguments(parameter_types(4)))
        names |= {"kernel": session.kernel(parameter_types(4)), "stream": session.stream}
        return Case(f"kernel[1, {THREADS}, stream]({text})", names, session.stream.sync)

    yield "launch_4_subscript", subscript

    def recorded(*, is_launched: bool) -> Case:
        """Give every kernel other arguments in each call."""
        launcher = session.kernel(parameter_types(4))[1, THREADS]

        @cudacore.graph.record
        def step(x: object, y: object, a: float, n: int) -> None:
            for _ in range(RECORDED_KERNELS):
                launcher(x, y, a, n)

        def buffer() -> object:
            return session.memory.allocate(MEBIBYTE, stream=session.stream)

        given = cycle([(buffer(), buffer(), FLOAT + i, INT + i) for i in range(2)])
        names = {"given": given, "step": step.__wrapped__ if is_launched else step}
        session.stream.__enter__()  # for the rest of the process: the other rows name it
        return Case("step(*next(given))", names, session.stream.sync)

    yield "recorded_1000", lambda: recorded(is_launched=False)
    yield "recorded_1000_launched", lambda: recorded(is_launched=True)

    def beside(count: int) -> Setup:
        def setup() -> Case:
            # Of many sizes, with free blocks between them.
            memory = cudacore.CachingMemoryResource(session.memory)
            sizes = (512 * (1 + i % 8) for i in range(2 * count))
            live = [memory.allocate(size, stream=session.stream) for size in sizes]
            del live[::2]
            statement = "memory.allocate(1024, stream=stream).close()"
            names = {"memory": memory, "stream": session.stream, "live": live}
            return Case(statement, names, session.stream.sync)

        return setup

    caching = cudacore.CachingMemoryResource(session.memory)
    yield "alloc_free_caching", lambda: session.alloc_free(caching)
    for count in LIVE_COUNTS:
        yield f"alloc_free_beside_{count}", beside(count)

    # The arrays' own library runs on the same stream. Its import comes last, after all that could
    # be slower for it.
    def tensors() -> Case:
        import torch

        device = torch.device("cuda", 0)
        torch.cuda.set_stream(torch.cuda.ExternalStream(int(session.stream.handle), device))
        return session.launch(ARRAYS, LAUNCH, [torch.zeros(256, device=device) for _ in ARRAYS])

    def cupy_arrays() -> Case:
        import cupy

        cupy.cuda.ExternalStream(int(session.stream.handle)).use()
        arrays = [cupy.zeros(256, dtype=cupy.float32) for _ in ARRAYS]
        return session.launch(ARRAYS, LAUNCH, arrays)

    yield "cupy_arrays_16", cupy_arrays
    yield "tensors_16", tensors
