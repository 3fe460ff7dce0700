# SPDX-License-Identifier: Apache-2.0
"""Where NVIDIA's wheels may lie, for the search for NVRTC, nvJitLink and CUDA's headers."""

# pathlib would take longer to import than the whole search.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

import os
import sys


def wheel_roots() -> list[str]:
    """Folders that hold a folder ``nvidia``, as NVIDIA's wheels make it.

    Returns
    -------
    list of str
        Absolute paths in the order of ``sys.path``, then the folder that cudacore itself is
        installed in; each once.

    Examples
    --------
    >>> from cudacore._paths import wheel_roots
    >>> all(isinstance(root, str) for root in wheel_roots())
    True
    """
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # Python looks in the current folder for an empty entry.
    candidates = [os.path.abspath(entry or os.curdir) for entry in sys.path]
    roots = dict.fromkeys([*candidates, here])
    return [root for root in roots if os.path.isdir(os.path.join(root, "nvidia"))]
