# SPDX-License-Identifier: Apache-2.0
"""Counts how many kernels of PTX files the simulated device loads.

    CUDACORE_DRIVER=simulator python tests/foreign/count_kernels.py FOLDER ...

counts the kernels in each folder, and prints why the others don't load. The files come from
`nvcc -ptx`; the device must support the architecture they are for
(CUDACORE_SIMULATOR_COMPUTE_CAPABILITY).
"""

import re
import sys
from collections import Counter
from pathlib import Path

from cudacore import CUDAError, Device, ObjectCode

_ENTRY = re.compile(r"^\s*(?:\.visible |\.weak )?\s*\.entry\s+([\w$%]+)", re.MULTILINE)


def _refusal(code: ObjectCode, name: str) -> str:
    """Return why a kernel doesn't load; empty if it does."""
    try:
        code.get_kernel(name)
    except CUDAError as error:
        return _why(error)
    return ""


def _why(error: CUDAError) -> str:
    said = re.search(r"line \d+, column \d+: (.*?)(?= in (?:kernel|function) '|$)", str(error))
    return said[1] if said else str(error).splitlines()[0]


def main() -> int:
    device = Device(0)
    device.set_current()
    reasons: Counter[tuple[str, str]] = Counter()
    for folder in sys.argv[1:]:
        modules = kernels = loaded = 0
        for path in sorted(Path(folder).rglob("*.ptx")):
            names = _ENTRY.findall(path.read_text())
            modules += bool(names)
            kernels += len(names)
            code = ObjectCode.from_ptx(path)
            why = [_refusal(code, name) for name in names]
            loaded += why.count("")
            reasons.update((folder, each) for each in why if each)
        share = f"{loaded / kernels:.1%}" if kernels else "-"
        print(f"{folder}: {modules} modules, {kernels} kernels, {loaded} load: {share}")
    for (folder, why), count in reasons.most_common():
        print(f"{count} of {folder}: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
