# SPDX-License-Identifier: Apache-2.0
"""Python's garbage collector, held back while a function is recorded."""

from __future__ import annotations

import gc
import threading


class _NoCollection:
    """Holds back Python's garbage collector while a function is recorded.

    What it collects may run anything, which would become part of the recording. Afterwards it is
    as before the first of the recordings that overlap, unless somebody enabled it meanwhile: that
    somebody disabled it again, which changed nothing, can't be known.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if self._count == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0 and self._was_enabled:
                gc.enable()


no_collection = _NoCollection()
