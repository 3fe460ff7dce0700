# SPDX-License-Identifier: Apache-2.0
"""Protocols of arrays that say anything: a launch takes them, or names the argument it refuses."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel
from foreign_arrays import CapsuleArray, CudaArray, ExchangeArray, OldCapsuleArray
from harness import build
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SOURCE = """
#include <cuda/std/mdspan>
#include <cudacore/array_view.cuh>
namespace s = cuda::std;
__global__ void pointer(const float* array) {}
__global__ void bytes(const void* array) {}
__global__ void view(cudacore::array_view<const float, 2> array) {}
__global__ void span(s::mdspan<const float, s::dextents<int, 2>, s::layout_stride> array) {}
__global__ void fixed(s::mdspan<const float, s::extents<short, 2, 3>> array) {}
"""
KERNELS = ("pointer", "bytes", "view", "span", "fixed")

numbers = st.one_of(
    st.integers(-4, 8),
    st.sampled_from([2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64]),
    st.integers(-(2**65), 2**65),
)
junk = st.one_of(
    st.none(), st.booleans(), numbers, st.floats(), st.text(max_size=8), st.binary(max_size=8),
    st.tuples(), st.just(object()), st.lists(numbers, max_size=3),
)  # fmt: skip
counts = st.one_of(
    st.lists(st.integers(0, 4), max_size=4).map(tuple),
    st.lists(numbers, max_size=70).map(tuple),
    st.lists(junk, max_size=3).map(tuple),
)
typestrs = st.one_of(
    st.sampled_from(["<f4", "|f4", "<f8", "<c8", "|b1", "|u1", "|V12", "<M8[s]", "|O8", "<f2"]),
    st.text("<>|=?fiucbVOM0123456789", max_size=8),
    st.text(max_size=4),
)
#: Each key right, wrong, or missing.
descriptions = st.fixed_dictionaries(
    {},
    optional={
        "version": st.one_of(st.integers(1, 4), junk),
        "shape": st.one_of(counts, junk),
        "strides": st.one_of(st.none(), counts, junk),
        "typestr": st.one_of(typestrs, junk),
        "data": st.one_of(st.tuples(numbers, st.booleans()), st.tuples(junk, junk), junk),
        "stream": st.one_of(st.none(), st.sampled_from([0, 1, 2, -1]), st.text(max_size=3)),
        "mask": st.none(),
        "descr": junk,
    },
)
int64 = st.one_of(st.integers(-4, 8), st.integers(-(2**63), 2**63 - 1))
tensors = st.fixed_dictionaries(
    {
        "shape": st.lists(int64, max_size=6),
        "strides": st.one_of(st.none(), st.lists(int64, min_size=6, max_size=6)),
        "lies": st.fixed_dictionaries(
            {},
            optional={
                "code": st.integers(0, 255),
                "bits": st.integers(0, 255),
                "lanes": st.integers(0, 65535),
                "byte_offset": st.one_of(st.integers(0, 64), st.integers(0, 2**64 - 1)),
            },
        ),
        "device": st.tuples(st.integers(-1, 20), st.integers(-1, 3)),
    }
)


@pytest.fixture(scope="module")
def kernels(device: Device) -> dict[str, Kernel]:
    code = build(SOURCE)
    return {name: code.get_kernel(name) for name in KERNELS}


@pytest.fixture(scope="module")
def block(device: Device) -> Iterator[Buffer]:
    with device.allocate(4096) as buffer:
        yield buffer
        device.sync()


relaxed = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def try_each(kernels: dict[str, Kernel], array: Any) -> None:
    for name, kernel in kernels.items():
        try_one(name, kernel, array)


def try_one(name: str, kernel: Kernel, array: Any) -> None:
    try:
        kernel[1, 1](array)
    except TypeError as error:
        assert str(error).startswith(f"{name}: argument 1 'array' (")  # noqa: PT017


@given(lies=descriptions, described=st.booleans())
@relaxed
def test_cuda_array_interface(
    kernels: dict[str, Kernel], block: Buffer, lies: dict[str, Any], described: bool
) -> None:
    right = CudaArray(block.handle, (2, 3)).__cuda_array_interface__
    liar = type("Liar", (), {"__cuda_array_interface__": {**right, **lies} if described else lies})
    try_each(kernels, liar())


@given(value=junk)
@relaxed
def test_what_protocols_are(kernels: dict[str, Kernel], value: Any) -> None:
    for name in ("__cuda_array_interface__", "__array_interface__", "__dlpack__",
                 "__dlpack_c_exchange_api__"):  # fmt: skip
        try_each(kernels, type("Liar", (), {name: value})())


@given(value=junk, device=junk)
@relaxed
def test_what_dlpack_returns(kernels: dict[str, Kernel], value: Any, device: Any) -> None:
    class Liar:
        def __dlpack_device__(self) -> Any:
            return device

        def __dlpack__(self, **_: Any) -> Any:
            return value

    try_each(kernels, Liar())


@pytest.mark.parametrize("protocol", [ExchangeArray, CapsuleArray, OldCapsuleArray])
@given(tensor=tensors)
@relaxed
def test_tensors(
    kernels: dict[str, Kernel], block: Buffer, protocol: Any, tensor: dict[str, Any]
) -> None:
    array = protocol(
        block.handle, tensor["shape"], np.float32, strides=tensor["strides"],
        device=tensor["device"], **tensor["lies"],
    )  # fmt: skip
    try_each(kernels, array)
    assert array.released == len(array.streams)
