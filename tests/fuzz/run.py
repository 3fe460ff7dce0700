# SPDX-License-Identifier: Apache-2.0
"""Let each fuzzer of a build look for inputs that crash the code that reads them.

python tests/fuzz/run.py BUILD [--seconds 30] [--jobs 2] [--keep FOLDER] [NAME ...]

An input that causes a crash is written to FOLDER. After the fix, add it to tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "differential" / "golden" / "programs_ptx.xz"
SEEDED_WITH_PROGRAMS = {"ptx", "ptx_kernels"}
LIMITS = ["-timeout=20", "-rss_limit_mb=4096", "-max_len=65536", "-print_final_stats=1"]


def write_programs(folder: Path) -> None:
    """Write the differential tests' programs, one file each."""
    folder.mkdir()
    with lzma.open(GOLDEN, "rt") as file:
        for i, (_, ptx, *_) in enumerate(json.load(file)):
            (folder / f"{i:04}").write_text(ptx)


def run(fuzzer: Path, seconds: int, programs: Path, keep: Path) -> tuple[str, bool]:
    """Fuzz for that long; return what to print, and whether nothing crashed."""
    name = fuzzer.name.removeprefix("fuzz_")
    with tempfile.TemporaryDirectory() as found:
        seeds = [str(HERE / "corpus" / name)]
        if name in SEEDED_WITH_PROGRAMS:
            seeds.append(str(programs))
        dictionary = HERE / f"{name}.dict"
        arguments = [f"-dict={dictionary}"] if dictionary.exists() else []
        done = subprocess.run(
            [
                str(fuzzer),
                f"-max_total_time={seconds}",
                f"-artifact_prefix={keep}/{name}-",
                *LIMITS,
                *arguments,
                found,
                *seeds,
            ],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            # If a sanitizer would refuse an allocation, operator new refuses it as well.
            env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"},
        )
    runs = [line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed" in line]
    if done.returncode == 0 and runs:
        return f"{name}: {runs[0]} inputs, no crash", True
    return f"{name}: FAILED\n{done.stderr[-6000:]}", False


def main() -> int:
    """Run the fuzzers of a build side by side; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=Path.cwd())
    options = parser.parse_args()
    fuzzers = sorted((options.build / "tests" / "fuzz").glob("fuzz_*[!.]"))
    fuzzers = [file for file in fuzzers if file.is_file() and os.access(file, os.X_OK)]
    if options.names:
        fuzzers = [file for file in fuzzers if file.name.removeprefix("fuzz_") in options.names]
    if not fuzzers:
        sys.exit(f"{options.build} holds no fuzzers: configure with -DCUDACORE_FUZZERS=ON")
    scratch = Path(tempfile.mkdtemp())
    try:
        write_programs(scratch / "programs")
        with ThreadPoolExecutor(options.jobs) as pool:
            results = list(
                pool.map(
                    lambda fuzzer: run(
                        fuzzer, options.seconds, scratch / "programs", options.keep.resolve()
                    ),
                    fuzzers,
                )
            )
    finally:
        shutil.rmtree(scratch)
    for text, _ in results:
        print(text)
    return 0 if all(passed for _, passed in results) else 1


if __name__ == "__main__":
    sys.exit(main())
