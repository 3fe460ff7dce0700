# SPDX-License-Identifier: Apache-2.0
"""Memory in the tile language: what loads, stores and atomics emit, and what they refuse."""

import operator
import re
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._text import Type
from cudacore.tile._value import Array, Constant, IndexSlice, List, Tile
from tile_scope import Kernel

PAD, ORDER, SCOPE = ct.PaddingMode, ct.MemoryOrder, ct.MemoryScope


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


def test_grid(kernel: Kernel) -> None:
    kernel(ct.bid, 2)
    kernel(ct.num_blocks, 0)
    assert kernel.lines == ["%0 = bid {axis = 2} : i32", "%1 = num_blocks {axis = 0} : i32"]
    for function in (ct.bid, ct.num_blocks):
        with pytest.raises(ct.TileTypeError, match="Axis must be 0, 1, or 2, but 3 was given"):
            kernel(function, 3)
    with pytest.raises(ct.TileTypeError, match="given value is not constant"):
        kernel(ct.bid, kernel.tile(ct.int32))


def test_load_and_store(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 2)
    i = kernel(ct.bid, 0)
    tile = kernel(ct.load, x, (i, 3), (1, 8), padding_mode=PAD.NEG_INF)
    kernel(ct.store, x, (i, 0), tile, check_bounds=False)
    assert kernel.lines == [
        "%4 = bid {axis = 0} : i32",
        "%5 = load %0, origin(%4, 24), shape(%1, %2), strides(%3, 1) {pad = neg_inf} : f32[1,8]",
        "store %0, %5, origin(%4, 0), shape(%1, %2), strides(%3, 1) {bounds = 0}",
    ]
    assert (tile.dtype, tile.shape) == (ct.float32, (1, 8))


def test_order_of_axes(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 3)
    for order in ("F", (0, 2, 1), (0, -1, 1)):
        kernel(ct.load, x, (1, 2, 3), (2, 4, 8), order=order)
    reverse, *others = (line.partition(", shape")[2] for line in kernel.lines)
    assert reverse == "(%3, %2, %1), strides(1, %5, %4) : f32[2,4,8]"
    assert others == ["(%1, %3, %2), strides(%4, 1, %5) : f32[2,4,8]"] * 2
    assert all("origin(2, 8, 24)" in line for line in kernel.lines)


def test_scalars(kernel: Kernel) -> None:
    x, zero = kernel.array(ct.float16, 1), kernel.array(ct.float16, 0)
    kernel(ct.load, x, 5, ())
    kernel(ct.load, zero, (), ())
    kernel(ct.store, x, (5,), 1)
    kernel(ct.store, zero, (), 1)
    assert kernel.lines == [
        "%3 = load %0, origin(5), shape(%1), strides(1) : f16[1]",
        "%4 = reshape %3 : f16",
        "%5 = const {value = 0} : i32",
        "%6 = load_at %2, %5, mask(), other() : f16",
        "%7 = const {value = 1.0e0} : f16[1]",
        "store %0, %7, origin(5), shape(%1), strides(1)",
        "%8 = const {value = 0} : i32",
        "%9 = const {value = 1.0e0} : f16",
        "store_at %2, %8, %9, mask()",
    ]


def test_indices_of_64_bits(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 1, index=ct.int64)
    i = kernel.tile(ct.int32)
    kernel(ct.load, x, i, 4)
    assert kernel.lines == [
        "%3 = cast %2 : i64",
        "%4 = const {value = 4} : i64",
        "%5 = mul %3, %4 : i64",
        "%6 = load %0, origin(%5), shape(%1), strides(1) : f32[4]",
    ]


def test_memory_order(kernel: Kernel) -> None:
    x = kernel.array(ct.int32, 1)
    orders = {"memory_order": ORDER.ACQUIRE, "memory_scope": SCOPE.DEVICE}
    kernel(ct.load, x, 0, 4, **orders)
    assert kernel.lines[0].endswith("{mem = acquire, scope = device} : i32[4]")
    for function, arguments, order, scope, message in [
        (ct.store, (1,), ORDER.ACQUIRE, SCOPE.DEVICE, "Invalid memory order for tile_store"),
        (ct.load, (4,), ORDER.RELEASE, SCOPE.DEVICE, "Invalid memory order for tile_load"),
        (ct.load, (4,), ORDER.WEAK, SCOPE.BLOCK, "cannot specify a memory scope"),
        (ct.load, (4,), ORDER.RELAXED, SCOPE.NONE, "tile_load with RELAXED memory ordering req"),
        (ct.load, (4,), ORDER.RELAXED, SCOPE.CLUSTER, "Invalid memory scope for tile_load"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(function, x, 0, *arguments, memory_order=order, memory_scope=scope)


@pytest.mark.parametrize(
    ("index", "shape", "options", "message"),
    [
        ((0,), (4, 4), {}, "Index size 1 does not match the array rank 2"),
        ((0, 0), (4,), {}, "Expected shape length to be 2, got 1"),
        ((0, 0), (4, 3), {}, r"Dimension #1 of shape \(4, 3\) is not a power of two; .* 2 and 4"),
        ((0, 0), (4, 0), {}, r"Dimension #1 of shape \(4, 0\) is not positive"),
        ((0, 0), (4, 2.0), {}, "element #1 has type Tile"),
        ((0, 0.5), (4, 4), {}, "Expected a tuple of signed integers .* item #1 has type"),
        ((0, None), (4, 4), {}, "item #1 has type None"),
        ((0, 0), (4, 4), {"order": "K"}, "Expected 'C' or 'F', got 'K'"),
        ((0, 0), (4, 4), {"order": (0,)}, "Expected tuple of length 2, got 1"),
        (
            (0, 0),
            (4, 4),
            {"order": (1, -1)},
            "Axis order must be a permutation, but axis 1 is used at least twice",
        ),
        ((0, 0), (4, 4), {"order": (0, 2)}, "Axis 2 is out of range for rank 2"),
        ((0, 0), (4, 4), {"padding_mode": 0}, "Expected PaddingMode"),
        ((0, 0), (4, 4), {"padding_mode": PAD.NAN}, "NAN is for floats only, but got int32"),
        ((0, 0), (4, 4), {"allow_tma": 1}, "Expected a boolean constant"),
        ((0, 0), (4, 4), {"check_bounds": None}, "Expected a boolean constant"),
    ],
)
def test_refused_loads(kernel: Kernel, index: Any, shape: Any, options: Any, message: str) -> None:
    with pytest.raises(ct.TileTypeError, match=message):
        kernel(ct.load, kernel.array(ct.int32, 2), index, shape, **options)


def test_refused_arguments(kernel: Kernel) -> None:
    x = kernel.array(ct.int8, 1)
    with pytest.raises(ct.TileValueError, match="Latency must be between 1 and 10, got 11"):
        kernel(ct.load, x, 0, 4, latency=11)
    with pytest.raises(ct.TileTypeError, match="Expected an array, but given value has type"):
        kernel(ct.load, kernel.tile(ct.int32), 0, 4)
    with pytest.raises(ct.TileTypeError, match="element #0 is not constant"):
        kernel(ct.load, x, 0, (kernel.tile(ct.int32),))
    with pytest.raises(ct.TileTypeError, match="unsigned|signed integers"):
        kernel(ct.load, x, kernel.tile(ct.uint32), 4)
    with pytest.raises(ct.TileTypeError, match="incompatible with array's dtype: cannot implicit"):
        kernel(ct.store, x, 0, kernel.tile(ct.int32, (4,)))
    with pytest.raises(ct.TileValueError, match="128 is out of range of int8"):
        kernel(ct.store, x, 0, 128)
    with pytest.raises(ct.TileTypeError, match="Stored tile has rank 2"):
        kernel(ct.store, x, 0, kernel.tile(ct.int8, (4, 4)))


def test_count_of_tiles(kernel: Kernel) -> None:
    known = kernel.array(ct.int8, 2, shape=(42, 64))
    assert kernel(ct.num_tiles, known, 0, (4, 8)) == Constant(11, ct.int32)
    assert kernel(ct.num_tiles, known, -1, (4, 8), "F") == Constant(6, ct.int32)
    x = kernel.array(ct.int8, 1, index=ct.int64)
    kernel(ct.num_tiles, x, 0, 8)
    assert re.fullmatch(r"%\d+ = cast %\d+ : i32", kernel.lines[-1])
    with pytest.raises(ct.TileTypeError, match="Axis 1 is out of range for rank 1"):
        kernel(ct.num_tiles, x, 1, 8)


def test_assumptions(kernel: Kernel) -> None:
    n = kernel.tile(ct.int32)
    kernel(ct.assume_divisible_by, n, 16)
    assert kernel.lines == ["%1 = assume_div %0 {by = 16} : i32"]
    assert kernel(ct.assume_divisible_by, 32, 16) == Constant(32)
    assert kernel(ct.assume_divisible_by, n, 1) == n
    for arguments, message in [
        ((8, 16), "8 is not divisible by 16: `assume_divisible_by` contradicts a known"),
        ((n, 0), "requires a positive divisor, got 0"),
        ((kernel.tile(ct.float32), 2), "requires an integer scalar, got Tile"),
        ((kernel.tile(ct.int32, (4,)), 2), "requires an integer scalar, got Tile"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.assume_divisible_by, *arguments)


def test_gather_of_one_axis_needs_no_product(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 1)
    i = kernel.tile(ct.int32, (8,))
    kernel(ct.gather, x, i, padding_value=1)
    kernel(ct.gather, x, (i,), check_bounds=False)
    assert kernel.lines == [
        "%3 = cast %2 : u32[8]",
        "%4 = cast %1 : u32",
        "%5 = broadcast %4 : u32[8]",
        "%6 = lt %3, %5 : i1[8]",
        "%7 = const {value = 1.0e0} : f32[8]",
        "%8 = load_at %0, %2, mask(%6), other(%7) : f32[8]",
        "%9 = load_at %0, %2, mask(), other() : f32[8]",
    ]


def test_offsets_of_several_axes_have_64_bits(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 2)
    i, j = kernel.tile(ct.int32, (4, 1)), kernel.tile(ct.int16, (8,))
    kernel(ct.scatter, x, (i, j), 0.5, check_bounds=False)
    assert kernel.lines == [
        "%6 = cast %4 : i64[4,1]",
        "%7 = cast %3 : i64",
        "%8 = broadcast %7 : i64[4,1]",
        "%9 = mul %6, %8 : i64[4,1]",
        "%10 = cast %5 : i64[8]",
        "%11 = broadcast %9 : i64[4,8]",
        "%12 = reshape %10 : i64[1,8]",
        "%13 = broadcast %12 : i64[4,8]",
        "%14 = add %11, %13 : i64[4,8]",
        "%15 = const {value = 0.5e0} : f32[4,8]",
        "store_at %0, %14, %15, mask()",
    ]


def test_masks(kernel: Kernel) -> None:
    x = kernel.array(ct.int32, 1, shape=(100,))
    i, m = kernel.tile(ct.int32, (8,)), kernel.tile(ct.bool_, (1,))
    kernel(ct.gather, x, i, mask=m, check_bounds=False)
    assert kernel.lines[0] == "%3 = broadcast %2 : i1[8]"
    assert "mask(%3)" in kernel.lines[-1]
    kernel(ct.gather, x, 99)
    assert kernel.lines[-1].endswith("mask(), other() : i32")
    kernel(ct.gather, x, -1)
    assert any(line.endswith("const {value = false} : i1") for line in kernel.lines)
    for options, message in [
        ({"mask": i}, "Custom mask must have boolean dtype, but got int32"),
        ({"mask": kernel.tile(ct.bool_, (4,))}, r"shape \(4,\) is not broadcastable to the index"),
        ({"padding_value": kernel.tile(ct.int32, (4,))}, r"Padding shape \(4,\) is not broadcasta"),
        ({"padding_value": 1.5}, "Invalid padding value: cannot implicitly cast 1.5 to int32"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.gather, x, i, **options)


def test_refused_gathers(kernel: Kernel) -> None:
    x, y = kernel.array(ct.int8, 1), kernel.array(ct.int8, 2)
    i = kernel.tile(ct.int32, (8,))
    for arguments, message in [
        ((y, i), "For array of rank 2, `indices` must be a tuple of length 2. However"),
        ((x, (i, i)), "tuple of length 1, or a single scalar/tile. However"),
        ((x, kernel.tile(ct.float32, (8,))), "Expected a tuple of integer scalars/tiles"),
        ((y, (i, kernel.tile(ct.int32, (4,)))), r"Index shapes \(8,\), \(4,\) are not broadcast"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.gather, *arguments)
    with pytest.raises(ct.TileValueError, match="Invalid padding value: 128 is out of range"):
        kernel(ct.gather, x, i, padding_value=128)
    with pytest.raises(ct.TileTypeError, match=r"Value shape \(4,\) is not broadcastable"):
        kernel(ct.scatter, x, i, kernel.tile(ct.int8, (4,)))
    with pytest.raises(ct.TileTypeError, match="incompatible with array's dtype"):
        kernel(ct.scatter, x, i, 1.5)


@pytest.mark.parametrize("name", ["xchg", "add", "max", "min", "and", "or", "xor"])
def test_atomics(kernel: Kernel, name: str) -> None:
    x = kernel.array(ct.uint32, 1, shape=(8,))
    i = kernel.tile(ct.int32, (8,))
    update = kernel.tile(ct.uint32)
    result = kernel(getattr(ct, f"atomic_{name}"), x, i, update, check_bounds=False)
    assert kernel.lines == [
        "%3 = broadcast %2 : u32[8]",
        f"%4 = atomic %0, %1, %3, mask() {{op = {name}, mem = acq_rel, scope = device}} : u32[8]",
    ]
    assert (result.dtype, result.shape) == (ct.uint32, (8,))


def test_compare_and_swap(kernel: Kernel) -> None:
    x = kernel.array(ct.float64, 1, shape=(8,))
    kernel(ct.atomic_cas, x, 3, 0, 1, memory_order=ORDER.RELAXED, memory_scope=SCOPE.SYS)
    assert kernel.lines[-1] == (
        "%4 = atomic_cas %0, %1, %2, %3, mask() {mem = relaxed, scope = sys} : f64"
    )


def test_refused_atomics(kernel: Kernel) -> None:
    x, h = kernel.array(ct.int32, 1), kernel.array(ct.int16, 1)
    f = kernel.array(ct.float32, 1)
    for function, arguments, options, message in [
        (ct.atomic_add, (h, 0, 1), {}, "Unsupported array dtype: int16"),
        (ct.atomic_max, (f, 0, 1), {}, "Unsupported array dtype: float32"),
        (ct.atomic_cas, (h, 0, 0, 1), {}, "Unsupported array dtype: int16"),
        (ct.atomic_and, (x, 0, kernel.tile(ct.int64)), {}, "Bitwise atomic read-modify-write op"),
        (ct.atomic_add, (x, 0, 1.5), {}, "Update is incompatible with the target dtype"),
        (ct.atomic_add, (x, 0, kernel.tile(ct.int32, (4,))), {}, r"Update shape \(4,\) is not"),
        (
            ct.atomic_add,
            (x, 0, 1),
            {"memory_order": ORDER.WEAK},
            "Invalid memory order for tile_atomic_rmw",
        ),
        (
            ct.atomic_cas,
            (x, 0, 1, 1),
            {"memory_order": ORDER.WEAK},
            "Invalid memory order for tile_atomic_cas",
        ),
        (
            ct.atomic_add,
            (x, 0, 1),
            {"memory_scope": SCOPE.NONE},
            "tile_atomic_rmw with ACQ_REL memory ordering requires a memory scope",
        ),
        (
            ct.atomic_cas,
            (x, 0, 1, 1),
            {"memory_scope": SCOPE.NONE},
            "tile_atomic_cas with ACQ_REL memory ordering requires a memory scope",
        ),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(function, *arguments, **options)


def test_advanced_indexing(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 2, shape=(64, 64))
    rows = kernel.tile(ct.int32, (4,))
    dense = kernel(ct.Slice, 0, 8)
    assert dense == IndexSlice(Constant(0), 8)
    tile = kernel(ct.load_advanced_indexing, x, (rows, dense), padding_mode=PAD.ZERO)
    assert tile.shape == (4, 8)
    assert "other(" in kernel.lines[-1]
    kernel(ct.store_advanced_indexing, x, (rows, dense), tile)
    assert kernel.lines[-1].startswith("store_at")


def test_refused_advanced_indexing(kernel: Kernel) -> None:
    x, v = kernel.array(ct.float32, 2), kernel.array(ct.float32, 1)
    i, j = kernel.tile(ct.int32, (4,)), kernel.tile(ct.int32, (4, 4))
    s = kernel(ct.Slice, 0, 8)
    for array, indices, message in [
        (v, (i,), r"requires a 2D or higher-rank array; use ct.gather\(\) for 1D arrays"),
        (x, (j, s), "must be a 1D integer tile"),
        (x, (s, s), "exactly one index must be a 1D integer Tile"),
        (x, (i, i), "exactly one index must be a 1D integer Tile .* found 2 at dims"),
        (x, (i,), "does not match array rank 2"),
        (x, (i, kernel(ct.Slice, 0, 6)), "Index at dim 1 has size 6; must be a power of two"),
        (x, (i, kernel(ct.Slice, 0, 0)), "must be a positive integer, got 0"),
        (x, (i, None), "must be a 1D integer Tile .* or .*Slice"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.load_advanced_indexing, array, indices)
    with pytest.raises(ct.TileTypeError, match=r"Tile shape \(4,\) does not match the shape impl"):
        kernel(ct.store_advanced_indexing, x, (i, s), kernel.tile(ct.float32, (4,)))
    with pytest.raises(ct.TileTypeError, match="compile-time constant"):
        kernel(ct.Slice, 0, kernel.tile(ct.int32))
    with pytest.raises(ct.TileTypeError, match="Expected a signed integer scalar"):
        kernel(ct.Slice, 0.5, 4)


def test_tiled_views(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 2, shape=(64, 64))
    view = kernel.method(x, "tiled_view", (2, 4), traversal_steps=(1, 3), padding_mode=PAD.ZERO)
    assert kernel.attribute(view, "tile_shape") == (Constant(2), Constant(4))
    assert kernel.attribute(view, "traversal_steps") == (Constant(1), Constant(3))
    assert kernel.method(view, "num_tiles", 1) == Constant(22, ct.int32)
    kernel.method(view, "load", (5, 2))
    kernel.method(view, "store", (5, 2), 1)
    kernel.method(view, "atomic_store_add", (0, 0), 1)
    loaded, _, stored = kernel.lines[:3]
    assert (
        loaded
        == "%2 = load %0, origin(5, 6), shape(64, 64), strides(%1, 1) {pad = zero} : f32[2,4]"
    )
    assert stored == "store %0, %3, origin(5, 6), shape(64, 64), strides(%1, 1)"
    assert kernel.lines[-1].endswith("{op = add, mem = relaxed, scope = device}")
    assert kernel.lines[-1].startswith("atomic %0")


def test_refused_views(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 1)
    with pytest.raises(ct.TileTypeError, match="Expected shape length to be 1, got 2"):
        kernel.method(x, "tiled_view", (2, 2))
    with pytest.raises(ct.TileTypeError, match="Expected traversal_steps length to be 1, got 2"):
        kernel.method(x, "tiled_view", 4, traversal_steps=(1, 1))
    with pytest.raises(ct.TileTypeError, match="of traversal_steps .* is not positive"):
        kernel.method(x, "tiled_view", 4, traversal_steps=(0,))
    view = kernel.method(x, "tiled_view", 4)
    with pytest.raises(ct.TileTypeError, match=r"Tile shape \(8,\) is not broadcastable"):
        kernel.method(view, "store", 0, kernel.tile(ct.float32, (8,)))
    with pytest.raises(ct.TileTypeError, match=r"Update shape \(8,\) is not broadcastable"):
        kernel.method(view, "atomic_store_add", 0, kernel.tile(ct.float32, (8,)))
    with pytest.raises(ct.TileTypeError, match="Unsupported tiled view dtype: float32"):
        kernel.method(view, "atomic_store_and", 0, 1)
    with pytest.raises(ct.TileTypeError, match="does not match the tiled view rank 1"):
        kernel.method(view, "load", (0, 0))


def test_raw_memory(kernel: Kernel) -> None:
    memory = kernel.method(kernel.array(ct.int32, 2), "get_raw_memory")
    assert kernel.attribute(memory, "dtype") == Constant(ct.int32)
    i, m = kernel.tile(ct.uint8, (4,)), kernel.tile(ct.bool_, (4,))
    kernel.method(memory, "load_offset", i, mask=m, padding_value=None)
    kernel.method(memory, "store_offset", 7, 1)
    kernel.method(memory, "atomic_xor_offset", 7, Constant(1, ct.int32))
    kernel.method(memory, "atomic_cas_offset", 7, 0, 1)
    assert kernel.lines == [
        "%6 = cast %4 : i32[4]",
        "%7 = load_at %0, %6, mask(%5), other() : i32[4]",
        "%8 = const {value = 7} : i32",
        "%9 = const {value = 1} : i32",
        "store_at %0, %8, %9, mask()",
        "%10 = const {value = 7} : i32",
        "%11 = const {value = 1} : i32",
        "%12 = atomic %0, %10, %11, mask() {op = xor, mem = acq_rel, scope = device} : i32",
        "%13 = const {value = 7} : i32",
        "%14 = const {value = 0} : i32",
        "%15 = const {value = 1} : i32",
        "%16 = atomic_cas %0, %13, %14, %15, mask() {mem = acq_rel, scope = device} : i32",
    ]
    with pytest.raises(ct.TileTypeError, match="Offsets must be integers"):
        kernel.method(memory, "load_offset", 1.5)
    with pytest.raises(ct.TileTypeError, match="is not broadcastable"):
        kernel.method(memory, "load_offset", i, mask=kernel.tile(ct.bool_, (8,)))
    with pytest.raises(ct.TileTypeError, match="incompatible with RawArrayMemory's dtype"):
        kernel.method(memory, "store_offset", i, 1.5)


def test_slices(kernel: Kernel) -> None:
    x = kernel.array(ct.float32, 2)
    n = kernel.tile(ct.int32)
    part = kernel.method(x, "slice", 0, n, kernel(operator.add, n, 4))
    head = kernel.method(x, "slice", -1, 0, 8)
    assert kernel.lines == [
        "%5 = const {value = 4} : i32",
        "%6 = add %4, %5 : i32",
        "%7 = sub %6, %4 : i32",
        "%8 = cast %4 : i64",
        "%9 = cast %3 : i64",
        "%10 = mul %8, %9 : i64",
        "%11 = add %0, %10 : ptr<f32>",
    ]
    assert str(part.pointer) == "%11"
    assert part.shape[1] == x.shape[1]
    assert (head.pointer, head.shape) == (x.pointer, (x.shape[0], Constant(8, ct.int32)))
    for arguments, message in [
        ((2, 0, 4), "Axis 2 is out of range for rank 2'"),
        ((0, -1, 4), "Slice start must be non-negative"),
        ((0, 0, -4), "Slice stop must be non-negative"),
        ((0, 5, 3), "Slice stop must be greater than or equal to start"),
        ((0, 1.0, 3), "Expected a signed integer scalar"),
        ((0, kernel.tile(ct.uint32), 3), "Expected a signed integer scalar"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel.method(x, "slice", *arguments)


def test_lists(kernel: Kernel) -> None:
    table = kernel.builder.parameter(Type("i64", is_pointer=True))
    length = kernel.tile(ct.int32)
    arrays = List(table, length, ct.float16, 1, ct.int32, (None,), (1,), 16)
    array = kernel.item(arrays, 2)
    assert isinstance(array, Array)
    assert kernel.lines == [
        "%2 = const {value = 6} : i64",
        "%3 = load_at %0, %2, mask(), other() : i64",
        "%4 = bitcast %3 : ptr<f16>",
        "%5 = assume_div %4 {by = 16} : ptr<f16>",
        "%6 = const {value = 7} : i64",
        "%7 = load_at %0, %6, mask(), other() : i64",
        "%8 = cast %7 : i32",
    ]
    assert array.strides == (Constant(1, ct.int32),)
    assert kernel(len, arrays) == length
    with pytest.raises(ct.TileTypeError, match="Index must be an integer scalar or 0D Tile"):
        kernel.item(arrays, 1.5)


def test_attributes_of_arrays(kernel: Kernel) -> None:
    x = kernel.array(ct.float16, 2)
    assert kernel.attribute(x, "dtype") == Constant(ct.float16)
    assert kernel.attribute(x, "ndim") == Constant(2)
    assert kernel.attribute(x, "shape") == x.shape
    assert kernel.attribute(x, "strides") == x.strides
    with pytest.raises(ct.TileTypeError, match="No such attribute 'size' for object of type Array"):
        kernel.attribute(x, "size")
    with pytest.raises(ct.TileTypeError, match="Arrays are not directly subscriptable"):
        kernel.item(x, 0)
    with pytest.raises(ct.TileTypeError, match="Arrays do not support item assignment. Use store"):
        kernel(operator.setitem, x, 0, 1)


def test_attributes_of_tiles(kernel: Kernel) -> None:
    t = kernel.tile(ct.float16, (4, 8))
    assert kernel.attribute(t, "shape") == (Constant(4), Constant(8))
    assert kernel.attribute(t, "ndim") == Constant(2)
    assert kernel.attribute(Constant(1), "dtype") == Constant(ct.int32)
    assert kernel.attribute(Constant(ct.float16), "bitwidth") == Constant(16)
    with pytest.raises(ct.TileTypeError, match="No such attribute 'T'"):
        kernel.attribute(t, "T")
    with pytest.raises(ct.TileTypeError, match="Tiles are immutable"):
        kernel(operator.setitem, t, 0, 1)
    assert isinstance(kernel.method(t, "reshape", (32,)), Tile)
