# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that fill a column: the C program or a peer's worker, in separate processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from specification import to_text
from table import number, ratio

if TYPE_CHECKING:
    from specification import Row
    from table import Cell

HERE = Path(__file__).resolve().parent
WORKER_TIMEOUT_S = 180
C_NAME = "cudacore_bench_c"


def find_c_binary(given: Path | None) -> Path | None:
    """Return the C program: the given one, or from the environment, a build folder, or PATH."""
    if given is not None:
        return given
    from_environment = os.environ.get("CUDACORE_BENCH_C")
    if from_environment:
        return Path(from_environment)
    built = sorted(HERE.parent.glob(f"build*/**/{C_NAME}"), key=lambda path: path.stat().st_mtime)
    if built:
        return built[-1]
    found = shutil.which(C_NAME)
    return Path(found) if found else None


def run_c(command: list[str], rows: list[Row]) -> dict[str, Cell]:
    """Run the rows in the C program; every row gets a cell, which may only say why it failed."""
    text = to_text(rows)
    try:
        done = subprocess.run(
            [*command, f"--rows={text}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=WORKER_TIMEOUT_S,
        )
        cells: dict[str, Cell] = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {row.name: {"error": f"{type(error).__name__}: {error}"} for row in rows}
    except ValueError:
        reason = done.stderr.strip()[:300] or f"exit status {done.returncode}"
        return {row.name: {"error": f"CrashError: {reason}"} for row in rows}
    return cells


def c_info(command: list[str]) -> dict[str, str]:
    """Return what the C program reports about the driver and NVRTC; empty if it can't."""
    try:
        done = subprocess.run([*command, "--info"], capture_output=True, text=True, check=True)
        info = json.loads(done.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return {}
    return {f"c_{key}": str(value) for key, value in info.items()}


def run_worker(peer: str, rows: list[Row]) -> tuple[dict[str, Cell], dict[str, object]]:
    """Time a peer in a separate process; return its cells and what else it reported."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.jsonl"
        command = [sys.executable, str(HERE / "worker.py"), "--peer", peer]
        command += ["--rows", to_text(rows), "--out", str(out)]
        crash = ""
        try:
            done = subprocess.run(
                command,
                stdout=sys.stderr,
                check=False,
                timeout=WORKER_TIMEOUT_S,
                stdin=subprocess.DEVNULL,
            )
            if done.returncode != 0:
                crash = f"CrashError: the process ended with status {done.returncode}"
        except subprocess.TimeoutExpired:
            crash = f"TimeoutError: stopped after {WORKER_TIMEOUT_S} s"
        text = out.read_text(encoding="utf-8") if out.exists() else ""
    cells: dict[str, Cell] = {}
    report: dict[str, object] = {"crash": crash} if crash else {}
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if "row" in entry:
            cells[str(entry["row"])] = entry["result"]
        else:
            report |= entry
    return cells, report


def merge_c(before: dict[str, Cell], after: dict[str, Cell]) -> dict[str, Cell]:
    """Keep the run with the lower median for each row, and how far the other one was above it."""
    merged = {}
    for name, first in before.items():
        second = after.get(name, first)
        low, high = sorted(
            (first, second), key=lambda cell: number(cell, "median_ns") or float("inf")
        )
        cell = dict(low)
        drift = ratio(high, low)
        if drift is not None:
            cell["drift"] = round(drift - 1, 4)
        merged[name] = cell
    return merged
