# SPDX-License-Identifier: Apache-2.0
"""Looks at the program cache on disk."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from cudacore import _core, cache
from cudacore._doctor.facts import CacheFacts

if TYPE_CHECKING:
    from pathlib import Path

#: How many entries are checked, and how many bytes: enough to notice a failing disk, within 0.3 s.
CHECKED_ENTRIES = 100
CHECKED_BYTES = 50 * 2**20


def look(*, check_entries: bool) -> CacheFacts:
    """Find out where the cache is, what is in it, and whether it can be used.

    Parameters
    ----------
    check_entries : bool
        Whether to read the entries that were used last.
    """
    usage, info = cache.usage(), cache.info()
    problem, obstacle = info.problem, ""
    if info.folder is not None and not problem:
        obstacle = _obstacle(info.folder)
        if obstacle and not info.folder.exists():
            problem = f"{info.folder} cannot be made: {obstacle}"
    checked, damaged = 0, list[str]()
    if check_entries:
        checked, damaged = _core.cache_check(CHECKED_ENTRIES, CHECKED_BYTES)
    return CacheFacts(
        folder=str(info.folder or ""),
        is_enabled=info.is_enabled,
        is_writable=not obstacle,
        entries=usage.entries,
        size_bytes=usage.size,
        max_size_bytes=info.max_size,
        problem=problem,
        settings_problem=info.settings_problem,
        checked=checked,
        damaged=tuple(damaged),
    )


def _obstacle(folder: Path) -> str:
    """Return why nothing can be added to a folder, which need not exist yet; or nothing.

    Tries it: permissions alone don't tell, least of all root's.
    """
    place = str(folder)
    while not os.path.exists(place) and os.path.dirname(place) != place:  # noqa: PTH110, PTH120
        place = os.path.dirname(place)  # noqa: PTH120
    try:
        with tempfile.TemporaryDirectory(prefix=".cudacore-", dir=place):
            return ""
    except OSError as error:
        return error.strerror or str(error)
