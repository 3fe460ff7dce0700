# SPDX-License-Identifier: Apache-2.0
"""Imports libraries that cudacore doesn't depend on, and says what to install."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudacore._core import Stream

#: The oldest PyTorch with DLPack's C exchange API. By the other protocols, a kernel can't take a
#: tensor that requires a gradient.
OLDEST = (2, 10)


def import_if_installed(module: str) -> Any:
    """Import a module; return None if its library is not installed.

    Whatever else goes wrong in an installed library is raised as it is.
    """
    library = module.partition(".")[0]
    try:
        importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        return None
    return importlib.import_module(module)


def import_library(module: str, user: str, library: str, package: str, instead: str = "") -> Any:
    """Import a library; say what to install if it is missing, or what to do instead."""
    found = import_if_installed(module)
    if found is None:
        raise ImportError(
            f"{user} needs {library}: pip install {package}" + (instead and f"; {instead}"),
            name=module.partition(".")[0],
        )
    return found


def import_torch(user: str) -> Any:
    """Import PyTorch; say what to do if it is missing or too old."""
    torch = import_library("torch", user, "PyTorch", "torch")
    found = re.match(r"(\d+)\.(\d+)", torch.__version__)
    if found and tuple(map(int, found.groups())) < OLDEST:
        raise ImportError(
            f"{user} needs PyTorch {OLDEST[0]}.{OLDEST[1]} or newer, but this is "
            f"{torch.__version__}: pip install --upgrade torch",
            name="torch",
        )
    return torch


def cupy_stream(cupy: Any, stream: Stream, device_id: int) -> Any:
    """Make CuPy's object for a stream."""
    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(stream)
    return cupy.cuda.ExternalStream(int(stream.handle), device_id)  # before CuPy 14
