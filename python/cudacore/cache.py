# SPDX-License-Identifier: Apache-2.0
"""The program cache: what Program and Linker have made, kept on disk for later processes.

An entry is found by a SHA-256 over everything that the result depends on, headers included, so it
is never out of date. A cache that can't be used is passed over: what needs it is compiled, and
`info` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cudacore import _core
from cudacore._integers import to_int
from cudacore._user_folder import user_folder

if TYPE_CHECKING:
    import os

__all__ = [
    "Info",
    "Usage",
    "clear",
    "disable",
    "enable",
    "info",
    "set_folder",
    "set_max_size",
    "usage",
]


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class Info:
    """The cache's settings, and what this process has asked of it so far.

    Attributes
    ----------
    is_enabled : bool
        Whether programs use the cache by default.
    folder : Path or None
        Where it is; None if no folder is known.
    max_size : int
        How many bytes its entries may take.
    hits : int
        Compilations and links whose result was there.
    misses : int
        Those whose result was not.
    stored : int
        Entries written.
    uncacheable : int
        Compilations and links whose result depends on more than the cache can know.
    failures : int
        Entries that could not be read or written, or were damaged.
    problem : str
        What is wrong with the folder, or was at last; empty if nothing is.
    settings_problem : str
        Which of the environment variables can't be understood, and what is done instead; empty if
        none.
    uncacheable_reason : str
        Why the last uncacheable one was so; empty if there was none.
    """

    is_enabled: bool
    folder: Path | None
    max_size: int
    hits: int
    misses: int
    stored: int
    uncacheable: int
    failures: int
    problem: str
    settings_problem: str
    uncacheable_reason: str


@dataclass(frozen=True)
class Usage:
    """What lies in the cache's folder.

    Attributes
    ----------
    entries : int
        How many entries.
    size : int
        What they take on the disk, in bytes.
    """

    entries: int
    size: int


def info() -> Info:
    """Return the settings and the counts of this process.

    Returns
    -------
    Info

    Examples
    --------
    >>> before = cudacore.cache.info()
    >>> program = cudacore.Program("__global__ void noop() {}", "c++", {"arch": "sm_90"})
    >>> code = program.compile("cubin")
    >>> after = cudacore.cache.info()
    >>> (after.hits + after.misses) - (before.hits + before.misses)
    1
    """
    found = _core.cache_info()
    return Info(found[0], Path(found[1]) if found[1] else None, *found[2:])


def usage() -> Usage:
    """Look at all entries in the folder, and return how many there are and how large they are.

    Returns
    -------
    Usage
        Nothing, if the folder doesn't exist or can't be used.
    """
    return Usage(*_core.cache_usage())


def clear() -> int:
    """Remove all entries, also those of other processes, which then compile again.

    Returns
    -------
    int
        How many there were.

    Raises
    ------
    CUDAError
        The folder can't be used, or an entry can't be removed.
    """
    return _core.cache_clear()


def enable() -> None:
    """Use the cache from now on, in this process."""
    _core.cache_enable(True)


def disable() -> None:
    """Compile everything from now on, in this process.

    The environment variable ``CUDACORE_CACHE=0`` does the same from the start.
    ``Program.compile(cache=False)`` leaves the cache out once.
    """
    _core.cache_enable(False)


def set_folder(folder: str | os.PathLike[str]) -> None:
    """Choose the folder, for this process; entries of earlier folders stay there.

    Parameters
    ----------
    folder : str or os.PathLike
        ``~`` is the user's home. The folder is made when the first entry is written. It must belong
        to this user, and nobody else may be able to write to it.

    Raises
    ------
    ValueError
        The path is empty, or begins with ``~`` and something that is not a user's name.
    """
    _core.cache_set_folder(user_folder(folder, "cache.set_folder"))


def set_max_size(size: int) -> None:
    """Choose how much the entries may take on the disk, as far as this process writes them.

    Parameters
    ----------
    size : int
        In bytes. When an entry is written and all together are larger, the least recently used
        ones are removed.

    Raises
    ------
    TypeError
        `size` is not an int.
    ValueError, OverflowError
        It is negative, or too large for 64 bits.
    """
    _core.cache_set_max_size(to_int(size, "cache.set_max_size: size", least=0))
