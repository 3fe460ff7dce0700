# SPDX-License-Identifier: Apache-2.0
"""Writes that empty the L2 cache, and keep the device busy while the host queues what is timed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cudacore._core import SynchronousMemoryResource

if TYPE_CHECKING:
    from cudacore._core import Event, Stream

#: A function that keeps the host busy for longer than this many writes is timed uncovered.
MOST_WRITES = 64

#: Twice the cache: its halves may each hold a copy of the same line.
_CACHES = 2


class Cover:
    """A buffer that is written before each run.

    The write takes the L2 cache's content away. While the device is busy with it, the host queues
    the first event, the work and the last event, so that the time between the events contains no
    waiting for the host.
    """

    def __init__(self, stream: Stream, l2_bytes: int) -> None:
        self._stream = stream
        self._buffer = SynchronousMemoryResource(stream.device).allocate(
            _CACHES * l2_bytes, stream=stream
        )
        self._seconds = 0.0

    def measure(self, start: Event, end: Event) -> None:
        """Find out what a write takes; the first one is slower."""
        for _ in range(2):
            self._stream.record(start)
            self.write(1)
            self._stream.record(end)
            end.sync()
        self._seconds = max((end - start) * 1e-3, 1e-6)

    def write(self, times: int) -> None:
        """Queue writes of the whole buffer."""
        for _ in range(times):
            self._buffer.fill(0, stream=self._stream)

    def writes_for(self, host_seconds: float) -> int:
        """Return how many writes take longer than the host needs."""
        return max(1, min(math.ceil(1.5 * host_seconds / self._seconds), MOST_WRITES))

    def close(self) -> None:
        """Free the buffer."""
        self._buffer.close()
