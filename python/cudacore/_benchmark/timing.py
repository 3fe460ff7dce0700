# SPDX-License-Identifier: Apache-2.0
"""Runs functions and takes their times."""

from __future__ import annotations

import gc
import math
import statistics
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cudacore._benchmark import arguments
from cudacore._benchmark.clocks import ClockWatch
from cudacore._benchmark.cover import MOST_WRITES, Cover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cudacore._core import Stream

#: Events resolve half a microsecond: what is shorter than this is timed over many calls at once.
SHORT_S = 10e-6
#: What the calls between two events should take together.
_SPAN_S = 100e-6

#: Waiting for the host can't matter if the host needs less than this part of the device's time.
LITTLE = 0.05

_LEAST_SAMPLES = 5
_MOST_SAMPLES = 2000

_WARM_UP_S = 1.0  # at most
_LEAST_WARM_UP_S = 0.03  # clocks need some time to rise
_WINDOW = 5
_STABLE = 0.03

# What waiting for an idle device takes at most, if the host has time.
_IDLE_S = 50e-6
_IDLE_SIMULATED_S = 1e-3
_TRIES = 5


class Sample(NamedTuple):
    """What one run took for one call, in seconds."""

    cpu: float
    gpu: float
    exposed: bool  # the device may have waited for the host between the events


@dataclass
class Candidate:
    """A function that is timed, and what is known of it."""

    name: str
    fn: Callable[..., object]
    samples: list[Sample] = field(default_factory=list)
    calls: int = 1
    writes: int = 1
    is_stable: bool = True
    can_be_covered: bool = True
    escapes: bool = False  # its work goes on after the stream is idle
    is_checked: bool = False  # it takes the arguments, and does the work itself


@dataclass(frozen=True)
class Plan:
    """What the caller asked for; None means that it is chosen."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    setup: Callable[[], object] | None
    warmup: int | None
    samples: int | None
    seconds: float
    calls: int | None
    flush_l2: bool | None


class Timer:
    """BenchmarkTimes functions on a stream."""

    def __init__(self, stream: Stream, plan: Plan, *, simulated: bool) -> None:
        self._stream = stream
        self._plan = plan
        self._simulated = simulated
        self.clocks = ClockWatch.of(stream.device)
        self.flushes = plan.flush_l2 is not False and not (simulated and plan.flush_l2 is None)

    def run(self, candidates: Sequence[Candidate]) -> None:
        """Warm up and time the candidates, in turns, so that what drifts meets all of them."""
        with ExitStack() as stack:
            options = {"timing_enabled": True}
            self._start = stack.enter_context(self._stream.record(options=options))
            self._end = stack.enter_context(self._stream.record(options=options))
            self._cover = self._make_cover(stack)
            stack.enter_context(self._stream)
            for candidate in candidates:
                self._warm_up(candidate)
            self._choose_calls(candidates)
            self.clocks.forget()
            stack.enter_context(_no_collections())
            for one in self._turns(candidates):
                one.samples.append(self._measure_covered(one))

    def _make_cover(self, stack: ExitStack) -> Cover | None:
        l2_bytes = self._stream.device.properties.l2_cache_size
        if l2_bytes == 0 or (self._simulated and not self.flushes):
            self.flushes = False
            return None
        cover = Cover(self._stream, l2_bytes)
        stack.callback(cover.close)
        cover.measure(self._start, self._end)
        return cover

    def _set_up(self) -> tuple[Any, ...]:
        """Run the setup; return the arguments for the call."""
        if self._plan.setup is None:
            return self._plan.args
        made = self._plan.setup()
        if made is None:
            return self._plan.args
        return arguments.read_args(made, "setup returned ")

    def _first_call(self, one: Candidate) -> None:
        """Let the function do what it does only once; refuse what can't be timed."""
        args = self._set_up()
        self._checked(one, args)(*args, **self._plan.kwargs)
        one.is_checked = True
        self._check_stream(one)
        self._stream.sync()

    def _checked(self, one: Candidate, args: tuple[Any, ...]) -> Callable[..., object]:
        """Refuse arguments that don't fit; return the function with a check of its result."""
        arguments.check_call(one.name, one.fn, args, self._plan.kwargs)
        return lambda *args, **kwargs: arguments.check_result(one.name, one.fn(*args, **kwargs))

    def _check_stream(self, one: Candidate) -> None:
        if self._stream.is_closed:
            raise ValueError(f"benchmark: {one.name} closed the stream that it is timed on")

    def _escapes(self, one: Candidate) -> bool:
        """Tell whether the device is still busy whenever the stream is idle.

        A host that is busy itself may wait as long, but not every time.
        """
        device = self._stream.device
        limit = _IDLE_SIMULATED_S if self._simulated else _IDLE_S
        busy = idle = math.inf
        for _ in range(_TRIES):
            args = self._set_up()
            device.sync()
            one.fn(*args, **self._plan.kwargs)
            self._check_stream(one)
            self._stream.sync()
            busy = min(busy, _seconds_of(device.sync))
            if busy < limit:
                return False
            idle = min(idle, _seconds_of(device.sync))
        return busy > 3 * idle

    def _warm_up(self, one: Candidate) -> None:
        if self._plan.warmup == 0:
            return
        self._first_call(one)
        if self._plan.warmup is not None:
            for _ in range(self._plan.warmup - 1):
                self._measure_covered(one)
            return
        one.escapes = self._escapes(one)
        begin = time.perf_counter()
        times: list[float] = []
        while True:
            times.append(self._measure_covered(one).gpu)
            elapsed = time.perf_counter() - begin
            one.is_stable = _is_stable(times)
            if elapsed > _WARM_UP_S:
                return
            if one.is_stable and (self._simulated or elapsed > _LEAST_WARM_UP_S):
                return

    def _choose_calls(self, candidates: Sequence[Candidate]) -> None:
        """Choose the calls between two events and, for all alike, whether to empty the cache."""
        if self._plan.calls is not None:
            self.flushes = self.flushes and self._plan.calls == 1
            for one in candidates:
                one.calls = self._plan.calls
            return
        if self._plan.flush_l2 or self._plan.setup is not None:
            return
        if min(self._single(one) for one in candidates) >= SHORT_S:
            return
        self.flushes = False
        for one in candidates:
            # Twice, because what a single call seems to take is mostly the events' own time.
            for _ in range(2):
                wanted = math.ceil(_SPAN_S / max(self._single(one), 1e-7))
                one.calls = min(max(wanted, 1), arguments.MOST_CALLS)

    def _single(self, one: Candidate) -> float:
        """Return what a call takes, as far as events can tell."""
        return statistics.median(self._measure_covered(one).gpu for _ in range(_WINDOW))

    def _measure_covered(self, one: Candidate) -> Sample:
        """Measure; as long as the cover is too short, and can grow, drop the run and try again."""
        while True:
            sample = self._measure(one)
            matters = sample.exposed and sample.cpu > LITTLE * sample.gpu
            if self._cover is None or not matters or not one.can_be_covered:
                return sample
            if one.writes == MOST_WRITES:  # it waits for the device itself, or queues very much
                one.can_be_covered, one.writes = False, 1
                return sample
            needed = self._cover.writes_for(sample.cpu * one.calls)
            one.writes = min(max(2 * one.writes, needed), MOST_WRITES)

    def _measure(self, one: Candidate) -> Sample:
        args = self._set_up()
        kwargs = self._plan.kwargs
        fn = one.fn if one.is_checked else self._checked(one, args)
        stream, start, end = self._stream, self._start, self._end
        if self._cover is not None:
            self._cover.write(one.writes)
            if not self.flushes and self._plan.setup is None:
                fn(*args, **kwargs)  # brings back into the cache what the cover took away
        self._check_stream(one)
        stream.record(start)
        begin = time.perf_counter_ns()
        for _ in range(one.calls):
            fn(*args, **kwargs)
        cpu = time.perf_counter_ns() - begin
        one.is_checked = True
        self._check_stream(one)
        stream.record(end)
        exposed = self._cover is not None and start.is_done
        self.clocks.look()
        end.sync()
        return Sample(cpu * 1e-9 / one.calls, (end - start) * 1e-3 / one.calls, exposed)

    def _turns(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        """Yield the candidates again and again, forwards and backwards, until there are enough."""
        begin = time.perf_counter()
        order: list[Candidate] = list(candidates)
        for done in range(self._plan.samples or _MOST_SAMPLES):
            if self._plan.samples is None and done >= _LEAST_SAMPLES:
                elapsed = time.perf_counter() - begin
                if elapsed > self._plan.seconds * len(order):
                    return
            yield from order
            order.reverse()


_gc_lock = threading.Lock()
_gc_users = 0
_gc_was_enabled = False


@contextmanager
def _no_collections() -> Iterator[None]:
    """Keep the garbage collector off as long as any thread is in here."""
    global _gc_users, _gc_was_enabled  # noqa: PLW0603
    with _gc_lock:
        if _gc_users == 0:
            _gc_was_enabled = gc.isenabled()
            gc.disable()
        _gc_users += 1
    try:
        yield
    finally:
        with _gc_lock:
            _gc_users -= 1
            if _gc_users == 0 and _gc_was_enabled:
                gc.enable()


def _seconds_of(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _is_stable(times: Sequence[float]) -> bool:
    if len(times) < 2 * _WINDOW:
        return False
    last = statistics.median(times[-_WINDOW:])
    before = statistics.median(times[-2 * _WINDOW : -_WINDOW])
    return abs(last - before) <= max(_STABLE * before, 1e-6)
