# SPDX-License-Identifier: Apache-2.0
"""CUDA's libraries compute what they do on an H200: tests/differential/programs says which."""

import sys
from pathlib import Path

import pytest
from cudacore import Device

sys.path.insert(0, str(Path(__file__).parents[1]))

from differential import program_archive
from differential.library_programs import modules
from differential.program_check import against_gpu, wrong_by_reference
from differential.program_runner import LoadedModule
from differential.program_runs import Module


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_module(device: Device, module: Module) -> None:
    device.set_current()
    compiled = program_archive.load_ptx(module.name)
    assert compiled is not None, "run `python -m differential.compile_programs`"
    assert compiled.digest == module.digest, "its PTX is stale: compile and record it again"
    known = program_archive.load_results(module.name)
    missing = [
        run.name
        for run in module.runs
        if run.name not in known or known[run.name].digest != run.digest
    ]
    assert not missing, "run `python -m differential.record_programs` on a GPU"
    loaded = LoadedModule(device, compiled)
    wrong = []
    for run in module.runs:
        output = loaded.run(run)
        found = against_gpu(run, known[run.name], output).wrong or wrong_by_reference(run, output)
        if found:
            wrong.append(f"{run.name}: {found}")
    assert not wrong, "\n".join(wrong[:20])
