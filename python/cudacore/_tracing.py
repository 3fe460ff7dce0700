# SPDX-License-Identifier: Apache-2.0
"""Whether PyTorch traces an operator, with tensors that have no memory: launches are left out."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cudacore import _core

#: How often functions are traced now, in all threads: where none is, no thread needs be asked.
count = 0
_lock = threading.Lock()


@contextmanager
def tracing() -> Iterator[None]:
    """Leave out the launches of this thread."""
    global count  # noqa: PLW0603 - it is one for the process
    with _lock:
        count += 1
    before = _core._trace_launches(True)  # noqa: SLF001
    try:
        yield
    finally:
        _core._trace_launches(before)  # noqa: SLF001
        with _lock:
            count -= 1


def is_tracing() -> bool:
    """Return whether this thread leaves out launches."""
    before = _core._trace_launches(True)  # noqa: SLF001 - it tells only what was before
    _core._trace_launches(before)  # noqa: SLF001
    return before
