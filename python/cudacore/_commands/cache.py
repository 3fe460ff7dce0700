# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore cache``: show or clear the program cache."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from cudacore import cache
from cudacore._commands import FAILED
from cudacore._doctor.cache_folder import look
from cudacore._text import count_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cudacore._doctor.facts import CacheFacts

EPILOG = """\
The environment chooses the cache: CUDACORE_CACHE=0 switches it off, CUDACORE_CACHE_DIR is its
folder, CUDACORE_CACHE_MAX_SIZE is what it may take on the disk, such as 4G.

Exit status: 0 if the cache can be used, is off, or was cleared; 1 if not; 2 wrong usage."""


def parser(prog: str) -> argparse.ArgumentParser:
    """Make the parser."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Show the cache of compiled programs, or clear it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("show", "clear"),
        default="show",
        help="what to do (default: show); clear removes all entries, of all processes",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def run(_parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Show or clear; return 1 if the cache can't be used."""
    if options.action == "clear":
        removed = cache.clear()
        text = f"removed {count_text(removed, 'entry', 'entries')}"
        print(json.dumps({"removed": removed}) if options.json else text)
        return 0
    found = look(check_entries=False)
    if options.json:
        print(json.dumps(_as_dict(found)))
    else:
        print(f"folder    {found.folder or 'none'}{'' if found.is_enabled else ' (switched off)'}")
        print(f"entries   {found.entries}")
        print(f"size      {size_text(found.size_bytes)} of {size_text(found.max_size_bytes)}")
        for title, text in _remarks(found):
            print(f"{title:<9} {text}")
    return FAILED if found.is_enabled and found.problem else 0


def _as_dict(found: CacheFacts) -> dict[str, Any]:
    return {
        "is_enabled": found.is_enabled,
        "folder": found.folder or None,
        "max_size": found.max_size_bytes,
        "problem": found.problem,
        "settings_problem": found.settings_problem,
        "is_writable": found.is_writable,
        "entries": found.entries,
        "size": found.size_bytes,
    }


def _remarks(found: CacheFacts) -> Iterator[tuple[str, str]]:
    if found.problem:
        yield "problem", found.problem
    elif not found.is_writable:
        yield "note", "it can be read, but nothing can be added to it"
    if found.settings_problem:
        yield "settings", found.settings_problem
    if found.keeps_nothing:
        yield "note", "it keeps nothing: its size is too small for any entry"
