# SPDX-License-Identifier: Apache-2.0
"""NVRTC, loaded while Python is at something else."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress

from cudacore import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def nvrtc_loaded_beside() -> Iterator[None]:
    """Load NVRTC in a thread while the block runs, which takes a core some ten milliseconds.

    If it can't be loaded, the compilation says so.
    """
    # The system loads one library at a time, so those that the block needs come first.
    from cudacore import _tile  # noqa: F401, PLC0415
    from cudacore.tile import _exception  # noqa: F401, PLC0415 - it needs Python's table of letters

    thread = threading.Thread(target=_load, name="loader of NVRTC", daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _load() -> None:
    with suppress(Exception):
        _core.nvrtc_library()
