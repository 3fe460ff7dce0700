# SPDX-License-Identifier: Apache-2.0
"""`cudacore.benchmark`: the time that work takes on a device, and on the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from cudacore import _core
from cudacore._benchmark import arguments
from cudacore._benchmark.clocks import BenchmarkClocks
from cudacore._benchmark.comparison import BenchmarkComparison
from cudacore._benchmark.notes import includes_waiting, notes
from cudacore._benchmark.result import BenchmarkResult
from cudacore._benchmark.times import BenchmarkTimes
from cudacore._benchmark.timing import Candidate, Plan, Timer
from cudacore._public import public

if TYPE_CHECKING:
    from collections.abc import Callable

    from cudacore._core import Device, Stream
    from cudacore.typing import IsStreamType

__all__ = [
    "BenchmarkClocks",
    "BenchmarkComparison",
    "BenchmarkResult",
    "BenchmarkTimes",
    "benchmark",
]


@overload
def benchmark(
    fn: Callable[..., object],
    args: Sequence[Any] = ...,
    kwargs: Mapping[str, Any] | None = ...,
    *,
    stream: IsStreamType | None = ...,
    setup: Callable[[], object] | None = ...,
    warmup: int | None = ...,
    samples: int | None = ...,
    seconds: float = ...,
    calls: int | None = ...,
    flush_l2: bool | None = ...,
    bytes: float | None = ...,
    flops: float | None = ...,
) -> BenchmarkResult: ...
@overload
def benchmark(
    fn: Mapping[str, Callable[..., object]] | Sequence[Callable[..., object]],
    args: Sequence[Any] = ...,
    kwargs: Mapping[str, Any] | None = ...,
    *,
    stream: IsStreamType | None = ...,
    setup: Callable[[], object] | None = ...,
    warmup: int | None = ...,
    samples: int | None = ...,
    seconds: float = ...,
    calls: int | None = ...,
    flush_l2: bool | None = ...,
    bytes: float | None = ...,
    flops: float | None = ...,
) -> BenchmarkComparison: ...
@public("cudacore")
def benchmark(
    fn: object,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    stream: IsStreamType | None = None,
    setup: Callable[[], object] | None = None,
    warmup: int | None = None,
    samples: int | None = None,
    seconds: float = 0.5,
    calls: int | None = None,
    flush_l2: bool | None = None,
    bytes: float | None = None,  # noqa: A002
    flops: float | None = None,
) -> BenchmarkResult | BenchmarkComparison:
    """Time what functions do on a device, and on the host.

    Each run writes a large buffer, which empties the L2 cache, records an event, calls the
    function, and records another event. The host does all this while the device is busy with the
    write, so that the time between the events contains no waiting for the host. What the runs say
    about each other, and what may mislead, is in the result.

    Parameters
    ----------
    fn : callable, list of callables, or dict of str to callable
        What to time. It should queue work and not wait for it. Several functions are called in
        turns, so that they are measured under the same conditions.
    args : tuple
        The arguments of each call.
    kwargs : dict, optional
        The keyword arguments of each call.
    stream : anything with ``__cuda_stream__``, optional
        The stream that the function uses, the thread's current one by default. It is the current
        stream while the function runs. Other libraries have current streams of their own: give
        theirs, as in ``stream=torch.cuda.current_stream()``.
    setup : callable, optional
        Called before each run, and not timed. If it returns a tuple, these are the arguments of the
        call. With a setup, a run has one call.
    warmup : int, optional
        Calls before the first run that counts. By default, until the times are stable, for one
        second at most. With 0, the first run contains what is done only once.
    samples : int, optional
        The number of runs. By default as many as fit into `seconds`, but from 5 to 2000.
    seconds : float
        How long to run each function, if `samples` is not given.
    calls : int, optional
        Calls in each run, from 1 to 512, between the same two events. By default 1, or as many as
        take 100 µs if one takes less than 10 µs, which is too short for events.
    flush_l2 : bool, optional
        Whether to empty the L2 cache before each run. By default, it is emptied if a run has one
        call, except on the simulated device, which has no cache. If False, the function is called
        once before each run, so that it finds in the cache what fits.
    bytes, flops : float, optional
        What one call moves and computes; the result then has `bandwidth` and `throughput`.

    Returns
    -------
    BenchmarkResult or BenchmarkComparison
        The latter for several functions: a mapping of names to results.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong, contradicts another, or does not fit the function; or the function is
        one that only returns a coroutine or a generator, or that closes the stream.
    DriverNotFoundError
        There is no driver.
    OutOfMemoryError
        There is no room for the buffer, which is twice as large as the L2 cache.

    Notes
    -----
    What the function raises ends the benchmark. Python's garbage collector is off during the runs.

    Examples
    --------
    >>> device = cudacore.Device()
    >>> program = cudacore.Program("__global__ void nothing() {}", "c++")
    >>> kernel = program.compile().get_kernel("nothing")
    >>> result = cudacore.benchmark(kernel[1, 32], samples=20)
    >>> result.name, len(result.gpu), result.gpu.median >= 0
    ('nothing', 20, True)
    """
    candidates = [Candidate(name, one) for name, one in arguments.read_candidates(fn).items()]
    plan = Plan(
        args=arguments.read_args(args, "args="),
        kwargs=arguments.read_kwargs(kwargs),
        setup=arguments.read_setup(setup),
        warmup=arguments.read_count("warmup", warmup, 0),
        samples=arguments.read_count("samples", samples, 1),
        seconds=arguments.read_positive("seconds", seconds),
        calls=arguments.read_count("calls", calls, 1, arguments.MOST_CALLS),
        flush_l2=arguments.read_flag("flush_l2", flush_l2),
    )
    moved = None if bytes is None else arguments.read_positive("bytes", bytes)
    computed = None if flops is None else arguments.read_positive("flops", flops)
    _check_plan(plan)
    for one in candidates if plan.setup is None else ():
        arguments.check_call(one.name, one.fn, plan.args, plan.kwargs)

    used = _stream(stream)
    device = used.device
    simulated = _core.simulator_is_enabled()
    timer = Timer(used, plan, simulated=simulated)
    timer.run(candidates)
    clocks = timer.clocks.result()
    results = {
        one.name: BenchmarkResult(
            name=one.name,
            gpu=BenchmarkTimes(tuple(run.gpu for run in one.samples)),
            cpu=BenchmarkTimes(tuple(run.cpu for run in one.samples)),
            calls=one.calls,
            flushed_l2=timer.flushes,
            device=device.name,
            simulated=simulated,
            includes_waiting=includes_waiting(one),
            bytes=moved,
            flops=computed,
            peak_bandwidth=None if simulated else _peak_bandwidth(device),
            clocks=clocks,
            notes=tuple(
                notes(
                    one,
                    simulated=simulated,
                    flushed=timer.flushes,
                    clocks=clocks,
                    why_unknown=timer.clocks.why_unknown,
                )
            ),
        )
        for one in candidates
    }
    if isinstance(fn, Mapping | Sequence):
        return BenchmarkComparison(results)
    return results[candidates[0].name]


def _check_plan(plan: Plan) -> None:
    """Refuse settings that contradict each other."""
    if plan.calls is not None and plan.calls > 1:
        if plan.flush_l2:
            raise ValueError(
                f"benchmark: calls={plan.calls} and flush_l2=True: only the first of the calls "
                "would find the cache empty. Leave one of them out"
            )
        if plan.setup is not None:
            raise ValueError(
                f"benchmark: calls={plan.calls} and a setup, which runs before each run: only the "
                "first of the calls would find what it has set up. Leave one of them out"
            )


def _stream(stream: IsStreamType | None) -> Stream:
    if stream is None:
        return _core.current_stream()
    if isinstance(stream, _core.Stream):
        if stream.is_closed:
            raise ValueError("benchmark: the stream is closed")
        return stream
    if not hasattr(stream, "__cuda_stream__"):
        raise TypeError(f"benchmark: stream={stream!r} has no __cuda_stream__")
    return _core.current_stream().device.create_stream(stream)


def _peak_bandwidth(device: Device) -> float | None:
    """Return the bytes per second of double data rate memory, if the device tells."""
    properties = device.properties
    kilohertz, bits = properties.memory_clock_rate, properties.global_memory_bus_width
    return 2e3 * kilohertz * bits / 8 or None
