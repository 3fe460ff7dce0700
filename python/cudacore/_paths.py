# SPDX-License-Identifier: Apache-2.0
"""Where NVIDIA's wheels may be, and where folders are that a user names.

The wheels have NVRTC, nvJitLink and CUDA's headers.
"""

# Importing pathlib would take longer than the whole search.
# ruff: noqa: PTH100, PTH111, PTH112, PTH118, PTH120

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


def user_folder(folder: "str | os.PathLike[str]", user: str) -> str:
    """Return the path of a folder that a user names, with ``~`` as shells read it.

    Raises
    ------
    ValueError
        The path is empty, or begins with ``~`` and something that is no user's name.
    """
    given = os.fsdecode(folder)
    if not given:
        raise ValueError(f"{user}: the folder's path is empty")
    path = os.path.expanduser(given)
    if path.startswith("~"):
        raise ValueError(
            f"{user}: there is no such user: {given!r}; write './{given}' for a folder"
        )
    return path
