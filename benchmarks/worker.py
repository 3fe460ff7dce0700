# SPDX-License-Identifier: Apache-2.0
"""Times the rows of one peer in a separate process; writes one line of JSON for each.

Each row's line is written when the row is done, so that a crash only loses what comes after it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from harness import Case, measure
from specification import PEERS

if TYPE_CHECKING:
    from harness import Setup


def describe(error: BaseException) -> str:
    """Return the type and the first line of an exception."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def write(out: TextIO, **line: object) -> None:
    """Write one line of JSON."""
    out.write(json.dumps(line) + "\n")
    out.flush()


def loaded_nvrtc() -> str:
    """Return the path of the NVRTC in this process; empty if there is none."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    paths = {line.split(maxsplit=5)[-1] for line in maps.splitlines() if "/libnvrtc.so" in line}
    return ", ".join(sorted(paths))


def prepare(peer: str) -> dict[str, Setup]:
    """Return the peer's rows."""
    module = importlib.import_module(PEERS[peer][0])
    return dict(module.rows())


def run_peer(peer: str, rows: str, out: TextIO) -> None:
    """Time the rows, given as `name:batch:batches`, and write the result of each."""
    top_level = PEERS[peer][1]
    try:
        importlib.import_module(top_level)
    except ModuleNotFoundError as error:
        if error.name is not None and (top_level + ".").startswith(error.name + "."):
            write(out, missing=describe(error))
        else:
            write(out, error=describe(error))
        return
    except Exception as error:
        write(out, error=describe(error))
        return
    try:
        setups = prepare(peer)
    except Exception as error:
        write(out, error=describe(error))
        return
    write(out, loop_ns=measure(Case("pass"), 10_000, 50)["median_ns"])
    wanted = {name: counts for name, *counts in (item.split(":") for item in rows.split(","))}
    # In the peer's order: what imports another library comes last.
    for name in [name for name in setups if name in wanted]:
        batch, batches = map(int, wanted[name])
        try:
            write(out, row=name, result=measure(setups[name](), batch, batches))
        except Exception as error:
            write(out, row=name, result={"error": describe(error)})
    write(out, nvrtc=loaded_nvrtc())


def main() -> None:
    """Run from the command line; run.py does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as out:
        run_peer(options.peer, options.rows, out)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
