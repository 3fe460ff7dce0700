# SPDX-License-Identifier: Apache-2.0
"""Kernels that graphs run, for their tests."""

import gc
import threading
from collections.abc import Callable

import pytest
from cudacore import Buffer, Device, Kernel, LaunchConfig
from harness import build

SOURCE = """
__global__ void add(int* p, int v) { p[threadIdx.x] += v; }
__global__ void scale(int* p, int v) { p[threadIdx.x] *= v; }
__global__ void nothing() {}
"""
SHAPE = LaunchConfig(grid=1, block=4)
Allocate = Callable[[int], Buffer]


@pytest.fixture(scope="module")
def kernels(device: Device) -> dict[str, Kernel]:
    code = build(SOURCE)
    return {name: code.get_kernel(name) for name in ("add", "scale", "nothing")}


@pytest.fixture
def add(kernels: dict[str, Kernel]) -> Kernel:
    return kernels["add"]


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def values(buffer: Buffer) -> list[int]:
    return memoryview(buffer).cast("B").cast("i").tolist()


def is_dropped(ended: Callable[[], object]) -> bool:
    """Wait until another thread has dropped what no graph uses any more."""
    for _ in range(300):
        gc.collect()
        if ended() is None:
            return True
        threading.Event().wait(0.1)
    return False
