# SPDX-License-Identifier: Apache-2.0
"""Times one statement in batches of a tight loop; the device is drained in between, untimed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from statistics import median
from time import perf_counter_ns
from typing import TypeAlias, cast

Result: TypeAlias = dict[str, float | int | str]


def _nothing() -> None:
    pass


@dataclass
class Case:
    """A statement to time, the names it uses, and how to drain the device after a batch."""

    statement: str
    names: Mapping[str, object] = field(default_factory=dict)
    settle: Callable[[], object] = _nothing


Setup: TypeAlias = Callable[[], Case]
Rows: TypeAlias = Iterator[tuple[str, Setup]]


def numbered(values: list[object]) -> tuple[str, dict[str, object]]:
    """Return `"a0, a1, ..."` and the names that it needs."""
    names = {f"a{i}": value for i, value in enumerate(values)}
    return ", ".join(names), names


def build_loop(case: Case) -> Callable[[int], int]:
    """Return a function that runs the statement n times and returns the nanoseconds it took.

    The statement is in the loop as a user would write it, with local variables as its names: no
    call is added to it.
    """
    parameters = "".join(f", {name}" for name in case.names)
    source = (
        f"def loop(_n, _repeat, _clock{parameters}):\n"
        "    _calls = _repeat(None, _n)\n"
        "    _start = _clock()\n"
        "    for _ in _calls:\n"
        f"        {case.statement}\n"
        "    return _clock() - _start\n"
    )
    namespace: dict[str, object] = {}
    exec(compile(source, "<row>", "exec"), namespace)
    loop = cast("Callable[..., int]", namespace["loop"])
    names = dict(case.names)
    return lambda n: loop(n, repeat, perf_counter_ns, **names)


def measure(case: Case, batch: int, batches: int) -> Result:
    """Time a case; return the median and minimum over all batches, in nanoseconds per call."""
    loop = build_loop(case)
    warm_up = max(2, batches // 20)
    samples: list[float] = []
    gc.collect()
    gc.disable()
    try:
        for i in range(warm_up + batches):
            elapsed = loop(batch)
            case.settle()
            if i >= warm_up:
                samples.append(elapsed / batch)
    finally:
        gc.enable()
    statement = case.statement
    if len(statement) > 120:
        statement = statement[:100] + " ..."
    return {
        "median_ns": round(median(samples), 1),
        "min_ns": round(min(samples), 1),
        "n": len(samples),
        "batch": batch,
        "statement": statement,
    }
