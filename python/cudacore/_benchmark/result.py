# SPDX-License-Identifier: Apache-2.0
"""What a benchmark found out about one function."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cudacore._benchmark import text
from cudacore._public import public

if TYPE_CHECKING:
    from cudacore._benchmark.clocks import BenchmarkClocks
    from cudacore._benchmark.times import BenchmarkTimes


@public("cudacore")
@dataclass(frozen=True, repr=False)
class BenchmarkResult:
    """What calling a function took; `cudacore.benchmark` returns it.

    All times are in seconds and for one call.

    Attributes
    ----------
    name : str
        The function's name.
    gpu : BenchmarkTimes
        What the device took, between two events.
    cpu : BenchmarkTimes
        What the host took to call the function, which usually means: to queue its work.
    calls : int
        The number of calls between two events.
    flushed_l2 : bool
        Whether the L2 cache was emptied before each run.
    device : str
        The device's name.
    simulated : bool
        Whether it was the simulated device: then the times are the simulator's.
    includes_waiting : bool
        Whether the GPU times contain times in which the device waited for the host, because the
        function waits for the device itself, or queues too much.
    bytes, flops : float or None
        What one call moves and computes, as it was given.
    peak_bandwidth : float or None
        What the device's memory can move at most, in bytes per second.
    clocks : BenchmarkClocks or None
        The device's clocks meanwhile; None if unknown.
    notes : tuple of str
        What one must know to understand the times.
    """

    name: str
    gpu: BenchmarkTimes
    cpu: BenchmarkTimes
    calls: int
    flushed_l2: bool
    device: str
    simulated: bool
    includes_waiting: bool
    bytes: float | None
    flops: float | None
    peak_bandwidth: float | None
    clocks: BenchmarkClocks | None
    notes: tuple[str, ...]

    @property
    def bandwidth(self) -> float | None:
        """The bytes per second at the median of the GPU times."""
        return self._per_second(self.bytes)

    @property
    def throughput(self) -> float | None:
        """The operations per second at the median of the GPU times."""
        return self._per_second(self.flops)

    @property
    def launch_bound(self) -> bool:
        """Whether queueing a call takes longer than running it.

        A loop of such calls runs at the host's pace.
        """
        return self.includes_waiting or self.cpu.median > self.gpu.median

    def _per_second(self, amount: float | None) -> float | None:
        return amount / self.gpu.median if amount and self.gpu.median > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return {
            "name": self.name,
            "device": self.device,
            "simulated": self.simulated,
            "gpu": self.gpu.to_dict(),
            "cpu": self.cpu.to_dict(),
            "calls": self.calls,
            "flushed_l2": self.flushed_l2,
            "launch_bound": self.launch_bound,
            "includes_waiting": self.includes_waiting,
            "bytes": self.bytes,
            "flops": self.flops,
            "bandwidth": self.bandwidth,
            "throughput": self.throughput,
            "peak_bandwidth": self.peak_bandwidth,
            "clocks": self.clocks.to_dict() if self.clocks else None,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def plot(self, ax: Any = None) -> Any:
        """Draw a histogram of the GPU times with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from cudacore._benchmark import plot  # noqa: PLC0415

        return plot.histogram(self, ax)

    def __repr__(self) -> str:
        return text.of_result(self)

    def _repr_html_(self) -> str:
        return text.html_of_result(self)
