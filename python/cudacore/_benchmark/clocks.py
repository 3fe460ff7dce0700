# SPDX-License-Identifier: Apache-2.0
"""Watches a device's clocks while it is timed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudacore import _core
from cudacore._public import public

if TYPE_CHECKING:
    from collections.abc import Callable

    from cudacore._core import Device

#: BenchmarkClocks whose readings differ by more than this have moved.
MOVED = 0.02

_INTERVAL_S = 0.02

#: Bits of nvmlClocksEventReasons that mean that something slows the device down.
REASONS = {
    0x004: "the power cap",
    0x008: "a hardware slowdown",
    0x020: "thermal slowdown (software)",
    0x040: "thermal slowdown (hardware)",
    0x080: "the power brake",
}


@public("cudacore")
@dataclass(frozen=True)
class BenchmarkClocks:
    """The clocks that were read during a benchmark.

    Parameters
    ----------
    sm_mhz : tuple of int
        The lowest and the highest clock of the multiprocessors, in MHz.
    memory_mhz : tuple of int
        The lowest and the highest clock of the memory, in MHz.
    slowed_by : tuple of str
        What slowed the device down meanwhile, such as "the power cap".
    """

    sm_mhz: tuple[int, int]
    memory_mhz: tuple[int, int]
    slowed_by: tuple[str, ...]

    @property
    def moved(self) -> bool:
        """Whether a clock changed by more than 2 %."""
        return any(high > low * (1 + MOVED) for low, high in (self.sm_mhz, self.memory_mhz))

    def to_dict(self) -> dict[str, object]:
        """Return the clocks, for JSON."""
        return {name: list(values) for name, values in vars(self).items()}


def _no_clocks() -> tuple[int, int, int]:
    raise _core.NotSupportedError("the simulated device has no clocks")


class ClockWatch:
    """Reads clocks from NVML now and then, and keeps what it read.

    Parameters
    ----------
    read : callable
        Returns the clock of the multiprocessors and of the memory in MHz, and the reasons.
    """

    def __init__(self, read: Callable[[], tuple[int, int, int]]) -> None:
        self._read = read
        self._readings: list[tuple[int, int, int]] = []
        self._next = 0.0
        self.why_unknown = ""

    @classmethod
    def of(cls, device: Device) -> ClockWatch:
        """Watch a device; the simulated one has no clocks."""
        if _core.simulator_is_enabled():
            return cls(_no_clocks)
        bus = device.pci_bus_id
        return cls(lambda: _core.clocks(bus))

    def look(self) -> None:
        """Read the clocks if the last reading is old. Call this while the device is busy."""
        now = time.perf_counter()
        if self.why_unknown or now < self._next:
            return
        self._next = now + _INTERVAL_S
        try:
            self._readings.append(self._read())
        except _core.CUDAError as error:
            self.why_unknown = str(error).partition("\n")[0]

    def forget(self) -> None:
        """Forget the readings of the warm-up, in which clocks are expected to move."""
        self._readings.clear()
        self._next = 0.0

    def result(self) -> BenchmarkClocks | None:
        """Return what was read; None if nothing was."""
        if not self._readings:
            return None
        sm, memory, reasons = zip(*self._readings, strict=True)
        bits = 0
        for one in reasons:
            bits |= one
        return BenchmarkClocks(
            (min(sm), max(sm)),
            (min(memory), max(memory)),
            tuple(text for bit, text in REASONS.items() if bits & bit),
        )
