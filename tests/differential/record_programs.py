# SPDX-License-Identifier: Apache-2.0
"""Runs the stored PTX of the programs on a GPU and writes the results.

    python -m differential.record_programs FOLDER [--module NAME ...]

Run this from tests/. `keep_programs` makes golden data from the results. Each module runs in a
separate process; if one doesn't load, fails or hangs, it is reported, and the others continue.
"""

import argparse
import lzma
import pickle
import subprocess
import sys
import time
from pathlib import Path

import cudacore

from . import program_archive
from .library_programs import modules
from .program_runner import LoadedModule

#: How many seconds a module may take.
_PATIENCE = 60.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential.record_programs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("--ptx", type=Path, default=program_archive.FOLDER, help="where the PTX is")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.worker:
        return _work(options.module[0], options.ptx, options.folder)
    device = cudacore.Device(0)
    print(f"on {device.name}, driver {cudacore.system.get_user_mode_driver_version()}")
    failed = 0
    for module in modules():
        if options.module and module.name not in options.module:
            continue
        start = time.monotonic()
        command = [
            sys.executable, "-m", "differential.record_programs", str(options.folder), "--worker",
            "--module", module.name, "--ptx", str(options.ptx),
        ]  # fmt: skip
        try:
            code = subprocess.run(command, check=False, timeout=_PATIENCE).returncode
        except subprocess.TimeoutExpired:
            print(f"{module.name}: hangs")
            code = 1
        failed += code != 0
        print(f"{module.name}: {len(module.runs)} runs, {time.monotonic() - start:.1f} s")
        sys.stdout.flush()
    print(f"{failed} modules with problems")
    return 1 if failed else 0


def _work(name: str, ptx: Path, folder: Path) -> int:
    module = next(module for module in modules() if module.name == name)
    compiled = program_archive.load_ptx(name, ptx)
    if compiled is None or compiled.digest != module.digest:
        print(f"{name}: its PTX is missing or stale: run `python -m differential.compile_programs`")
        return 1
    device = cudacore.Device(0)
    device.set_current()
    problems = 0
    results: dict[str, tuple[int, bytes]] = {}
    loaded = LoadedModule(device, compiled)
    for run in module.runs:
        try:
            results[run.name] = (run.digest, loaded.run(run))
        except cudacore.CUDAError as error:  # Reported, and the others continue.
            problems += 1
            print(f"{name}: {run.name}: {' '.join(str(error).split())[:400]}")
            if device.context.is_lost:
                break
    raw = pickle.dumps((device.name, results))
    (folder / f"{name}.raw.xz").write_bytes(lzma.compress(raw, preset=3))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
