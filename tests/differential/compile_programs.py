# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs whose stored PTX is missing or stale, with the installed NVRTC.

    python -m differential.compile_programs [--library libnvrtc.so] [--include FOLDER ...]

Run this from tests/. A GPU's driver must load the PTX, so use an NVRTC that is not newer than it.
"""

import argparse
import ctypes
import sys
from pathlib import Path

from . import program_archive


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential.compile_programs")
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("--folder", type=Path, default=program_archive.FOLDER)
    parser.add_argument("--library", default="", help="an NVRTC to use instead of the first found")
    parser.add_argument("--include", action="append", default=[], help="where its headers are")
    options = parser.parse_args()
    if options.library:
        ctypes.CDLL(options.library, ctypes.RTLD_GLOBAL)
    # Only now may an NVRTC be looked for.
    from .library_programs import modules
    from .program_runner import compile_module

    total = 0
    for module in modules():
        if options.module and module.name not in options.module:
            continue
        known = program_archive.load_ptx(module.name, options.folder)
        if known is None or known.digest != module.digest:
            compiled = compile_module(module, options.include)
            size = program_archive.save_ptx(module.name, compiled, options.folder)
            print(f"{module.name}: {len(compiled.ptx)} bytes of PTX, {size} kept")
            sys.stdout.flush()
        total += (options.folder / f"{module.name}.ptx.xz").stat().st_size
    names = {module.name for module in modules()}
    for path in options.folder.glob("*.xz"):
        if path.name.partition(".")[0] not in names:
            print(f"{path.name} is of no program")
    print(f"{total} bytes in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
