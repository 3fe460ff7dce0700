# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore cache``: show or clear the program cache."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from cudacore import cache
from cudacore._commands import FAILED
from cudacore._text import size_text

EPILOG = """\
The environment chooses the cache: CUDACORE_CACHE=0 switches it off, CUDACORE_CACHE_DIR is its
folder, CUDACORE_CACHE_MAX_SIZE is what it may take on the disk, such as 4G.

Exit status: 0 if the cache can be used, or was cleared; 1 if not; 2 wrong usage."""


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
        entries = "entry" if removed == 1 else "entries"
        print(json.dumps({"removed": removed}) if options.json else f"removed {removed} {entries}")
        return 0
    info = cache.info()
    usage = cache.usage()
    if options.json:
        found = {
            "is_enabled": info.is_enabled,
            "folder": str(info.folder) if info.folder else None,
            "max_size": info.max_size,
            "problem": info.problem,
            **asdict(usage),
        }
        print(json.dumps(found))
    else:
        print(f"folder    {info.folder or 'none'}{'' if info.is_enabled else ' (switched off)'}")
        print(f"entries   {usage.entries}")
        print(f"size      {size_text(usage.size)} of {size_text(info.max_size)}")
        if info.problem:
            print(f"problem   {info.problem}")
    return FAILED if info.problem else 0
