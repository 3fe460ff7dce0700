# SPDX-License-Identifier: Apache-2.0
"""Finds the configuration of a tile kernel that is fastest on this device, by timing them.

Examples
--------
>>> import cudacore
>>> import cudacore.tile as ct
>>> import numpy as np
>>> @ct.kernel
... def double(x, size: ct.Constant[int]):
...     i = ct.bid(0)
...     ct.store(x, (i,), 2 * ct.load(x, (i,), shape=(size,)))
>>> device = cudacore.Device()
>>> stream = device.create_stream()
>>> x = device.allocate(1024, stream=stream).view(np.float32)
>>> result = ct.tune.exhaustive_search(
...     [64, 128],
...     stream,
...     lambda size: (ct.cdiv(256, size),),
...     double,
...     lambda size: (x, size),
...     quiet=True,
... )
>>> result.best.config in (64, 128)
True
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cudacore import NotSupportedError, benchmark
from cudacore.tile._kernel import kernel as Kernel  # noqa: N812 - a parameter has its name
from cudacore.tile._launch import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Measurement", "TuningResult", "exhaustive_search"]

T = TypeVar("T")

_FIRST_SAMPLES = 5
_MORE_SAMPLES = 30
_CONTENDERS = 5
_LONGEST_MESSAGE = 60


@dataclass(frozen=True, kw_only=True)
class Measurement(Generic[T]):
    """How long one configuration takes.

    Attributes
    ----------
    config : object
        The configuration.
    mean_us : float
        The mean time of a launch in microseconds.
    num_samples : int
        How many launches were timed.
    error_margin_us : float
        Half of the 95 % confidence interval of the mean, in microseconds.
    """

    config: T
    mean_us: float
    num_samples: int
    error_margin_us: float


@dataclass(frozen=True, kw_only=True)
class TuningResult(Generic[T]):
    """What a search found.

    Attributes
    ----------
    best : Measurement
        The fastest configuration.
    successes : tuple of Measurement
        All that ran.
    failures : tuple
        ``(config, exception type, message)`` of all that could not be compiled or launched.
    """

    best: Measurement[T]
    successes: Sequence[Measurement[T]]
    failures: Sequence[tuple[T, type[BaseException], str]]

    def summary(self, *, top_k: int = 10, bottom_k: int = 2) -> str:
        """Return a table of the measurements, the fastest first.

        Parameters
        ----------
        top_k : int
            How many of the fastest, and of the failures, are shown.
        bottom_k : int
            How many of the slowest are shown.
        """
        lines = [f"{len(self.successes)} succeeded, {len(self.failures)} failed"]
        ranked = sorted(self.successes, key=lambda one: one.mean_us)
        hidden = len(ranked) - top_k - bottom_k
        if hidden <= 1:
            top_k, hidden = max(top_k, len(ranked)), 0
        width = max(len(str(one.config)) for one in ranked)
        for place, one in enumerate(ranked):
            if hidden and place == top_k:
                lines.append(f"    ... {hidden} more not shown")
            if hidden and top_k <= place < top_k + hidden:
                continue
            lines.append(
                f"{'*' if one == self.best else ' '} {one.config!s:<{width}}: "
                f"{one.mean_us:8.1f}±{one.error_margin_us:<6.1f} us ({one.num_samples} samples)"
            )
        if self.failures:
            lines.append(f"  {len(self.failures)} failed:")
        for config, kind, message in self.failures[:top_k]:
            first = message.partition("\n")[0]
            if len(first) > _LONGEST_MESSAGE:
                first = first[: _LONGEST_MESSAGE - 3] + "..."
            lines.append(f"    {config}: {kind.__name__}: {first}")
        if len(self.failures) > top_k:
            lines.append(f"    ... {len(self.failures) - top_k} more not shown")
        if hidden or len(self.failures) > top_k:
            lines.append("Use .successes and .failures for full results.")
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()


def exhaustive_search(  # noqa: PLR0917 - the signature is cuTile's
    search_space: Sequence[T],
    stream: Any,
    grid_fn: Callable[[T], tuple[int, ...]],
    kernel: Kernel | Callable[[T], Kernel],
    args_fn: Callable[[T], tuple[Any, ...]],
    hints_fn: Callable[[T], dict[str, Any]] | None = None,
    *,
    quiet: bool = False,
    single_run_timeout_sec: float | None = None,
) -> TuningResult[T]:
    """Time each configuration of a kernel, and return the fastest.

    Each is timed a few times; those that may be the fastest are timed again, in turns, so that the
    device is in the same state for each.

    Parameters
    ----------
    search_space : sequence
        The configurations, of any type.
    stream : Stream or anything with ``__cuda_stream__``
        The stream to launch on.
    grid_fn : callable
        Returns the grid for a configuration.
    kernel : kernel or callable
        The kernel, or what returns it for a configuration.
    args_fn : callable
        Returns the arguments for a configuration. It is called once for each.
    hints_fn : callable, optional
        Returns the hints for a configuration, as `kernel.replace_hints` takes them.
    quiet : bool
        Whether to print nothing; by default the result is printed.
    single_run_timeout_sec : None
        Launches have no time limit.

    Raises
    ------
    ValueError
        There is no configuration, or none could be launched; the message tells why the first
        could not.
    NotSupportedError
        A time limit is given.
    """
    if single_run_timeout_sec is not None:
        raise NotSupportedError("launches of a search have no time limit")
    if not len(search_space):
        raise ValueError("Search space is empty.")
    runs: list[tuple[T, Callable[[], None]]] = []
    failures: list[tuple[T, type[BaseException], str]] = []
    measured: list[Measurement[T]] = []
    for config in search_space:
        try:
            chosen = kernel if isinstance(kernel, Kernel) else kernel(config)
            if hints_fn is not None:
                chosen = chosen.replace_hints(**hints_fn(config))
            run = partial(launch, stream, grid_fn(config), chosen, args_fn(config))
            run()
            measured.append(_measure([(config, run)], stream, _FIRST_SAMPLES)[0])
        except Exception as error:  # noqa: BLE001 - the search goes on without it
            failures.append((config, type(error), str(error)))
            continue
        runs.append((config, run))
    if not measured:
        config, kind, message = failures[0]
        raise ValueError(
            f"No valid config found in search space.\nConfig: {config}\n{kind.__name__}: {message}"
        )
    order = sorted(range(len(measured)), key=lambda place: measured[place].mean_us)[:_CONTENDERS]
    if len(order) > 1:
        again = _measure([runs[place] for place in order], stream, _MORE_SAMPLES)
        for place, measurement in zip(order, again, strict=True):
            measured[place] = measurement
    best = min((measured[place] for place in order), key=lambda one: one.mean_us)
    result = TuningResult(best=best, successes=tuple(measured), failures=tuple(failures))
    if not quiet:
        print(result)  # noqa: T201 - asked for
    return result


def _measure(
    runs: Sequence[tuple[T, Callable[[], None]]], stream: Any, samples: int
) -> list[Measurement[T]]:
    functions = {str(place): run for place, (_, run) in enumerate(runs)}
    timed = benchmark(functions, stream=stream, samples=samples, calls=1, warmup=1)
    return [
        Measurement(
            config=config,
            mean_us=1e6 * result.gpu.mean,
            num_samples=len(result.gpu),
            error_margin_us=1.96e6 * statistics.stdev(result.gpu.samples) / math.sqrt(samples),
        )
        for (config, _), result in zip(runs, timed.values(), strict=True)
    ]
