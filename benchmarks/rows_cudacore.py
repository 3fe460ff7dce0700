# SPDX-License-Identifier: Apache-2.0
"""cudacore: cuda.core's rows with plain Python numbers, and its bound launchers."""

from __future__ import annotations

import cudacore
from core_api import Session, core_rows
from harness import Case, Rows, Setup
from kernels import DOUBLE, FLOAT, INT, LAUNCH_COUNTS, THREADS, TUPLE_COUNTS


def make_argument(kind: str, buffer: object) -> object:
    """Return a buffer for a pointer, otherwise a Python number."""
    return {"float*": buffer, "int": INT, "float": FLOAT, "double": DOUBLE}[kind]


def rows() -> Rows:
    """Yield the name and the setup of each row."""
    session = Session(cudacore, make_argument)
    yield from core_rows(session)

    def bound(parameters: int, *, keep_tuple: bool = False) -> Setup:
        def setup() -> Case:
            text, names = session.arguments(parameters)
            if keep_tuple:
                text, names = "*arguments", {"arguments": tuple(names.values())}
            launcher = session.kernel(parameters)[1, THREADS, session.stream]
            return Case(f"bound({text})", {"bound": launcher, **names}, session.stream.sync)

        return setup

    for parameters in LAUNCH_COUNTS:
        yield f"launch_{parameters}_bound", bound(parameters)
    for parameters in TUPLE_COUNTS:
        yield f"launch_{parameters}_tuple", bound(parameters, keep_tuple=True)

    def subscript() -> Case:
        text, names = session.arguments(4)
        names |= {"kernel": session.kernel(4), "stream": session.stream}
        return Case(f"kernel[1, {THREADS}, stream]({text})", names, session.stream.sync)

    yield "launch_4_subscript", subscript
