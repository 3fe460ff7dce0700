# SPDX-License-Identifier: Apache-2.0
"""The rows that time whole processes: import, and a cold process up to its first result."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns

from specification import PEERS

HERE = Path(__file__).resolve().parent
COLD_SCRIPTS = {
    "cudacore": "saxpy_cudacore.py",
    "cuda.core": "saxpy_cuda_core.py",
    "cupy": "saxpy_cupy.py",
}
TIMEOUT_S = 120


class ProcessError(Exception):
    """A process that failed, with the last line it wrote to stderr."""


def wall_ns(command: list[str], environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run a command; return its wall time in nanoseconds and its output.

    Raises
    ------
    ProcessError
        If it fails or takes longer than TIMEOUT_S.
    """
    start = perf_counter_ns()
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProcessError(f"{type(error).__name__}: {error}") from error
    elapsed = perf_counter_ns() - start
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise ProcessError(lines[-1][:300])
    return elapsed, done.stdout


def require(output: str, expected: str) -> None:
    """Raise ProcessError if a process printed something else."""
    if output.strip() != expected:
        raise ProcessError(f"wrong result: printed {output.strip()[:80]!r}")


def cold_wall_ns(command: list[str]) -> int:
    """Run a saxpy with all caches on disk empty; return its wall time in nanoseconds.

    Raises
    ------
    ProcessError
        If it fails, or prints a wrong result.
    """
    with tempfile.TemporaryDirectory() as cache:
        variables = ("CUPY_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME")
        elapsed, output = wall_ns(command, os.environ | dict.fromkeys(variables, cache))
    require(output, "3.0 3.0")
    return elapsed


def cached_cells(c_command: list[str] | None, samples: int) -> dict[str, dict[str, object]]:
    """Time new processes that run a kernel with cooperative groups: from cudacore's cache, and in C
    from a cubin in a file."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = str(Path(folder, "sum.cubin"))
        environment = os.environ | {"CUDACORE_CACHE": "1", "CUDACORE_CACHE_DIR": folder}
        script = [sys.executable, str(HERE / "cold" / "groups_cudacore.py")]
        commands = {"cudacore": script}
        if c_command is not None:
            commands["c"] = [*c_command, f"--cubin={cubin}"]
        walls: dict[str, list[float]] = {name: [] for name in commands}
        try:
            wall_ns([*script, cubin], environment)
            for _ in range(samples):
                for name, command in commands.items():
                    elapsed, output = wall_ns(command, environment)
                    require(output, str(sum(range(32))))
                    walls[name].append(elapsed)
        except ProcessError as error:
            return {name: {"error": str(error)} for name in commands}
    return {name: summary(wall) for name, wall in walls.items()}


def summary(samples: list[float]) -> dict[str, object]:
    """Return a row's cell."""
    return {
        "median_ns": round(median(samples), 1),
        "min_ns": round(min(samples), 1),
        "n": len(samples),
        "batch": 1,
    }


def import_cell(peer: str, samples: int, budget_s: float) -> dict[str, object]:
    """Time `import` in new interpreters, alternating with bare ones; return the difference.

    Stops after `budget_s` seconds, so that a slow import means fewer samples, not more time.
    """
    bare: list[float] = []
    full: list[float] = []
    statement = f"import {PEERS[peer][1]}"
    stop = perf_counter() + budget_s
    try:
        wall_ns([sys.executable, "-c", statement])
        while len(full) < samples and (not full or perf_counter() < stop):
            bare.append(wall_ns([sys.executable, "-c", "pass"])[0])
            full.append(wall_ns([sys.executable, "-c", statement])[0])
    except ProcessError as error:
        return {"error": str(error)}
    cell = summary(full)
    cell["median_ns"] = round(median(full) - median(bare), 1)
    cell["min_ns"] = round(min(full) - min(bare), 1)
    cell["bare_median_ns"] = round(median(bare), 1)
    cell["statement"] = statement
    return cell


def cold_cells(
    peers: list[str], c_command: list[str] | None, samples: int
) -> dict[str, dict[str, object]]:
    """Time new processes that compile and run saxpy, each column in turn."""
    commands = {
        peer: [sys.executable, str(HERE / "cold" / COLD_SCRIPTS[peer])]
        for peer in peers
        if peer in COLD_SCRIPTS
    }
    if c_command is not None:
        commands["c"] = [*c_command, "--cold"]
    walls: dict[str, list[float]] = {name: [] for name in commands}
    cells: dict[str, dict[str, object]] = {}
    for _ in range(samples):
        for name, command in commands.items():
            if name in cells:
                continue
            try:
                walls[name].append(cold_wall_ns(command))
            except ProcessError as error:
                cells[name] = {"error": str(error)}
    return cells | {name: summary(wall) for name, wall in walls.items() if name not in cells}
