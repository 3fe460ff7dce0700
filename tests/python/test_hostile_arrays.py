# SPDX-License-Identifier: Apache-2.0
"""Arrays whose types run Python code while a launch packs them, and free what it has packed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel
from foreign_arrays import ExchangeArray, FromObject, exchange_api, exchange_capsule
from harness import build, host_bytes

SOURCE = "__global__ void write(int* p, float* q, float* r) { *p = 7; }"


@pytest.fixture(scope="module")
def write(device: Device) -> Kernel:
    return build(SOURCE).get_kernel("write")


@pytest.fixture
def block(device: Device, write: Kernel) -> Buffer:
    """A launch has asked its resource where it is, so that packing it runs no Python code."""
    block = device.allocate(4096)
    write[1, 1](block, None, None)
    device.sync()
    return block


def type_that_runs(action: Callable[[], object], api: Any = None) -> Any:
    """A type of arrays that runs an action whenever its exchange API is looked up."""
    capsule = exchange_capsule(api or exchange_api())

    class Meta(type):
        @property
        def __dlpack_c_exchange_api__(cls) -> Any:
            action()
            return capsule

    return Meta("Hostile", (ExchangeArray,), {})


def slot_of(kind: type) -> int:
    """Where the types that were seen last are remembered."""
    return id(kind) >> 5 & 63


def test_look_up_of_a_type_closes_buffer(block: Buffer, write: Kernel) -> None:
    empty = type_that_runs(block.close)(0, (0,))
    with pytest.raises(ValueError, match=r"argument 1 'p' \(int\*\) cannot take a closed Buffer"):
        write[1, 1](block, empty, None)


def test_look_up_of_a_type_replaces_memory(
    device: Device, block: Buffer, write: Kernel, pinned: Callable[[int], Buffer]
) -> None:
    """What is borrowed is borrowed again."""
    moved = pinned(8)
    array = ExchangeArray(block.handle, (4,), np.int32)

    def move() -> None:
        array.address = moved.handle

    write[1, 1](array, type_that_runs(move)(0, (0,)), None)
    device.sync()
    assert np.frombuffer(host_bytes(moved), np.int32).tolist() == [7, 0]
    assert array.borrowed == 2


def test_library_that_only_shares_closes_buffer(block: Buffer, write: Kernel) -> None:
    class Sharing(ExchangeArray):
        __dlpack_c_exchange_api__ = exchange_capsule(exchange_api(borrow_from_object=FromObject()))

        def managed(self) -> Any:
            if armed:
                block.close()
            return super().managed()

    armed = False
    write[1, 1](block, Sharing(0, (0,)), None)
    armed = True
    with pytest.raises(ValueError, match="cannot take a closed Buffer"):
        write[1, 1](block, Sharing(0, (0,)), None)


@pytest.mark.parametrize("when", range(1, 5))
def test_forgotten_type_closes_buffer(block: Buffer, write: Kernel, when: int) -> None:
    """Two types that take each other's place are looked up again for the second packing."""
    count = 0

    def close_later() -> None:
        nonlocal count
        count += 1
        if count == when:
            block.close()

    first = type_that_runs(close_later)
    others = [type_that_runs(close_later)]
    while slot_of(others[-1]) != slot_of(first):
        others.append(type_that_runs(close_later))
    with pytest.raises(ValueError, match="cannot take a closed Buffer"):
        write[1, 1](block, first(0, (0,)), others[-1](0, (0,)))
    assert count == 4
