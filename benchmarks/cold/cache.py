# SPDX-License-Identifier: Apache-2.0
"""Time a cached compilation in new processes, with few and with many entries in the cache.

python benchmarks/cold/cache.py [--entries 100000] [--runs 15]

The time is that of Program.compile() alone, in a process that has done nothing else. "warm" is the
second call in the same process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = {
    "simple kernel": "__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }",
    "cuda_fp16.h": "#include <cuda_fp16.h>\n__global__ void f(__half* p) { *p = __hadd(*p, *p); }",
    "cooperative groups": "#include <cooperative_groups.h>\n__global__ void f() {\n"
    "cooperative_groups::this_thread_block().sync(); }",
    "CUB's block sort": "#include <cub/block/block_radix_sort.cuh>\n"
    "__global__ void f(int* p) { int items[4] = {p[0], p[1], p[2], p[3]};\n"
    "cub::BlockRadixSort<int, 32, 4>().Sort(items); p[threadIdx.x] = items[0]; }",
}

COMPILE = """
import sys
from time import perf_counter
from cudacore import Program, ProgramOptions
program = Program(sys.argv[1], "c++", ProgramOptions(arch="sm_90"))
for _ in range(2):
    start = perf_counter()
    program.compile("cubin")
    print(perf_counter() - start)
"""


def measure(source: str, folder: Path) -> tuple[float, float]:
    """Compile in a new process, twice; return the seconds of both calls."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, source],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"CUDACORE_CACHE_DIR": str(folder), "CUDACORE_CACHE": "1"},
    )
    first, second = map(float, done.stdout.split())
    return first, second


def fill(folder: Path, entries: int) -> None:
    """Add entries that nothing asks for, with names like those of all others."""
    files = folder / "programs-1"
    for shard in range(256):
        (files / f"{shard:02x}").mkdir(mode=0o700, exist_ok=True)
    for number in range(entries):
        (files / f"{number % 256:02x}" / f"{number:062x}").write_bytes(b"x" * 100)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    print(f"{'':<20}{'entries':>8}{'compiled':>12}{'from cache':>12}{'warm':>12}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "cache"
        compiled = {name: measure(source, folder)[0] for name, source in SOURCES.items()}
        for entries in (0, options.entries):
            fill(folder, entries)
            for name, source in SOURCES.items():
                runs = [measure(source, folder) for _ in range(options.runs)]
                cold, warm = (statistics.median(times) for times in zip(*runs, strict=True))
                print(
                    f"{name:<20}{entries:>8}{compiled[name] * 1e3:>9.1f} ms"
                    f"{cold * 1e3:>9.2f} ms{warm * 1e3:>9.2f} ms"
                )


if __name__ == "__main__":
    main()
