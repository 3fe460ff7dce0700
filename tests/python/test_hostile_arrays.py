# SPDX-License-Identifier: Apache-2.0
"""Arrays whose types run Python code while a launch packs them, and free what it has packed."""

import contextlib
from collections.abc import Callable
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, ObjectCode, Stream
from cudacore.utils import StridedMemoryView
from foreign_arrays import (
    CUDA_HOST,
    CapsuleArray,
    ExchangeArray,
    FromObject,
    exchange_api,
    exchange_capsule,
)
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


def view_bytes(buffer: Buffer, shape: Any, strides: Any) -> StridedMemoryView:
    return StridedMemoryView.from_buffer(buffer, shape, strides, dtype="u1")


@pytest.mark.parametrize(
    ("shape", "strides"), [((2, 2), (3, 0)), ((2, 2), (2, 2)), ((3, 2), (1, 3)), ((2, 2), (1, 3))]
)
def test_copy_touches_no_other_elements(
    stream: Stream, pinned: Callable[[int], Buffer], shape: Any, strides: Any
) -> None:
    """Even if as many elements overlap as are left out."""
    target, source = pinned(16), pinned(16)
    source.fill(7, stream=stream)
    places = {i * strides[0] + j * strides[1] for i in range(shape[0]) for j in range(shape[1])}
    overlaps = len(places) < shape[0] * shape[1]
    to, from_ = (view_bytes(buffer, shape, strides) for buffer in (target, source))
    for copy in (
        lambda: to.copy_from(from_, stream=stream),
        lambda: from_.copy_to(to, stream=stream),
    ):
        target.fill(0, stream=stream)
        refused = pytest.raises(ValueError, match="share memory")
        with refused if overlaps else contextlib.nullcontext():
            copy()
        stream.sync()
        written = {place for place, byte in enumerate(host_bytes(target)) if byte == 7}
        assert written == (set() if overlaps else places)


def test_packed_elements_are_not_copied_as_bytes(device: Device, block: Buffer) -> None:
    packed = CapsuleArray(block.handle, (64,), device=(CUDA_HOST, 0), code=17, bits=4)
    with pytest.raises(TypeError, match="elements of 4 bits, not of whole bytes"):
        device.to_device(packed)
    with pytest.raises(TypeError, match="elements of 4 bits"):
        block.copy_from(packed)


def test_views_without_elements_lead_nowhere(device: Device) -> None:
    with device.allocate(64) as buffer:
        view = StridedMemoryView.from_buffer(buffer, (5, 0), (2**62, 1), dtype="f4")
        assert view[4].shape == view[3:, 0:0][0].shape == (0,)
        assert view[4].ptr == view[3:].ptr == view.ptr
        assert view[:, None].shape == (5, 1, 0)


VIEWS = """
#include <cuda/std/mdspan>
#include <cudacore/array_view.cuh>
namespace s = cuda::std;
template <typename Index>
using strided = s::mdspan<unsigned char, s::dextents<Index, 2>, s::layout_stride>;
__global__ void narrow(strided<int> view) {}
__global__ void wide(strided<long long> view) {}
__global__ void narrow_view(cudacore::array_view<unsigned char, 2, int> view) {}
__global__ void wide_view(cudacore::array_view<unsigned char, 2> view) {}
__global__ void deep(cudacore::array_view<unsigned char, 4> view) {}
__global__ void loads(double* p) {}
#if __CUDACC_VER_MAJOR__ >= 13
__global__ void loads_wide(double4_32a* p) {}
#endif
__global__ void loads_any(void* p) {}
"""


@pytest.fixture(scope="module")
def views(device: Device) -> ObjectCode:
    return build(VIEWS)


class TestReach:
    def test_sum_of_offsets(self, device: Device, block: Buffer, views: ObjectCode) -> None:
        far = ExchangeArray(block.handle, (3, 10), np.uint8, strides=(1_500_000_000, 1))
        for name in ("narrow", "narrow_view"):
            with pytest.raises(TypeError, match=r"32-bit indices reach.* take 64-bit indices"):
                views.get_kernel(name)[1, 1](far)
        for name in ("wide", "wide_view"):
            views.get_kernel(name)[1, 1](far)

    def test_backward(self, block: Buffer, views: ObjectCode) -> None:
        end = block.handle + (1 << 33)
        far = ExchangeArray(end, (3, 10), np.uint8, strides=(-1_500_000_000, 1))
        with pytest.raises(TypeError, match="32-bit indices reach"):
            views.get_kernel("narrow_view")[1, 1](far)
        near = ExchangeArray(end, (2, 10), np.uint8, strides=(-1_500_000_000, 1))
        views.get_kernel("narrow_view")[1, 1](near)

    def test_largest(self, block: Buffer, views: ObjectCode) -> None:
        for stride, fits in ((2**31 - 2, True), (2**31 - 1, False)):
            array = ExchangeArray(block.handle, (2, 1), np.uint8, strides=(stride, 1))
            refusal = pytest.raises(TypeError, match="32-bit indices reach")
            with contextlib.nullcontext() if fits else refusal:
                views.get_kernel("narrow")[1, 1](array)

    def test_empty_with_endless_extents(self, views: ObjectCode) -> None:
        views.get_kernel("deep")[1, 1](ExchangeArray(0, (5, 2**31, 2**31, 0), np.uint8))
        endless = ExchangeArray(0, (5, 2**32, 2**32, 0), np.uint8)
        with pytest.raises(TypeError, match="more than 64 bits count, even though it is empty"):
            views.get_kernel("deep")[1, 1](endless)


@pytest.mark.parametrize(
    ("name", "offset", "alignment"),
    [("loads", 1, 8), ("loads", 4, 8), ("loads_wide", 16, 32), ("loads", 8, 0),
     ("loads_wide", 32, 0), ("loads_any", 1, 0)],
)  # fmt: skip
def test_alignment(
    block: Buffer, views: ObjectCode, name: str, offset: int, alignment: int
) -> None:
    if name == "loads_wide" and cudacore.system.get_nvrtc_version() < (13, 0):
        pytest.skip("double4_32a is new in CUDA 13")
    array = ExchangeArray(block.handle + offset, (4,), np.float64)
    refusal = pytest.raises(TypeError, match=f"must be aligned to {alignment} bytes; pass a copy")
    with refusal if alignment else contextlib.nullcontext():
        views.get_kernel(name)[1, 1](array)
    views.get_kernel(name)[1, 1](ExchangeArray(1, (0,), np.float64))  # no elements are loaded
