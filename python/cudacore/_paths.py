# SPDX-License-Identifier: Apache-2.0
"""Where NVIDIA's wheels may be, which have NVRTC, nvJitLink and CUDA's headers."""

# Importing pathlib would take longer than the whole search.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

import os
import sys


def wheel_roots() -> list[str]:
    """Return the folders that contain a folder ``nvidia``, as NVIDIA's wheels create it.

    Returns
    -------
    list of str
        Absolute paths, without duplicates: those of ``sys.path``, in that order, then the folder
        that cudacore itself is installed in.

    Examples
    --------
    >>> from cudacore._paths import wheel_roots
    >>> all(isinstance(root, str) for root in wheel_roots())
    True
    """
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # For an empty entry, Python searches the current folder.
    candidates = [os.path.abspath(entry or os.curdir) for entry in sys.path]
    roots = dict.fromkeys([*candidates, here])
    return [root for root in roots if os.path.isdir(os.path.join(root, "nvidia"))]
