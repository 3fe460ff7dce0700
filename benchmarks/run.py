# SPDX-License-Identifier: Apache-2.0
"""Times cudacore, C and each installed peer in one run, and prints one table.

Each column is measured in a new process. The exit status is 1 if a row of cudacore fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from time import perf_counter

from columns import C_NAME, c_info, find_c_binary, merge_c, run_c, run_worker
from machine import describe_machine, wheel_nvrtc
from process_rows import COLD_SCRIPTS, cached_cells, cold_cells, import_cell
from specification import PEERS, PROCESS_ROWS, Row, chosen_rows
from table import Cell, Cells, duration, number, ratio, render

STARTED = perf_counter()
LEGEND = """\
Medians over batches, for one call; '/ C' is the ratio of medians. Every argument object is made
outside the timed loop: plain Python numbers for cudacore, typed NumPy scalars for cuda.core and
CuPy. CuPy and PyTorch allocate from pools of their own; PyTorch takes streams from a pool too."""


def say(text: str) -> None:
    """Report progress on stderr."""
    print(f"[{perf_counter() - STARTED:6.1f} s] {text}", file=sys.stderr, flush=True)


class Run:
    """One run: what was requested, and the results so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.quick: bool = options.quick
        self.rows = chosen_rows(options.rows, quick=options.quick)
        self.peers: list[str] = [peer for peer in PEERS if peer in options.peers]
        self.cells: Cells = {row.name: {} for row in self.rows}
        self.notes: list[str] = []
        self.failures: list[str] = []
        self.machine = describe_machine()
        self.c_command = self._c_command(options)

    def _c_command(self, options: argparse.Namespace) -> list[str] | None:
        if "c" not in options.peers:
            return None
        binary = find_c_binary(options.c_binary)
        if binary is None:
            self.notes.append(
                f"no C column: {C_NAME} not found; build it with -DCUDACORE_BENCHMARKS=ON and give "
                "--c-binary"
            )
            return None
        command = [str(binary.resolve())]
        nvrtc = options.nvrtc or wheel_nvrtc()
        if nvrtc:
            command.append(f"--nvrtc={nvrtc}")
        return command

    def timed_rows(self) -> list[Row]:
        """The rows that a worker times."""
        return [row for row in self.rows if row.name not in PROCESS_ROWS]

    def _c_rows(self) -> list[Row]:
        unique = {row.floor: row for row in self.timed_rows()}
        return [Row(name, row.title, row.batch, row.batches) for name, row in unique.items()]

    def measure(self) -> None:
        """Fill every cell."""
        before: dict[str, Cell] = {}
        if self.c_command is not None:
            self.machine |= c_info(self.c_command)
            say("C")
            before = run_c(self.c_command, self._c_rows())
        for peer in list(self.peers):
            say(peer)
            self._measure_peer(peer)
        if self.c_command is not None:
            say("C again")
            merged = merge_c(before, run_c(self.c_command, self._c_rows()))
            for row in self.timed_rows():
                if row.floor in merged:
                    self.cells[row.name]["c"] = merged[row.floor]
            self._note_drift(merged)
        self._measure_processes()
        self._note_errors()

    def _measure_peer(self, peer: str) -> None:
        cells, report = run_worker(peer, self.timed_rows())
        if "missing" in report:
            self.peers.remove(peer)
            self.notes.append(f"no {peer} column: {report['missing']}")
            if peer == "cudacore":
                self.failures.append("cudacore cannot be imported")
            return
        reason = report.get("error") or report.get("crash")
        if reason:
            for row in self.timed_rows():
                cells.setdefault(row.name, {"error": reason})
        for name, cell in cells.items():
            self.cells[name][peer] = cell
        if "loop_ns" in report:
            self.notes.append(
                f"{peer}: the bare loop costs {report['loop_ns']} ns a call, not subtracted"
            )
        if report.get("nvrtc"):
            self.notes.append(f"{peer}: NVRTC is {report['nvrtc']}")

    def _measure_processes(self) -> None:
        chosen = {row.name: row for row in self.rows}
        if "import" in chosen:
            for peer in self.peers:
                say(f"import {peer}")
                samples = chosen["import"].batches
                cell = import_cell(peer, samples, 2.5 if self.quick else 8)
                self.cells["import"][peer] = cell
        if "cold" in chosen:
            say("cold processes")
            peers = [peer for peer in self.peers if peer in COLD_SCRIPTS]
            self.cells["cold"] |= cold_cells(peers, self.c_command, chosen["cold"].batches)
        if "cached" in chosen and "cudacore" in self.peers:
            say("cached processes")
            self.cells["cached"] |= cached_cells(self.c_command, chosen["cached"].batches)

    def _note_drift(self, merged: dict[str, Cell]) -> None:
        drifts = {name: drift for name in merged if (drift := number(merged[name], "drift"))}
        if drifts:
            worst = max(drifts, key=lambda name: drifts[name])
            middle = sorted(drifts.values())[len(drifts) // 2]
            self.notes.append(
                "noise: C's medians before and after the others differ by "
                f"{100 * middle:.1f}% (the middle row), "
                f"{100 * drifts[worst]:.1f}% at most ({worst})"
            )
        plain, extended = merged.get("launch_4"), merged.get("launch_new_config")
        if plain and extended and "error" not in plain and "error" not in extended:
            self.notes.append(
                "C launches with cuLaunchKernel "
                f"({duration(number(plain, 'median_ns'))}); row 'new LaunchConfig' with "
                f"cuLaunchKernelEx ({duration(number(extended, 'median_ns'))})"
            )

    def _note_errors(self) -> None:
        seen: dict[tuple[str, str], list[str]] = {}
        for name, columns in self.cells.items():
            for column, cell in columns.items():
                if "error" in cell:
                    seen.setdefault((column, str(cell["error"])), []).append(name)
        for (column, error), names in seen.items():
            where = "every row" if len(names) >= len(self.timed_rows()) > 1 else ", ".join(names)
            self.notes.append(f"{column}: {where}: {error}")
            if column == "cudacore":
                self.failures.append(f"{where}: {error}")

    def header(self) -> str:
        """Return the description of the machine, one fact per line."""
        lines = []
        for key, value in self.machine.items():
            if isinstance(value, dict):
                lines.append(f"{key}: " + ", ".join(f"{k} {v}" for k, v in value.items()))
            else:
                lines.append(f"{key}: {value}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Return everything, with the ratios."""
        rows: dict[str, object] = {}
        for row in self.rows:
            columns = self.cells[row.name]
            floor = columns.get("c")
            out: dict[str, object] = {"title": row.title}
            for column, cell in columns.items():
                multiple = ratio(cell, floor)
                extra = {} if multiple is None or column == "c" else {"ratio": round(multiple, 4)}
                out[column] = cell | extra
            rows[row.name] = out
        return {
            "machine": self.machine,
            "quick": self.quick,
            "seconds": round(perf_counter() - STARTED, 1),
            "rows": rows,
            "notes": self.notes,
            "failures": self.failures,
        }


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the results there")
    parser.add_argument("--c-binary", type=Path, help=f"the built {C_NAME}")
    parser.add_argument("--nvrtc", default="", help="the NVRTC that C opens (default: the wheel's)")
    parser.add_argument("--rows", nargs="+", default=[], help="rows to run; shell patterns")
    columns = ["c", *PEERS]
    parser.add_argument(
        "--peers", nargs="+", choices=columns, default=columns, help="columns to run"
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the samples")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run, print, and return the exit status."""
    options = parse(arguments)
    # The peers compile as well, in each process.
    os.environ.setdefault("CUDACORE_CACHE", "0")
    try:
        run = Run(options)
    except ValueError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    run.measure()
    print(run.header())
    print()
    print(render(run.rows, run.peers, run.cells))
    print()
    print(LEGEND)
    for note in run.notes:
        print(f"- {note}")
    if options.json is not None:
        options.json.write_text(json.dumps(run.to_json(), indent=1) + "\n", encoding="utf-8")
        say(f"wrote {options.json}")
    for failure in run.failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
