# SPDX-License-Identifier: Apache-2.0
"""Arrays for kernels that take cuda::std::mdspan or cudacore::array_view."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, NotSupportedError, ObjectCode, Stream
from foreign_arrays import CUDA_HOST, DEVICE_ARRAYS, CapsuleArray, CudaArray, ExchangeArray
from harness import build

#: What a kernel sees of a view: for each dimension its extent and stride, then the elements.
SOURCE = """
#include <cuda/std/mdspan>
#include <cudacore/array_view.cuh>

namespace s = cuda::std;
inline constexpr s::size_t dyn = s::dynamic_extent;

template <typename View>
__global__ void read(View view, long long* out) {
  if constexpr (View::rank() > 0) {
    for (int i = 0; i < int(View::rank()); ++i) {
      *out++ = view.extent(i);
      *out++ = view.stride(i);
    }
  }
  if constexpr (View::rank() == 1) {
    for (int i = 0; i < int(view.extent(0)); ++i) *out++ = (long long)view(i);
  } else if constexpr (View::rank() == 2) {
    for (int i = 0; i < int(view.extent(0)); ++i)
      for (int j = 0; j < int(view.extent(1)); ++j) *out++ = (long long)view(i, j);
  } else if constexpr (View::rank() == 0) {
    *out++ = (long long)view();
  }
}

template <typename T, typename Index>
__global__ void read_view(cudacore::array_view<T, 2, Index> view, long long* out) {
  for (int i = 0; i < 2; ++i) {
    *out++ = view.shape[i];
    *out++ = view.strides[i];
  }
  for (Index i = 0; i < view.shape[0]; ++i)
    for (Index j = 0; j < view.shape[1]; ++j) *out++ = (long long)view(i, j);
}

__global__ void write(cudacore::array_view<float, 1> view) {
  for (long long i = 0; i < view.size(); ++i) view[i] = 10 * i;
}

struct scaled {
  template <typename E> struct mapping : s::layout_right::mapping<E> {
    using layout_type = scaled;
    using s::layout_right::mapping<E>::mapping;
  };
};
__global__ void own_layout(s::mdspan<float, s::dextents<int, 1>, scaled> view) {}
"""

MDSPANS = {
    "right": "s::mdspan<float, s::dextents<s::size_t, 2>>",
    "const": "s::mdspan<const float, s::dextents<int, 2>>",
    "left": "s::mdspan<float, s::dextents<int, 2>, s::layout_left>",
    "stride": "s::mdspan<float, s::dextents<int, 2>, s::layout_stride>",
    "short stride": "s::mdspan<float, s::dextents<short, 2>, s::layout_stride>",
    "bytes": "s::mdspan<float, s::dextents<unsigned char, 2>>",
    "half static": "s::mdspan<float, s::extents<int, 3, dyn>>",
    "other half static": "s::mdspan<float, s::extents<int, dyn, 4>, s::layout_stride>",
    "static": "s::mdspan<float, s::extents<int, 3, 4>>",
    "static stride": "s::mdspan<float, s::extents<int, 3, 4>, s::layout_stride>",
    "none": "s::mdspan<float, s::extents<int>>",
    "one": "s::mdspan<double, s::dextents<long long, 1>, s::layout_stride>",
}
VIEWS = {"view": "read_view<float, long long>", "int view": "read_view<const float, int>"}


@pytest.fixture(scope="module")
def code(device: Device) -> ObjectCode:
    reads = [f"read<{mdspan}>" for mdspan in MDSPANS.values()]
    return build(SOURCE, *reads, *VIEWS.values())


def name_of(kernel: str) -> str:
    return VIEWS.get(kernel) or f"read<{MDSPANS[kernel]}>"


@pytest.fixture
def memory(pinned: Callable[[int], Buffer]) -> Buffer:
    """Sixteen floats, 0 to 15."""
    buffer = pinned(64)
    ctypes.memmove(buffer.handle, np.arange(16, dtype=np.float32).ctypes.data, 64)
    return buffer


class Reader:
    """Launches a kernel that says what it sees, and compares that with NumPy."""

    def __init__(self, code: ObjectCode, out: Buffer, memory: Buffer) -> None:
        self._code = code
        self.out = out
        self.memory = memory

    def kernel(self, name: str) -> Kernel:
        return self._code.get_kernel(name_of(name))

    def launch(self, kernel: str, array: Any, stream: Stream | None = None) -> None:
        self.kernel(kernel)[1, 1, stream](array, self.out)

    def check(self, kernel: str, array: Any) -> None:
        self.launch(kernel, array)
        Device(0).sync()
        seen = list((ctypes.c_int64 * 64).from_address(self.out.handle))
        size = array.dtype.itemsize
        strides = array.strides or contiguous(array.shape)
        for axis, extent in enumerate(array.shape):
            assert seen[2 * axis] == extent
            if extent > 1 and 0 not in array.shape:
                assert seen[2 * axis + 1] == strides[axis]
        if 0 in array.shape:
            return
        whole = (ctypes.c_char * self.memory.size).from_address(self.memory.handle)
        view = np.ndarray(
            array.shape, array.dtype, whole, array.address - self.memory.handle,
            [size * stride for stride in strides],
        )  # fmt: skip
        start = 2 * len(array.shape)
        assert seen[start : start + view.size] == view.astype(np.int64).ravel().tolist()


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(stride // 8 for stride in np.empty(shape).strides)


@pytest.fixture
def reader(code: ObjectCode, pinned: Callable[[int], Buffer], memory: Buffer) -> Reader:
    return Reader(code, pinned(512), memory)


HOST = (CUDA_HOST, 0)


@pytest.mark.parametrize("array", DEVICE_ARRAYS)
@pytest.mark.parametrize(
    "kernel",
    ["right", "const", "stride", "short stride", "bytes", "half static", "other half static",
     "static", "static stride", "view", "int view"],
)  # fmt: skip
def test_contiguous_array(reader: Reader, kernel: str, array: Any) -> None:
    reader.check(kernel, array(reader.memory.handle, (3, 4), device=HOST))


@pytest.mark.parametrize("array", DEVICE_ARRAYS)
@pytest.mark.parametrize(
    "kernel", ["left", "stride", "other half static", "static stride", "view", "int view"]
)
def test_fortran_order(reader: Reader, kernel: str, array: Any) -> None:
    reader.check(kernel, array(reader.memory.handle, (3, 4), strides=(1, 3), device=HOST))


@pytest.mark.parametrize("kernel", ["stride", "static stride", "view", "int view"])
def test_gaps(reader: Reader, kernel: str) -> None:
    reader.check(kernel, ExchangeArray(reader.memory.handle, (3, 4), strides=(5, 1), device=HOST))


@pytest.mark.parametrize("kernel", ["view", "int view"])
@pytest.mark.parametrize(("offset", "strides"), [(44, (-4, 1)), (60, (-1, -3)), (0, (0, 1))])
def test_negative_strides_and_broadcasts(
    reader: Reader, kernel: str, offset: int, strides: tuple[int, int]
) -> None:
    array = ExchangeArray(reader.memory.handle + offset, (3, 4), strides=strides, device=HOST)
    reader.check(kernel, array)
    with pytest.raises(TypeError, match=r"its stride . is .*layout_stride are positive"):
        reader.launch("stride", array)


def test_other_ranks(reader: Reader) -> None:
    reader.check("none", ExchangeArray(reader.memory.handle, (), device=HOST))
    reader.check(
        "one", CudaArray(reader.memory.handle, (3,), np.float64, strides=(2,), device=HOST)
    )


@pytest.mark.parametrize("kernel", ["right", "left", "stride", "view"])
@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
def test_empty(reader: Reader, kernel: str, shape: tuple[int, int]) -> None:
    reader.check(kernel, ExchangeArray(0, shape, strides=(7, 9)))


def test_single_rows_have_any_order(reader: Reader) -> None:
    for kernel in ("right", "left", "stride"):
        reader.check(
            kernel, ExchangeArray(reader.memory.handle, (1, 1), strides=(0, -3), device=HOST)
        )


@pytest.mark.parametrize("kernel", ["right", "stride", "static", "view", "int view"])
def test_views_of_buffers(
    device: Device, reader: Reader, stream: Stream, gate: Any, kernel: str
) -> None:
    view = reader.memory.view("float32", (4, 4))[1:]
    reader.launch(kernel, view, stream)  # a first launch loads code, which may wait
    stream.sync()
    gate.hold(device.default_stream)  # a view has no stream that a launch waits for
    reader.launch(kernel, view, stream)
    stream.sync()
    seen = list((ctypes.c_int64 * 16).from_address(reader.out.handle))
    assert seen == [3, 4, 4, 1, *range(4, 16)]
    with pytest.raises(TypeError, match="layout_left is"):
        reader.launch("left", view, stream)


def test_write(code: ObjectCode, memory: Buffer, device: Device) -> None:
    code.get_kernel("write")[1, 1](ExchangeArray(memory.handle, (4,), strides=(3,), device=HOST))
    device.sync()
    values = list((ctypes.c_float * 16).from_address(memory.handle))
    assert values[:12:3] == [0, 10, 20, 30]
    assert values[1] == 1


class TestRefusals:
    def message(self, reader: Reader, kernel: str, array: Any) -> str:
        with pytest.raises(TypeError) as caught:
            reader.launch(kernel, array)
        message = str(caught.value)
        assert "argument 1 'view' (" in message
        return message

    @pytest.mark.parametrize(("kernel", "rank"), [("right", 2), ("view", 2), ("none", 0)])
    def test_rank(self, reader: Reader, kernel: str, rank: int) -> None:
        message = self.message(reader, kernel, ExchangeArray(reader.memory.handle, (2, 2, 2)))
        assert f"it has 3 dimensions, and the parameter {rank}" in message
        message = self.message(reader, kernel, ExchangeArray(reader.memory.handle, (8,)))
        assert f"it has 1 dimension, and the parameter {rank}" in message

    @pytest.mark.parametrize(
        ("kernel", "shape", "expected"),
        [
            ("static", (3, 5), "its extent 1 is 5, and the parameter's is 4"),
            ("half static", (4, 4), "its extent 0 is 4, and the parameter's is 3"),
            ("bytes", (1, 300), "it has 300 elements, and the parameter's indices end at 255"),
            ("short stride", (200, 200), "it has 40000 elements"),
            ("int view", (2**16, 2**15), "it has 2147483648 elements"),
        ],
    )
    def test_extents(self, reader: Reader, kernel: str, shape: Any, expected: str) -> None:
        array = ExchangeArray(reader.memory.handle, shape)
        assert expected in self.message(reader, kernel, array)

    def test_stride_that_does_not_fit(self, reader: Reader) -> None:
        array = ExchangeArray(reader.memory.handle, (2, 2), strides=(40000, 1))
        message = self.message(reader, "short stride", array)
        assert "the parameter's 16-bit indices reach, which end at 32767;" in message
        array = ExchangeArray(2**40, (2, 2), strides=(-(2**31), 1))
        assert "32-bit indices reach" in self.message(reader, "int view", array)

    def test_order(self, reader: Reader) -> None:
        array = ExchangeArray(reader.memory.handle, (3, 4), strides=(1, 3))
        assert "it is not C-contiguous" in self.message(reader, "right", array)
        assert "it is not C-contiguous" in self.message(reader, "static", array)
        array = ExchangeArray(reader.memory.handle, (3, 4))
        assert "it is not Fortran-contiguous" in self.message(reader, "left", array)

    @pytest.mark.parametrize("kernel", ["right", "view"])
    def test_elements(self, reader: Reader, kernel: str) -> None:
        array = ExchangeArray(reader.memory.handle, (3, 4), np.float64)
        assert "its elements are float64, not float;" in self.message(reader, kernel, array)

    @pytest.mark.parametrize("kernel", ["right", "view"])
    def test_read_only(self, reader: Reader, kernel: str) -> None:
        array = CapsuleArray(reader.memory.handle, (3, 4), read_only=True, device=HOST)
        assert "it is read-only" in self.message(reader, kernel, array)
        for constant in ("const", "int view"):
            reader.check(constant, array)

    @pytest.mark.parametrize("kernel", ["right", "view"])
    def test_host(self, device: Device, reader: Reader, kernel: str) -> None:
        if device.properties.pageable_memory_access:
            pytest.skip("this device reads it")
        assert "it lives on the host" in self.message(reader, kernel, np.ones((3, 4), np.float32))

    @pytest.mark.parametrize("kernel", ["right", "view"])
    def test_untyped_buffer(self, reader: Reader, kernel: str) -> None:
        message = self.message(reader, kernel, reader.memory)
        assert "a Buffer has no element type and no shape; pass buffer.view(" in message

    def test_layout_of_the_users_own(self, code: ObjectCode, memory: Buffer) -> None:
        with pytest.raises(NotSupportedError, match="argument 1 'view'.*standard layout"):
            code.get_kernel("own_layout")[1, 1](ExchangeArray(memory.handle, (4,)))

    @pytest.mark.parametrize("value", [1, 1.5, None, "text"])
    def test_what_is_no_array(self, reader: Reader, value: Any) -> None:
        self.message(reader, "right", value)

    def test_bytes_of_the_right_size(self, reader: Reader) -> None:
        size = reader.kernel("static").arguments_info[0].size
        raw = reader.memory.handle.to_bytes(size, "little")
        reader.launch("static", raw)
        with pytest.raises(TypeError, match="bytes"):
            reader.launch("right", raw)
