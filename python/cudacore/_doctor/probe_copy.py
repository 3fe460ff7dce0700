# SPDX-License-Identifier: Apache-2.0
"""In a process of its own: opens one copy of a library, and asks for its version."""

import ctypes
from typing import Any

FUNCTIONS = {
    "NVRTC": "nvrtcVersion",
    "nvJitLink": "nvJitLinkVersion",
    "nvFatbin": "nvFatbinVersion",
}


def answer(library: str, name: str) -> dict[str, Any]:
    """Return the version and the path of a library, or why it can't be opened."""
    try:
        opened = ctypes.CDLL(name)
    except OSError as error:
        return {"error": str(error)}
    function = getattr(opened, FUNCTIONS[library], None)
    if function is None:
        return {"path": path_of(name), "error": f"it has no {FUNCTIONS[library]}"}
    major, minor = ctypes.c_int(), ctypes.c_int()
    function(ctypes.byref(major), ctypes.byref(minor))
    return {"path": path_of(name), "version": (major.value, minor.value)}


def path_of(name: str) -> str:
    """Return the file that the loader opened for a name."""
    if "/" in name:
        return name
    stem = name.partition(".so")[0]
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path.rpartition("/")[2].startswith(stem + ".so"):
                return "/" + path
    return name
