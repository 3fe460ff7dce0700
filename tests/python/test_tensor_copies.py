# SPDX-License-Identifier: Apache-2.0
"""Copies by tensor maps in kernels, against NumPy."""

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from cudacore import (
    Device,
    Kernel,
    LegacyPinnedMemoryResource,
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapOOBFill,
    TensorMapSwizzle,
)
from cudacore.utils import StridedMemoryView
from harness import build, run_cleanly

CODE = r"""
struct alignas(64) Map { char bytes[128]; };
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern __shared__ __align__(1024) unsigned char tile[];

__device__ void wait_for(unsigned barrier) {
  for (unsigned done = 0; !done;) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier) : "memory");
  }
}

// The whole tile is shown, with 0xee where nothing was written.
#define LOAD(name, instruction, ...)                                                              \
  extern "C" __global__ void name(const __grid_constant__ Map map, int c0, int c1, int c2, int c3,\
                                  int c4, int o0, int o1, int o2, unsigned bytes, unsigned offset,\
                                  unsigned room, unsigned* out) {                                 \
    __shared__ __align__(8) unsigned long long barrier;                                           \
    const unsigned b = shared_address(&barrier);                                                  \
    for (unsigned i = threadIdx.x; i < room / 4; i += 32) ((unsigned*)tile)[i] = 0xeeeeeeee;      \
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));             \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                  \
    __syncthreads();                                                                              \
    if (threadIdx.x == 0) {                                                                       \
      asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");                            \
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(bytes));     \
      asm volatile(instruction ::"r"(shared_address(tile) + offset), "l"(&map), "r"(b),           \
                   __VA_ARGS__ : "memory");                                                       \
    }                                                                                             \
    wait_for(b);                                                                                  \
    for (unsigned i = threadIdx.x; i < room / 4; i += 32) out[i] = ((unsigned*)tile)[i];          \
  }
#define TO "shared::cluster.global"
#define BY "mbarrier::complete_tx::bytes"
LOAD(load1, "cp.async.bulk.tensor.1d." TO ".tile." BY " [%0], [%1, {%3}], [%2];", "r"(c0))
LOAD(load2, "cp.async.bulk.tensor.2d." TO "." BY " [%0], [%1, {%3, %4}], [%2];", "r"(c0), "r"(c1))
LOAD(load3, "cp.async.bulk.tensor.3d." TO ".tile." BY " [%0], [%1, {%3, %4, %5}], [%2];",
     "r"(c0), "r"(c1), "r"(c2))
LOAD(load4, "cp.async.bulk.tensor.4d." TO ".tile." BY " [%0], [%1, {%3, %4, %5, %6}], [%2];",
     "r"(c0), "r"(c1), "r"(c2), "r"(c3))
LOAD(load5, "cp.async.bulk.tensor.5d." TO ".tile." BY " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];",
     "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4))
LOAD(pixels3, "cp.async.bulk.tensor.3d." TO ".im2col." BY " [%0], [%1, {%3, %4, %5}], [%2], {%6};",
     "r"(c0), "r"(c1), "r"(c2), "h"((short)o0))
LOAD(pixels4, "cp.async.bulk.tensor.4d." TO ".im2col." BY
     " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};",
     "r"(c0), "r"(c1), "r"(c2), "r"(c3), "h"((short)o0), "h"((short)o1))
LOAD(pixels5, "cp.async.bulk.tensor.5d." TO ".im2col." BY
     " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};",
     "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "h"((short)o0), "h"((short)o1), "h"((short)o2))

#define STORE(name, start, operation)                                                             \
  extern "C" __global__ void name(const __grid_constant__ Map map, int c0, int c1, unsigned room, \
                                  const unsigned* from) {                                         \
    for (unsigned i = threadIdx.x; i < room / 4; i += 32) ((unsigned*)tile)[i] = from[i];         \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                  \
    __syncthreads();                                                                              \
    if (threadIdx.x == 0) {                                                                       \
      asm volatile(start ".2d.global.shared::cta" operation ".tile.bulk_group"                    \
                   " [%0, {%1, %2}], [%3];"                                                       \
                   ::"l"(&map), "r"(c0), "r"(c1), "r"(shared_address(tile)) : "memory");          \
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");       \
    }                                                                                             \
  }
STORE(store, "cp.async.bulk.tensor", "")
STORE(reduce_add, "cp.reduce.async.bulk.tensor", ".add")
STORE(reduce_min, "cp.reduce.async.bulk.tensor", ".min")
STORE(reduce_max, "cp.reduce.async.bulk.tensor", ".max")
STORE(reduce_and, "cp.reduce.async.bulk.tensor", ".and")
STORE(reduce_xor, "cp.reduce.async.bulk.tensor", ".xor")

extern "C" __global__ void prefetch(const __grid_constant__ Map map) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
               ::"l"(&map), "r"(0), "r"(0) : "memory");
}
"""


@pytest.fixture(autouse=True)
def tma(device: Device) -> Device:
    if not device.properties.tensor_map_access_supported:
        pytest.skip("the device has no Tensor Memory Accelerator")
    return device


@functools.cache
def kernel(name: str) -> Kernel:
    return build(CODE).get_kernel(name)


def pinned(array: np.ndarray[Any, Any]) -> StridedMemoryView:
    """Copy an array to memory that the device reads."""
    view = LegacyPinnedMemoryResource().allocate(array.nbytes).view(array.dtype, array.shape)
    np.asarray(view)[...] = array
    return view


def load(
    made: TensorMapDescriptor,
    at: Any,
    expected: np.ndarray[Any, Any],
    *,
    offsets: Any = (),
    name: str = "load",
    start: int = 0,
    span: int = 0,
) -> None:
    """Load a box at coordinates in the order of the shape, and compare shared memory.

    A row of `expected` is one row of the box. With swizzling, rows are `span` bytes apart.
    """
    rank = len(at)
    rows = (
        np.ascontiguousarray(expected)
        .view(np.uint8)
        .reshape(-1, expected.shape[-1] * expected.itemsize)
    )
    pitch = span or rows.shape[1]
    room = start + len(rows) * pitch
    room += -room % 1024 + 1024
    shown = np.full(room, 0xEE, np.uint8)
    for number, row in enumerate(rows):
        for piece in range(0, len(row), 16):
            address = start + number * pitch + piece
            if span:
                address ^= ((address >> 7) & (span // 16 - 1)) << 4
            shown[address : address + 16] = row[piece : piece + 16]
    out = LegacyPinnedMemoryResource().allocate(room)
    coordinates = [int(c) for c in reversed(at)] + [0] * (5 - rank)
    moves = [int(o) for o in reversed(offsets)] + [0] * (3 - len(offsets))
    run = kernel(f"{name}{rank}")[1, 32, None, room]
    run(made, *coordinates, *moves, rows.size, start, room, out)
    Device().sync()
    assert np.asarray(out.view("u1")).tolist() == shown.tolist()


def box_of(
    array: np.ndarray[Any, Any], at: Any, box: Any, steps: Any = None, fill: Any = 0
) -> np.ndarray[Any, Any]:
    """Return what a copy of a box reads."""
    steps = steps or [1] * array.ndim
    places = [
        c + step * np.arange(-(-count // step))
        for c, count, step in zip(at, box, steps, strict=True)
    ]
    result = np.full([len(p) for p in places], fill, array.dtype)
    inside = [(p >= 0) & (p < n) for p, n in zip(places, array.shape, strict=True)]
    result[np.ix_(*inside)] = array[np.ix_(*[p[i] for p, i in zip(places, inside, strict=True)])]
    return result


#: Swizzles, and bytes of a row of a box.
SPANS = [(1, 16), (1, 32), (2, 48), (2, 64), (3, 16), (3, 64), (3, 96), (3, 128)]


class TestTiles:
    @pytest.mark.parametrize(
        ("shape", "box", "at", "steps"),
        [((4096,), (64,), (8,), None),
         ((64, 64), (16, 32), (3, 8), None),
         ((64, 64), (16, 32), (56, 44), None),
         ((64, 64), (16, 32), (-5, -8), None),
         ((64, 64), (8, 32), (100, -100), None),
         ((64, 64), (16, 32), (1, 0), (2, 1)),
         ((64, 64), (16, 32), (50, 0), (3, 1)),
         ((16, 16, 16), (4, 4, 8), (1, -1, 4), None),
         ((8, 8, 8, 8), (2, 2, 3, 4), (7, 1, 1, 0), None),
         ((4, 4, 4, 8, 8), (2, 2, 2, 2, 4), (1, 1, 1, 1, 0), None),
         ((4, 4, 4, 8, 8), (4, 2, 4, 2, 4), (0, 0, 0, 0, 0), (3, 3, 2, 2, 1))],
        ids=str,
    )  # fmt: skip
    def test_boxes(self, shape: Any, box: Any, at: Any, steps: Any) -> None:
        array = np.arange(1, np.prod(shape) + 1, dtype="u4").reshape(shape)
        made = pinned(array).as_tensor_map(box, element_strides=steps)
        load(made, at, box_of(array, at, box, steps))

    @pytest.mark.parametrize("dtype", ["u1", "u2", "i4", "u8", "i8", "f2", "f4", "f8"])
    def test_types(self, dtype: str) -> None:
        array = np.arange(32 * 32).astype(dtype).reshape(32, 32)
        made = pinned(array).as_tensor_map((8, 16))
        load(made, (28, 16), box_of(array, (28, 16), (8, 16)))

    def test_padded_rows(self) -> None:
        whole = pinned(np.arange(64 * 64, dtype="u2").reshape(64, 64))
        array = np.asarray(whole)[::2, :40]
        made = whole[::2, :40].as_tensor_map((8, 16))
        load(made, (3, 32), box_of(array, (3, 32), (8, 16)))

    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
    def test_fill(self, dtype: str) -> None:
        array = np.ones((16, 16), dtype)
        made = pinned(array).as_tensor_map((4, 8), oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA)
        nan = np.full(4, 0x7FF7, "u2").view(dtype)[0]
        assert np.isnan(nan)
        load(made, (14, 8), box_of(array, (14, 8), (4, 8), fill=nan))

    def test_tf32_is_rounded(self) -> None:
        bits = np.array([0x116C2, 0x800116C2, 0x3F800008, 0x3F801001, 0x7F800000, 0xFF800000,
                         0x7FC00000, 1], "u4")  # fmt: skip
        rounded = np.array([0x12000, 0x80012000, 0x3F800000, 0x3F802000, 0x7F800000, 0xFF800000,
                            0x7FFFE000, 0], "u4")  # fmt: skip
        made = pinned(bits).as_tensor_map([8], data_type=TensorMapDataType.TFLOAT32)
        load(made, (0,), rounded)
        plain = pinned(bits).as_tensor_map([8], data_type=TensorMapDataType.FLOAT32_FTZ)
        load(plain, (0,), bits)

    @pytest.mark.parametrize(
        ("swizzle", "width", "start"),
        [(*span, start) for span in SPANS for start in (0, 384)],
    )  # fmt: skip
    def test_swizzles(self, swizzle: int, width: int, start: int) -> None:
        array = np.arange(64 * 64, dtype="u2").reshape(64, 64)
        made = pinned(array).as_tensor_map((16, width // 2), swizzle=TensorMapSwizzle(swizzle))
        expected = box_of(array, (2, 8), (16, width // 2))
        load(made, (2, 8), expected, start=start, span=16 << swizzle)

    def test_a_map_in_global_memory(self) -> None:
        """Kernels may read maps from anywhere."""
        array = np.arange(64 * 64, dtype="u4").reshape(64, 64)
        made = pinned(array).as_tensor_map((4, 8))
        code = (
            CODE
            + r"""
extern "C" __global__ void keep(const __grid_constant__ Map map, Map* to) { *to = map; }
extern "C" __global__ void use(const Map* map, unsigned* out) {
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned b = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(b));
    asm volatile("cp.async.bulk.tensor.2d." TO ".tile." BY " [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared_address(tile)), "l"(map), "r"(4), "r"(1), "r"(b) : "memory");
  }
  __syncthreads();
  wait_for(b);
  out[threadIdx.x] = ((unsigned*)tile)[threadIdx.x];
}
"""
        )
        program = build(code)
        memory = Device().allocate(128)
        out = LegacyPinnedMemoryResource().allocate(128).view("u4", (4, 8))
        program.get_kernel("keep")[1, 1](made, memory)
        program.get_kernel("use")[1, 32, None, 128](memory, out)
        Device().sync()
        assert np.asarray(out).tolist() == array[1:5, 4:12].tolist()


def pixels_of(
    array: np.ndarray[Any, Any],
    at: Any,
    *,
    corners: Any,
    offsets: Any,
    count: int,
    steps: Any,
) -> np.ndarray[Any, Any]:
    """Return what a copy of a column of pixels reads: four channels of each."""
    spatial = array.shape[1:-1]
    lower, upper = corners
    result = np.zeros((count, 4), array.dtype)
    position = [int(c) for c in at[:-1]]
    for pixel in range(count):
        moved = [position[0], *(p + o for p, o in zip(position[1:], offsets, strict=True))]
        if all(0 <= p < n for p, n in zip(moved, array.shape, strict=False)):
            row = array[tuple(moved)][at[-1] : at[-1] + 4]
            result[pixel, : len(row)] = row
        for i in reversed(range(len(spatial))):
            position[i + 1] += steps[i]
            if position[i + 1] < spatial[i] + upper[i]:
                break
            position[i + 1] = lower[i]
        else:
            position[0] += 1
    return result


class TestIm2col:
    @pytest.mark.parametrize(
        "case",
        [((0,), (0,), (0, 0, 0), (0,), 8, (1,)),
         ((-1,), (-1,), (0, -1, 0), (0,), 40, (1,)),
         ((-1,), (-1,), (0, -1, 0), (2,), 40, (1,)),
         ((0,), (-3,), (0, 5, 4), (2,), 40, (1,)),
         ((-1,), (0,), (0, -1, 0), (1,), 20, (3,)),
         ((-1, -1), (-1, -1), (0, -1, -1, 0), (0, 0), 64, (1, 1)),
         ((-1, -1), (-1, -1), (1, 2, 3, 4), (2, 1), 64, (1, 1)),
         ((-1, -1), (-1, -1), (0, -1, -1, 0), (0, 0), 40, (2, 2)),
         ((0, 0), (-2, -2), (0, 1, 1, 0), (2, 2), 64, (1, 2)),
         ((0, -2), (0, 2), (0, 0, -2, 0), (0, 0), 30, (1, 1)),
         ((-1, -1, -1), (-1, -1, -1), (0, -1, -1, -1, 0), (2, 1, 0), 64, (1, 1, 1))],
        ids=str,
    )  # fmt: skip
    def test_columns(self, case: Any) -> None:
        lower, upper, at, offsets, count, steps = case
        spatial = {1: (16,), 2: (8, 8), 3: (4, 4, 4)}[len(lower)]
        shape = (4, *spatial, 8)
        array = np.arange(1, np.prod(shape) + 1, dtype="u4").reshape(shape)
        made = TensorMapDescriptor.from_im2col(
            pinned(array), lower, upper, 4, count, element_strides=(1, *steps, 1)
        )
        expected = pixels_of(
            array, at, corners=(lower, upper), offsets=offsets, count=count, steps=steps
        )
        load(made, at, expected, offsets=offsets, name="pixels")


class TestStores:
    @pytest.mark.parametrize(
        "at",
        [
            (3, 8),
            (60, 48),
            pytest.param(
                (-2, -4),
                marks=pytest.mark.simulator_only(reason="an illegal instruction on an H200"),
            ),
        ],
        ids=str,
    )
    def test_only_the_inside_is_written(self, at: Any) -> None:
        array = np.full((64, 64), 7, "u4")
        view = pinned(array)
        tile = np.arange(16 * 32, dtype="u4").reshape(16, 32)
        made = view.as_tensor_map((16, 32))
        kernel("store")[1, 32, None, tile.nbytes](made, at[1], at[0], tile.nbytes, pinned(tile))
        Device().sync()
        for y, x in itertools.product(range(16), range(32)):
            if 0 <= at[0] + y < 64 and 0 <= at[1] + x < 64:
                array[at[0] + y, at[1] + x] = tile[y, x]
        assert np.asarray(view).tolist() == array.tolist()

    @pytest.mark.parametrize(
        ("operation", "dtype"),
        [("add", "u4"), ("add", "i4"), ("add", "u8"), ("add", "f2"), ("add", "f4"), ("add", "f8"),
         ("min", "u4"), ("min", "i4"), ("min", "i8"), ("max", "u8"), ("max", "f2"), ("and", "u4"),
         ("xor", "u8")],
    )  # fmt: skip
    def test_reductions(self, operation: str, dtype: str) -> None:
        numbers = np.random.default_rng(1).integers(0, 100, (2, 8, 16))
        if dtype[0] != "u":
            numbers -= 50
        old, tile = numbers.astype(dtype)
        view = pinned(old)
        combine = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
                   "xor": np.bitwise_xor}[operation]  # fmt: skip
        made = view.as_tensor_map((8, 16))
        kernel("reduce_" + operation)[1, 32, None, tile.nbytes](
            made, 0, 0, tile.nbytes, pinned(tile)
        )
        Device().sync()
        assert np.asarray(view).tolist() == combine(old, tile).tolist()

    def test_prefetches_change_nothing(self) -> None:
        view = pinned(np.ones((16, 16), "f4"))
        kernel("prefetch")[1, 1](view.as_tensor_map((4, 4)))
        Device().sync()
        assert (np.asarray(view) == 1).all()


@pytest.mark.simulator_only(reason="what it says is the simulated device's")
@pytest.mark.parametrize(
    ("change", "message"),
    [("made = bytes(128)", "a tensor map that cuTensorMapEncode didn't make"),
     ("made = view.reshape(-1).as_tensor_map([16])", "a tensor map of another number of dimens"),
     ("made = cudacore.TensorMapDescriptor.from_im2col(cube, [0], [0], 4, 4); name = 'load3'",
      "copies a tile by a tensor map for im2col"),
     ("at = 1", "a place in a row that is not a multiple of 16 bytes"),
     ("start = 64", "128")],
    ids=["bytes", "rank", "mode", "coordinate", "shared"],
)  # fmt: skip
def test_faults(change: str, message: str) -> None:
    """Each ends the context, so each has a process of its own."""
    said = run_cleanly(
        f"""
import cudacore, numpy, sys
sys.path.insert(0, {str(__file__.rpartition("/")[0])!r})
from test_tensor_copies import CODE
device = cudacore.Device()
device.set_current()
view = device.allocate(4096).view("f4", (32, 32))
cube = device.allocate(4096).view("f4", (16, 16, 4))
made = view.as_tensor_map((4, 16))
name, at, start = "load2", 0, 0
program = cudacore.Program(CODE, "c++").compile()
{change}
out = cudacore.LegacyPinnedMemoryResource().allocate(4096)
try:
    program.get_kernel(name)[1, 32, None, 4096](
        made, at, 0, 0, 0, 0, 0, 0, 0, 256, start, 4096, out)
    device.sync()
except cudacore.CUDAError as error:
    print(error)
"""
    )
    assert message in said
