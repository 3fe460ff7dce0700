# SPDX-License-Identifier: Apache-2.0
"""In a process of its own: opens the compilers as a program would, and tells what it found."""

from collections.abc import Callable
from typing import Any

from cudacore import _core
from cudacore._doctor.probe_driver import failure

LIBRARIES: dict[str, Callable[[], tuple[tuple[int, int], str]]] = {
    "NVRTC": _core.nvrtc_library,
    "nvJitLink": _core.nvjitlink_library,
    "nvFatbin": _core.nvfatbin_library,
}


def answer() -> dict[str, Any]:
    """Return each library that would be used and all its places, and the headers."""
    found: dict[str, Any] = {name: _library(name, find) for name, find in LIBRARIES.items()}
    try:
        found["architectures"] = _core.nvrtc_architectures()
        found["include_directories"] = _core.include_directories()
        found["header_places"] = _core.header_places()
    except _core.CUDAError as error:
        found["failure"] = failure(error)
    return found


def _library(name: str, find: Callable[[], tuple[tuple[int, int], str]]) -> dict[str, Any]:
    found: dict[str, Any] = {"places": _core.library_places(name)}
    try:
        found["version"], found["path"] = find()
    except _core.CUDAError as error:
        found["failure"] = failure(error)
    return found
