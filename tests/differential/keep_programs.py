# SPDX-License-Identifier: Apache-2.0
"""Makes golden data from the output of `record_programs`, using the simulated device.

    CUDACORE_DRIVER=simulator python -m differential.keep_programs FOLDER

Run this from tests/. Where both devices computed the same bits, only a checksum is stored.
"""

import argparse
import lzma
import pickle
import sys
from pathlib import Path

import cudacore

from . import program_archive
from .library_programs import modules
from .program_archive import KeptOutput, keep
from .program_runner import LoadedModule


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential.keep_programs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--golden", type=Path, default=program_archive.FOLDER)
    options = parser.parse_args()
    device = cudacore.Device(0)
    device.set_current()
    total = 0
    for module in modules():
        path = options.folder / f"{module.name}.raw.xz"
        compiled = program_archive.load_ptx(module.name, options.golden)
        if not path.exists() or compiled is None:
            print(f"{module.name} was not recorded")
            continue
        _, recorded = pickle.loads(lzma.decompress(path.read_bytes()))
        loaded = LoadedModule(device, compiled)
        results: dict[str, KeptOutput] = {}
        for run in module.runs:
            digest, output = recorded.get(run.name, (0, b""))
            if digest != run.digest:
                print(f"{module.name}: {run.name} was not recorded")
                continue
            results[run.name] = keep(digest, output, loaded.run(run))
        size = program_archive.save_results(module.name, results, options.golden)
        raw = sum(len(part) for kept in results.values() for part in kept.parts.values())
        print(f"{module.name}: {len(results)} results, {size} bytes, {raw} of them not alike")
        total += size
    print(f"{total} bytes in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
