# SPDX-License-Identifier: Apache-2.0
"""Kernels for tests of recorded functions, and how the tests look at memory."""

from collections.abc import Iterator
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, Stream
from harness import build

SOURCE = """
__global__ void add(int* p, int v) { p[threadIdx.x] += v; }
__global__ void scale(float* p, float v) { p[threadIdx.x] *= v; }
__global__ void wide(long long* p, double a, unsigned char b, short c) {
  p[threadIdx.x] = (long long)a * 1000 + b * 10 + c;
}
__global__ void copy(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }
struct __attribute__((packed)) Packed { char flag; int* to; int number; };
__global__ void packed(Packed p) { *p.to = p.number; }
__global__ void maybe(int* p) { if (p != nullptr) p[0] = 1; }
"""
COUNT = 8
Kernels = dict[str, Kernel]
record: Any = cudacore.graph


class Calls:
    """Counts how often Python ran."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@pytest.fixture(scope="module")
def kernels(device: Device) -> Kernels:
    device.set_current()
    code = build(SOURCE)
    return {
        name: code.get_kernel(name) for name in ("add", "scale", "wide", "copy", "packed", "maybe")
    }


@pytest.fixture(autouse=True)
def current(device: Device, stream: Stream) -> Iterator[None]:
    device.set_current()
    with stream:
        yield


@pytest.fixture
def calls() -> Calls:
    return Calls()


def new(device: Device, *values: int, count: int = COUNT) -> Buffer:
    buffer = device.allocate(4 * count)
    numbers = np.array(values or [0], np.int32)
    buffer.copy_from(np.resize(numbers, count))
    return buffer


def ints(buffer: Any) -> list[int]:
    return np.frombuffer(bytes(buffer.to_host()), np.int32).tolist()


def first(buffer: Any) -> int:
    return ints(buffer)[0]
