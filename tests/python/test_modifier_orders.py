# SPDX-License-Identifier: Apache-2.0
"""Modifiers are accepted in the orders that ptxas accepts, and in no other."""

import sys
from pathlib import Path

import pytest
from cudacore import CUDAError, Device, ObjectCode

sys.path.insert(0, str(Path(__file__).parents[1]))

from differential.modifier_orders import Spelling, all_items, batches, load, module_of

pytestmark = pytest.mark.simulator_only(reason="the recorded answers are ptxas's own")


@pytest.fixture(scope="module")
def recorded() -> dict[bool, list[Spelling]]:
    """Return the spellings by whether ptxas accepts them."""
    items = {item.name: item for item in all_items()}
    found: dict[bool, list[Spelling]] = {True: [], False: []}
    for (opcode, written), (name, taken) in load().items():
        found[taken].append(Spelling(items[name], opcode, written))
    return found


def _loads(batch: list[Spelling]) -> str:
    """Return the error for loading a batch, if there is one."""
    text, _ = module_of(batch)
    try:
        ObjectCode.from_ptx(text.encode()).get_kernel("run0")
    except CUDAError as error:
        return str(error)
    return ""


def test_every_order_that_ptxas_takes_loads(
    device: Device, recorded: dict[bool, list[Spelling]]
) -> None:
    device.set_current()
    assert len(recorded[True]) > 2000
    wrong = [said for batch in batches(recorded[True]) if (said := _loads(batch))]
    assert not wrong, "\n".join(wrong)


def test_no_order_that_ptxas_refuses_loads(
    device: Device, recorded: dict[bool, list[Spelling]]
) -> None:
    device.set_current()
    assert len(recorded[False]) > 500
    wrong = [
        f"{one.written}, of {one.opcode}"
        for batch in batches(recorded[False], 1)
        for one in batch
        if not _loads(batch)
    ]
    assert not wrong, "\n".join(wrong)
