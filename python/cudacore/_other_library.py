# SPDX-License-Identifier: Apache-2.0
"""Imports libraries that cudacore doesn't depend on, and says what to install."""

from __future__ import annotations

import importlib
import re
from typing import Any

#: The oldest PyTorch that is tested. Older ones lack DLPack's C exchange API, and by the other
#: protocols, a kernel can't take a tensor that requires a gradient.
OLDEST = (2, 11)


def import_library(module: str, user: str, library: str, package: str) -> Any:
    """Import a library that cudacore doesn't depend on; say what to install if it is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name != root:
            raise
        raise ImportError(f"{user} needs {library}: pip install {package}", name=root) from None


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
