# SPDX-License-Identifier: Apache-2.0
"""Finds the configuration of a tile kernel that is fastest on this device, by timing them.

What a search finds is kept in the folder of the program cache (`cudacore.cache`), by the name of
the device, the code of the kernel for each configuration, the arguments, their shapes included,
and the versions of the driver, the compiler and cudacore: the same search in a later process times
nothing.
"""

from __future__ import annotations

import builtins
import math
import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import cudacore
from cudacore import NotSupportedError, benchmark
from cudacore.tile import _exception, _tuning_cache
from cudacore.tile._kernel import kernel as Kernel  # noqa: N812 - a parameter has its name
from cudacore.tile._launch import launch, to_stream
from cudacore.tile._launch_argument import arguments_of
from cudacore.tile._specialization import architecture_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Measurement", "TuningResult", "clear_cache", "exhaustive_search"]

T = TypeVar("T")

_FIRST_SAMPLES = 5
_MORE_SAMPLES = 30
_CONTENDERS = 5
_LONGEST_MESSAGE = 60


def __dir__() -> list[str]:
    return sorted(__all__)


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

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> one = ct.tune.Measurement(config=128, mean_us=10.0, num_samples=30, error_margin_us=0.5)
    >>> f"{one.config}: {one.mean_us} +- {one.error_margin_us} us"
    '128: 10.0 +- 0.5 us'
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
    is_cached : bool
        Whether an earlier search found this, and nothing was timed.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> one = ct.tune.Measurement(config=128, mean_us=10.0, num_samples=30, error_margin_us=0.5)
    >>> result = ct.tune.TuningResult(best=one, successes=(one,), failures=())
    >>> result.best.config
    128
    """

    best: Measurement[T]
    successes: Sequence[Measurement[T]]
    failures: Sequence[tuple[T, type[BaseException], str]]
    is_cached: bool = False

    def summary(self, *, top_k: int = 10, bottom_k: int = 2) -> str:
        """Return a table of the measurements, the fastest first.

        Parameters
        ----------
        top_k : int
            How many of the fastest, and of the failures, are shown.
        bottom_k : int
            How many of the slowest are shown.

        Examples
        --------
        >>> import cudacore.tile as ct
        >>> one = ct.tune.Measurement(config=128, mean_us=10.0, num_samples=30, error_margin_us=0.5)
        >>> result = ct.tune.TuningResult(best=one, successes=(one,), failures=())
        >>> print(result.summary())
        1 succeeded, 0 failed
        * 128:     10.0±0.5    us (30 samples)
        """
        when = " in an earlier search" if self.is_cached else ""
        lines = [f"{len(self.successes)} succeeded, {len(self.failures)} failed{when}"]
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
    search_space: Iterable[T],
    stream: Any,
    grid_fn: Callable[[T], tuple[int, ...]],
    kernel: Kernel | Callable[[T], Kernel],
    args_fn: Callable[[T], tuple[Any, ...]],
    hints_fn: Callable[[T], dict[str, Any]] | None = None,
    *,
    quiet: bool = False,
    single_run_timeout_sec: float | None = None,
    cache: bool = True,
) -> TuningResult[T]:
    """Time each configuration of a kernel, and return the fastest.

    Each is timed a few times; those that may be the fastest are timed again, in turns, so that the
    device is in the same state for each.

    Parameters
    ----------
    search_space : iterable
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
    cache : bool
        Whether to return what the same search has found before, and to keep what this one finds.
        While the program cache is off, and where the text of a configuration or of an argument
        (its `repr`) has an address in it, nothing is kept.

    Raises
    ------
    ValueError
        There is no configuration, or none could be launched; the message tells why the first
        could not.
    TypeError
        No configuration could be launched because an argument or a result of the functions has a
        wrong type for each.
    NotSupportedError
        A time limit is given.

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
    if single_run_timeout_sec is not None:
        raise NotSupportedError("launches of a search have no time limit")
    _require_functions(grid_fn=grid_fn, args_fn=args_fn)
    configs = list(search_space)
    if not configs:
        raise ValueError("Search space is empty.")
    failures: list[tuple[int, BaseException]] = []
    runs: dict[int, _Run] = {}
    for place, config in enumerate(configs):
        try:
            chosen = kernel if isinstance(kernel, Kernel) else kernel(config)
            if hints_fn is not None:
                chosen = chosen.replace_hints(**hints_fn(config))
            runs[place] = _Run(config, grid_fn(config), chosen, args_fn(config))
        except Exception as error:  # noqa: BLE001, PERF203 - the search goes on without it
            failures.append((place, error))
    key = _key(stream, runs, failures) if cache else None
    result = None if key is None else _kept(configs, failures, _tuning_cache.read(key))
    if result is None:
        result, kept = _search(configs, stream, runs, failures)
        if key is not None:
            _tuning_cache.write(key, kept)
    if not quiet:
        print(result)  # noqa: T201 - asked for
    return result


def clear_cache() -> None:
    """Forget what searches have found, of all devices.

    Raises
    ------
    OSError
        The folder can't be changed.
    """
    _tuning_cache.clear()


@dataclass(frozen=True)
class _Run:
    """A launch of one configuration."""

    config: Any
    grid: Any
    kernel: Kernel
    arguments: tuple[Any, ...]

    def launch(self, stream: Any) -> None:
        launch(stream, self.grid, self.kernel, self.arguments)


def _key(
    stream: Any, runs: dict[int, _Run], failures: Sequence[tuple[int, BaseException]]
) -> str | None:
    facts: list[object] = []
    for place, run in runs.items():
        try:
            device = to_stream(stream, arguments_of(run.kernel, run.arguments).device).device
            of_run = _tuning_cache.run_facts(
                run.config, run.grid, run.kernel, run.arguments, architecture_of(device)
            )
        except Exception:  # noqa: BLE001 - the launch will raise it, too
            return None
        facts.append([place, *_tuning_cache.device_facts(device), *of_run])
    facts.extend([place, type(error).__name__, str(error)] for place, error in failures)
    return _tuning_cache.key_of(facts)


def _require_functions(**functions: object) -> None:
    for name, given in functions.items():
        if not callable(given):
            raise TypeError(f"{name} must be a function of a configuration, not {given!r}")


def _search(
    search_space: Sequence[T],
    stream: Any,
    runs: dict[int, _Run],
    failures: list[tuple[int, BaseException]],
) -> tuple[TuningResult[T], dict[str, Any]]:
    """Time the launches; return the result, and what is kept of it."""
    measured: dict[int, Measurement[Any]] = {}
    for place, run in runs.items():
        try:
            run.launch(stream)
            measured[place] = _measure([run], stream, _FIRST_SAMPLES)[0]
        except Exception as error:  # noqa: BLE001, PERF203 - the search goes on without it
            failures.append((place, error))
    failures.sort(key=lambda failure: failure[0])
    if not measured:
        place, first = failures[0]
        if all(_is_of_caller(error) for _, error in failures):
            raise first
        raise ValueError(
            f"No valid config found in search space.\nConfig: {search_space[place]}\n"
            f"{type(first).__name__}: {first}"
        )
    order = sorted(measured, key=lambda place: measured[place].mean_us)[:_CONTENDERS]
    if len(order) > 1:
        again = _measure([runs[place] for place in order], stream, _MORE_SAMPLES)
        measured.update(zip(order, again, strict=True))
    best = min(order, key=lambda place: measured[place].mean_us)
    result = TuningResult(
        best=measured[best],
        successes=tuple(measured.values()),
        failures=tuple((search_space[at], type(error), str(error)) for at, error in failures),
    )
    kept = {
        "best": best,
        "successes": [
            [place, one.mean_us, one.num_samples, one.error_margin_us]
            for place, one in measured.items()
        ],
        "failures": [[place, type(error).__name__, str(error)] for place, error in failures],
    }
    return result, kept


def _is_of_caller(error: BaseException) -> bool:
    """Return whether an error is of the call rather than of a configuration."""
    return isinstance(error, TypeError) and not isinstance(error, _exception.TileError)


def _kept(
    search_space: Sequence[T],
    known: Sequence[tuple[int, BaseException]],
    kept: dict[str, Any] | None,
) -> TuningResult[T] | None:
    """Return the result that an earlier search has kept, with which failures are known already.

    There is none if a failure is of a type that can't be told by its name, or if what was kept is
    damaged.
    """
    if kept is None or not _is_whole(kept, len(search_space)):
        return None
    successes = {
        place: Measurement(
            config=search_space[place], mean_us=mean, num_samples=count, error_margin_us=margin
        )
        for place, mean, count, margin in kept["successes"]
    }
    types = {place: type(error) for place, error in known}
    failures = []
    for place, name, message in kept["failures"]:
        kind = types.get(place) or _type(name)
        if kind is None:
            return None
        failures.append((search_space[place], kind, message))
    return TuningResult(
        best=successes[kept["best"]],
        successes=tuple(successes.values()),
        failures=tuple(failures),
        is_cached=True,
    )


def _is_whole(kept: dict[str, Any], count: int) -> bool:
    """Return whether what was kept is what a search of so many configurations keeps."""
    if kept.keys() != {"best", "successes", "failures"}:
        return False
    successes, failures = kept["successes"], kept["failures"]
    if not isinstance(successes, list) or not isinstance(failures, list):
        return False

    def fits(entry: object, *types: type | tuple[type, ...]) -> bool:
        return (
            isinstance(entry, list)
            and len(entry) == len(types)
            and all(map(isinstance, entry, types))
            and entry[0] in range(count)
        )

    return (
        all(fits(one, int, (int, float), int, (int, float)) for one in successes)
        and all(math.isfinite(one[1]) and math.isfinite(one[3]) for one in successes)
        and all(fits(one, int, str, str) for one in failures)
        and any(kept["best"] == one[0] for one in successes)
    )


def _type(name: str) -> type[BaseException] | None:
    """Return the exception of cudacore or Python that has a name."""
    for module in (_exception, cudacore, builtins):
        found = getattr(module, name, None)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
    return None


def _measure(runs: Sequence[_Run], stream: Any, samples: int) -> list[Measurement[Any]]:
    functions = {str(place): partial(run.launch, stream) for place, run in enumerate(runs)}
    timed = benchmark(functions, stream=stream, samples=samples, calls=1, warmup=1)
    return [
        Measurement(
            config=run.config,
            mean_us=1e6 * result.gpu.mean,
            num_samples=len(result.gpu),
            error_margin_us=1.96e6 * statistics.stdev(result.gpu.samples) / math.sqrt(samples),
        )
        for run, result in zip(runs, timed.values(), strict=True)
    ]
