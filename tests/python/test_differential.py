# SPDX-License-Identifier: Apache-2.0
"""Every instruction form computes what an H200 computed: tests/differential says how."""

import math
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cudacore import CUDAError, Device

sys.path.insert(0, str(Path(__file__).parents[1]))

from differential import golden
from differential.compare import compare
from differential.corpus import GROUPS, Corpus, make, newer_kernels
from differential.forms import forms
from differential.items import DIALECTS, Dialect, Item, Output
from differential.known import why_different
from differential.programs import Program, programs
from differential.runner import Runner
from differential.values import pack, values


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make(forms())


@pytest.fixture(scope="module")
def runner(device: Device) -> Iterator[Runner]:
    device.set_current()
    with Runner(device) as runner:
        yield runner


def test_every_form_is_covered_or_says_why_not(corpus: Corpus) -> None:
    assert not corpus.unknown
    assert sorted(corpus.families) == list(GROUPS)
    recorded = {family: golden.load(family) for family in corpus.families}
    missing = [item.name for item in corpus.items if item.name not in recorded[item.group]]
    stale = [
        item.name
        for item in corpus.items
        if item.name not in missing and recorded[item.group][item.name].digest != item.digest
    ]
    assert not missing + stale, (
        f"{len(missing)} not recorded, as {missing[:3]}, {len(stale)} stale, as {stale[:3]}: run"
        " `python -m differential.record` on a GPU"
    )


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("family", GROUPS)
def test_family(
    device: Device, runner: Runner, corpus: Corpus, family: str, dialect: Dialect
) -> None:
    expected = golden.load(family)
    wrong = []
    for kernel in corpus.kernels(family):
        try:
            outputs = runner.run(kernel, dialect)
        except CUDAError as error:
            wrong.append(f"{kernel.name}: {error}")
            if device.context.is_lost:
                break
            continue
        for item in kernel.items:
            result = expected.get(item.name)
            if result is None or result.digest != item.digest:
                continue  # The test above tells.
            found = compare(item, result.output, outputs[item.name]).wrong
            if found and not why_different(item.name):
                wrong.append(f"{item.name}: {found}")
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.simulator_only(reason="no sm_90 GPU has these forms")
def test_forms_of_newer_gpus_run(runner: Runner, corpus: Corpus) -> None:
    """Nothing says what they compute but PTX; that they load and compute something is checked."""
    outputs: dict[str, bytes] = {}
    for kernel in newer_kernels(corpus):
        outputs.update(runner.run(kernel, "typed"))
    pairs = [item for item in outputs if item.split()[0].endswith(".f32x2")]
    assert len(pairs) > 30
    assert all(any(outputs[item]) for item in pairs)


def test_sorted_results_compare_in_any_order() -> None:
    item = Item("counts", [], "", [Output(0, 4, 3, "sorted")], 3)
    given = [pack("u32", numbers) for numbers in ([1, 256, 3], [3, 1, 256], [3, 1, 255])]
    assert not compare(item, given[0], given[1]).wrong
    assert compare(item, given[0], given[2]).wrong


def test_sines_compare_as_far_as_ptx_bounds_them() -> None:
    lanes = 256
    item = Item("sines", [], "", [Output(0, 4, lanes, "sine.0")], lanes)
    packed = pack("f32", values("f32", 0, lanes))
    arguments = [argument for (argument,) in struct.iter_unpack("<f", packed)]
    far = [math.isfinite(x) and abs(x) > 100 * math.pi for x in arguments]
    right = [0 if math.isfinite(x) else 0x7FC00000 for x in arguments]
    assert any(far)
    for lane in range(lanes):
        other = [*right[:lane], 0x3F800000, *right[lane + 1 :]]
        assert bool(compare(item, pack("u32", right), pack("u32", other)).wrong) != far[lane]


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_program(device: Device, program: Program) -> None:
    result = golden.load("programs").get(program.name)
    assert result is not None
    assert result.digest == program.digest
    assert program.differs(result.output, program.run(device)) == ""
