# SPDX-License-Identifier: Apache-2.0
"""The simulated device's speed, in one table: kernels, products of matrices, launches, and more.

    python benchmarks/simulated/report.py [--numba PYTHON] [--json PATH]

Needs cudacore and NVRTC; no GPU. Exit status 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CORES = len(os.sched_getaffinity(0))
#: Billions of thread instructions per second that a core with AVX2 must reach.
WANTED = {"saxpy": 1.0, "matmul_16": 1.0, "mandelbrot": 3.0}


def measure(what: str, **variables: str) -> dict[str, Any]:
    """Run measure.py in a separate process."""
    named = {f"CUDACORE_SIMULATOR_{name.upper()}": value for name, value in variables.items()}
    result = subprocess.run(
        [sys.executable, str(HERE / "measure.py"), what],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "CUDACORE_DRIVER": "simulator", **named},
    )
    return dict(json.loads(result.stdout))


def numba(python: str) -> dict[str, Any] | None:
    """Run numba's simulator; return None if it is not installed."""
    result = subprocess.run(
        [python, str(HERE / "numba_simulator.py")],
        check=False,
        capture_output=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    if result.returncode:
        print(result.stderr.decode(), file=sys.stderr)
        return None
    return dict(json.loads(result.stdout))


def isas() -> list[str]:
    """Return the instruction sets that this processor has, with the simulator's names."""
    if platform.machine() != "x86_64":
        return ["baseline"]
    flags = Path("/proc/cpuinfo").read_text()
    return ["baseline", *(["avx2"] if " avx2" in flags else []),
            *(["avx512"] if " avx512vl" in flags else [])]  # fmt: skip


def better(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """Return the best times of two measurements of a kernel."""
    times = {key: min(a[key], b[key]) for key in ("seconds", "processor_seconds")}
    return {**a, **times, "right": a["right"] and b["right"]}


def measure_settings() -> dict[str, dict[str, Any]]:
    """Measure all kernels in each setting twice, so that a disturbance doesn't affect just one."""
    settings = [(isa, 1) for isa in isas()]
    for cores in sorted({2, CORES} - {1}):
        if cores <= CORES:
            settings += [(isa, cores) for isa in isas()[1:] or isas()]
    rows: dict[str, dict[str, Any]] = {}
    for isa, cores in 2 * settings:
        name = f"{isa}, {cores} core{'s' if cores > 1 else ''}"
        row = measure("kernels", isa=isa, threads=str(cores))
        before = rows.get(name, row)
        rows[name] = {kernel: better(row[kernel], before[kernel]) for kernel in row}
    return rows


def print_rates(
    title: str, rows: dict[str, dict[str, Any]], counts: dict[str, Any], clock: str
) -> None:
    """Print thread instructions per second, by kernel and setting."""
    print(title)
    for name, row in rows.items():
        rates = (counts[kernel]["instructions"] / row[kernel][clock] / 1e9 for kernel in counts)
        print(f"  {name:<26}" + "".join(f"{rate:>12.2f}" for rate in rates))


def print_kernels(rows: dict[str, dict[str, Any]], counts: dict[str, Any]) -> None:
    """Print what kernels reach, and what a second core adds."""
    print(" " * 28 + "".join(f"{name:>12}" for name in counts))
    wanted = "".join(f"{WANTED.get(name, ''):>12}" for name in counts)
    print("at least, avx2 on one core".ljust(28) + wanted)
    millions = (count["instructions"] / 1e6 for count in counts.values())
    print("M thread instructions".ljust(28) + "".join(f"{million:>12.0f}" for million in millions))
    title = "G thread instructions a second"
    one_core = {name: row for name, row in rows.items() if name.endswith("1 core")}
    print_rates(f"{title} of processor time", one_core, counts, "processor_seconds")
    print_rates(f"{title}, by the clock", rows, counts, "seconds")
    for name, row in rows.items():
        if name in one_core:
            continue
        one = rows[f"{name.split(',')[0]}, 1 core"]
        gains = (one[kernel]["seconds"] / row[kernel]["seconds"] for kernel in counts)
        print(f"{name} to 1, by the clock".ljust(28) + "".join(f"{gain:>12.2f}" for gain in gains))


def print_products(rows: dict[str, dict[str, Any]]) -> None:
    """Print multiply-adds of the matrix instructions on one core."""
    names = list(next(iter(rows.values())))
    print("\nG multiply-adds a second of processor time, on one core (at least 2)")
    print(" " * 12 + "".join(f"{name:>21}" for name in names))
    for isa, row in rows.items():
        rates = (
            row[name]["multiply_adds"] / row[name]["processor_seconds"] / 1e9 for name in names
        )
        print(f"  {isa:<10}" + "".join(f"{rate:>21.2f}" for rate in rates))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numba", default=sys.executable, help="a Python that has numba")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    print(f"{platform.processor() or platform.machine()}, {CORES} cores, {platform.platform()}\n")
    counts = measure("kernels", count="1", threads="1")
    rows = measure_settings()
    print_kernels(rows, counts)

    products = {isa: measure("products", isa=isa, threads="1") for isa in isas()}
    print_products(products)

    others = measure("others")
    launch, load = others["launch_us"], others["load_mb_s"]
    print(f"\nlaunch of an empty kernel: {launch:.2f} us (at most 5)")
    print(f"loading PTX: {load:.0f} MB/s (at least 20)")
    growth = ", ".join(f"{count:.0e} {ns:.2f}" for count, ns in others["growth"])
    print(f"ns for each thread of ever more: {growth}")
    live = ", ".join(f"{count} {ns:.0f}" for count, ns in others["live"])
    print(f"ns for a checked load through a pointer to any of so many allocations: {live}")

    peer = numba(arguments.numba)
    if peer is None:
        print("numba: not installed; pip install numba, or --numba PYTHON")
    else:
        for name in ("matmul", "reduce"):
            seconds, ours = peer[name]["seconds"], others[f"small_{name}"]["seconds"]
            print(
                f"{name}: numba's simulator {1e3 * seconds:.0f} ms, this one {1e3 * ours:.3f} ms: "
                f"{seconds / ours:.0f} times as fast (at least 2000)"
            )
    if arguments.json:
        everything = {
            "counts": counts,
            "rows": rows,
            "products": products,
            "others": others,
            "numba": peer,
        }
        arguments.json.write_text(json.dumps(everything, indent=1) + "\n")
    every = [*counts.values(), others["small_matmul"], others["small_reduce"]]
    for row in (*rows.values(), *products.values()):
        every += row.values()
    wrong = [cell for cell in every if not cell["right"]]
    if wrong:
        print(f"{len(wrong)} results are wrong", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
