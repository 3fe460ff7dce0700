# SPDX-License-Identifier: Apache-2.0
"""What one must know to understand the times of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._benchmark.times import BenchmarkTimes, seconds_text
from cudacore._benchmark.timing import LITTLE, SHORT_S, Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cudacore._benchmark.clocks import BenchmarkClocks

_NOISY = 0.1


def includes_waiting(one: Candidate) -> bool:
    """Tell whether the device waited for the host in a good part of the runs."""
    waited = [run.exposed and run.cpu > LITTLE * run.gpu for run in one.samples]
    return sum(waited) > len(waited) / 10


def notes(
    one: Candidate,
    *,
    simulated: bool,
    flushed: bool,
    clocks: BenchmarkClocks | None,
    why_unknown: str,
) -> Iterator[str]:
    """Yield the notes on one function."""
    gpu = BenchmarkTimes(tuple(run.gpu for run in one.samples))
    if simulated:
        yield "this is the simulated device: its times say nothing about a GPU"
    else:
        yield from _about_clocks(clocks, why_unknown)
    yield from _about_waiting(one, gpu, simulated=simulated)
    if one.calls > 1 and not flushed:
        yield (
            f"{one.calls} calls between two events: the time of one is their mean, and they may "
            "find their data in the L2 cache"
        )
    elif gpu.median < SHORT_S and not simulated:
        yield "this is short for events, which resolve 0.5 µs and take some time themselves"
    if not one.is_stable:
        yield "the times did not settle during the warm-up"
    if gpu.iqr > _NOISY * gpu.median:
        yield f"noisy: the interquartile range is {100 * gpu.iqr / max(gpu.median, 1e-12):.0f} %"


def _about_waiting(one: Candidate, gpu: BenchmarkTimes, *, simulated: bool) -> Iterator[str]:
    cpu = BenchmarkTimes(tuple(run.cpu for run in one.samples))
    if one.escapes:
        yield (
            "the device was still busy after the stream was done: the function seems to use "
            "another stream, whose work is not timed; give that stream as stream=..."
        )
    if includes_waiting(one):
        yield (
            f"the device waited for the host, which takes {seconds_text(cpu.median)} per call: the "
            "function waits for the device itself, or queues too much; the GPU time contains this"
        )
    elif cpu.median > gpu.median and not simulated:
        yield (
            f"launching takes longer ({seconds_text(cpu.median)}) than running "
            f"({seconds_text(gpu.median)}): a loop of such calls is bounded by launching"
        )


def _about_clocks(clocks: BenchmarkClocks | None, why_unknown: str) -> Iterator[str]:
    if why_unknown:
        yield f"the clocks are unknown: {why_unknown}"
    if clocks is not None and clocks.moved:
        yield (
            f"the clocks moved: multiprocessors {clocks.sm_mhz[0]} to {clocks.sm_mhz[1]} MHz, "
            f"memory {clocks.memory_mhz[0]} to {clocks.memory_mhz[1]} MHz"
        )
    if clocks is not None and clocks.slowed_by:
        yield f"the device was slowed down by {', '.join(clocks.slowed_by)}"
