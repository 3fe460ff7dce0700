# SPDX-License-Identifier: Apache-2.0
"""Kernels and memory for tests of launches that are like earlier ones."""

from __future__ import annotations

from typing import Any

import cudacore
import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device, Stream

Tile = Any


@pytest.fixture(name="current", autouse=True)
def current_fixture(device: Device) -> None:
    device.set_current()


@pytest.fixture(name="block")
def block_fixture(device: Device, stream: Stream) -> cudacore.Buffer:
    buffer = device.allocate(4096, stream=stream)
    buffer.fill(0, stream=stream)
    return buffer


def floats(buffer: Any, stream: Any) -> Any:
    numbers = np.empty(buffer.size // 4, np.float32)
    buffer.copy_to(numbers, stream=stream)
    stream.sync()
    return numbers


def make_fill() -> Tile:
    @ct.kernel
    def fill(y, value, size: ct.Constant[int]):  # type: ignore[no-untyped-def]
        ct.store(y, ct.bid(0), ct.full((size,), value, y.dtype))

    return fill


def make_nothing() -> Tile:
    @ct.kernel
    def nothing(x, what: ct.Constant):  # type: ignore[no-untyped-def]
        pass

    return nothing


def again(
    kernel: Tile, stream: Any, args: Any, *, grid: Any = (1,), dependent: bool = False
) -> bool:
    """Launch if the launch is like an earlier one; return whether it is."""
    return kernel._known_launches().try_launch(stream, grid, args, dependent)  # type: ignore[no-any-return]
