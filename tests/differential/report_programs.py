# SPDX-License-Identifier: Apache-2.0
"""Prints which programs were run, and how well the current device agrees with the recorded GPU.

python -m differential.report_programs
"""

import sys

import cudacore

from . import program_archive
from .compare import Agreement
from .library_programs import modules
from .program_check import against_gpu
from .program_runner import LoadedModule
from .program_runs import Module
from .report_table import print_head, print_row


def main() -> int:
    device = cudacore.Device(0)
    device.set_current()
    print_head("programs", "runs")
    differing: list[str] = []
    for module in modules():
        _row(device, module, differing)
    if differing:
        print()
        print("Not the same bits everywhere (results, of how many; most ulps):")
        print()
        for line in differing:
            print(f"- {line}")
    return 0


def _row(device: cudacore.Device, module: Module, differing: list[str]) -> None:
    compiled = program_archive.load_ptx(module.name)
    known = program_archive.load_results(module.name)
    if compiled is None:
        return
    loaded = LoadedModule(device, compiled)
    total = Agreement()
    bad = 0
    runs = [run for run in module.runs if run.name in known]
    for run in runs:
        try:
            agreement = against_gpu(run, known[run.name], loaded.run(run))
        except cudacore.CUDAError as error:
            agreement = Agreement(wrong=" ".join(str(error).split())[:200])
        total.add(agreement)
        if agreement.wrong:
            bad += 1
            print(f"{module.name}: {run.name}: {agreement.wrong}", file=sys.stderr)
        elif agreement.within:
            differing.append(
                f"{module.name}: `{run.name}`: {agreement.within} of {agreement.values}; "
                f"{agreement.most_ulps}"
            )
    subject = module.subject or module.name
    print_row(subject, len(module.kernels), len(runs), total, bad)


if __name__ == "__main__":
    sys.exit(main())
