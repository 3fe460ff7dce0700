# SPDX-License-Identifier: Apache-2.0
"""Making and shaping tiles, and matrix products: what they emit and what they refuse."""

import operator
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._value import Constant, Slice
from tile_scope import Kernel


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


def test_arange(kernel: Kernel) -> None:
    kernel(ct.arange, 4, dtype=ct.int32)
    kernel(ct.arange, 4, dtype=ct.float16, start=1, step=2)
    assert kernel.lines == [
        "%0 = iota : i32[4]",
        "%1 = iota : i32[4]",
        "%2 = cast %1 : f16[4]",
        "%3 = const {value = 2.0e0} : f16[4]",
        "%4 = mul %2, %3 : f16[4]",
        "%5 = const {value = 1.0e0} : f16[4]",
        "%6 = add %4, %5 : f16[4]",
    ]
    with pytest.raises(ct.TileTypeError, match="Result tile shape must be power of 2, got 6"):
        kernel(ct.arange, 6, dtype=ct.int32)


def test_full(kernel: Kernel) -> None:
    kernel(ct.full, (2, 4), 3, ct.uint8)
    kernel(ct.ones, 4, ct.bool_)
    kernel(ct.zeros, (4,), ct.float8_e8m0fnu)
    kernel(ct.full, (2, 2), kernel.tile(ct.int32), ct.float32)
    assert kernel.lines == [
        "%0 = const {value = 3} : u8[2,4]",
        "%1 = const {value = true} : i1[4]",
        f"%2 = const {{value = {2.0**-127!r}}} : e8m0[4]",
        "%4 = cast %3 : f32",
        "%5 = broadcast %4 : f32[2,2]",
    ]
    with pytest.raises(ct.TileTypeError, match="Expected a scalar or a 0D tile"):
        kernel(ct.full, (4,), kernel.tile(ct.int32, (4,)), ct.int32)
    with pytest.raises(ct.TileTypeError, match="is not a power of two"):
        kernel(ct.zeros, (3,), ct.int32)


def test_astile(kernel: Kernel) -> None:
    n = kernel.tile(ct.int32)
    assert kernel(ct.astile, ((1, n), (1, 1)), dtype=ct.float32).shape == (2, 2)
    assert kernel(ct.astile, 3, dtype=ct.float32) == Constant(3.0, ct.float32)
    kernel(ct.astile, (7, 7, 7, 7), dtype=ct.int8)
    assert kernel.lines[-1].endswith("const {value = 7} : i8[4]")
    for value, message in [
        ((), "Tuple length 0 at value is not a power of 2"),
        ((1, None), r"Expected scalar elements at value\[1\]"),
        ((1, (kernel.tile(ct.int32, (2,)), 1)), r"Expected scalar elements at value\[1\]\[0\]|non"),
        (((1, 2), 3), "Tuple has non-uniform inner shapes at value"),
        (None, r"Expected a scalar or \(possibly nested\) tuple of scalars"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.astile, value, dtype=ct.int32)


def test_cat(kernel: Kernel) -> None:
    a, b = kernel.tile(ct.int8, (4, 2)), kernel.tile(ct.int8, (4, 2))
    result = kernel(ct.cat, (a, b), -1)
    assert kernel.lines == ["%2 = cat %0, %1 {axis = 1} : i8[4,4]"]
    assert result.shape == (4, 4)
    assert kernel(ct.cat, (a,), 0) == a
    for tiles, axis, message in [
        ((), 0, r"cat\(\) received an empty tuple"),
        ((a, a, a, a), 0, r"cat\(\) supports at most 2 tiles, got 4"),
        ((a, kernel.tile(ct.int8, (2, 2))), 0, "Result tile shape must be power of 2"),
        (
            (a, kernel.tile(ct.int8, (4, 4))),
            0,
            "Expected tiles to have the same shape for non axis",
        ),
        ((a, kernel.tile(ct.int8, (4,))), 0, "Expected tiles to have the same rank"),
        ((a, kernel.tile(ct.int16, (4, 2))), 0, "Expected tiles to have the same dtype"),
        ((a, b), 2, "Axis 2 is out of range"),
        ((a, None), 0, "Expected tuple of Tile, got a None"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.cat, tiles, axis)


def test_shapes(kernel: Kernel) -> None:
    x, s = kernel.tile(ct.int8, (4, 2)), kernel.tile(ct.int8)
    kernel(ct.reshape, x, (2, -1))
    kernel(ct.expand_dims, x, -1)
    kernel(ct.broadcast_to, s, (4,))
    kernel(ct.broadcast_to, x, (8, 4, 2))
    kernel(ct.permute, x, (1, 0))
    kernel.method(x, "transpose")
    kernel.method(kernel.tile(ct.int8, (1, 1)), "item")
    assert kernel(ct.permute, x, (0, 1)) == x
    assert kernel(ct.reshape, x, (4, 2)) == x
    assert kernel.lines == [
        "%2 = reshape %0 : i8[2,4]",
        "%3 = reshape %0 : i8[4,2,1]",
        "%4 = broadcast %1 : i8[4]",
        "%5 = reshape %0 : i8[1,4,2]",
        "%6 = broadcast %5 : i8[8,4,2]",
        "%7 = permute %0 {axes = (1, 0)} : i8[2,4]",
        "%8 = permute %0 {axes = (1, 0)} : i8[2,4]",
        "%10 = reshape %9 : i8",
    ]


def test_refused_shapes(kernel: Kernel) -> None:
    x, v, c = (kernel.tile(ct.int8, shape) for shape in ((4, 2), (2,), (2, 2, 2)))
    for function, arguments, message in [
        (ct.reshape, (x, (3, -1)), r"Cannot reshape \(4, 2\) to \(3, -1\)"),
        (ct.reshape, (x, (4,)), r"Cannot reshape \(4, 2\) to \(4,\)"),
        (ct.reshape, (x, (-1, -1)), "Only one dimension can be -1"),
        (ct.reshape, (x, (-2, 4)), "Dimension can only be -1 or non-negative"),
        (ct.reshape, (x, (kernel.tile(ct.int32), 2)), "element #0 is not constant"),
        (ct.broadcast_to, (v, (2, 4)), r"Shape \(2,\) is not broadcastable to \(2, 4\)"),
        (ct.permute, (x, (0,)), "Num axes must match input's rank: 1 vs 2"),
        (ct.permute, (x, (0, -2)), "Repeated axis #1: -2"),
        (ct.transpose, (v,), "Cannot transpose a tile with fewer than 2 dimensions"),
        (ct.transpose, (c,), "`axes` must be specified for tile with more than 2 dimensions"),
        (ct.transpose, (x, 0), "transpose axes must either both be specified or both be None"),
        (ct.Tile.item, (v,), r"Cannot reshape \(2,\) to \(\)"),
        (ct.expand_dims, (x, 3), "Axis 3 is out of range for rank 3"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(function, *arguments)


ALL = Slice(Constant(None), Constant(None), Constant(None))


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        (None, (1, 4, 2)),
        ((ALL, None), (4, 1, 2)),
        ((Ellipsis, None), (4, 2, 1)),
        ((None, Ellipsis, None), (1, 4, 2, 1)),
        ((ALL, None, Ellipsis), (4, 1, 2)),
        ((Ellipsis, None, ALL), (4, 1, 2)),
        ((ALL, None, ALL, None), (4, 1, 2, 1)),
    ],
)
def test_subscripts(kernel: Kernel, key: Any, shape: Any) -> None:
    assert kernel.item(kernel.tile(ct.int8, (4, 2)), key).shape == shape


def test_refused_subscripts(kernel: Kernel) -> None:
    x = kernel.tile(ct.int8, (4, 2))
    for key, message in [
        (0, "Directly indexing a tile is not supported"),
        ((None, 1), "Directly indexing a tile is not supported"),
        ((ALL, ALL, ALL), "Tile is 2-dimensional, but 3 were indexed"),
        ((Ellipsis, Ellipsis), "Only one ellipsis is allowed"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel.item(x, key)


def test_blocks(kernel: Kernel) -> None:
    x, n = kernel.tile(ct.int8, (8, 4)), kernel.tile(ct.int64)
    part = kernel.tile(ct.int8, (2, 4))
    kernel(ct.extract, x, (n, 0), (2, 4))
    kernel.method(x, "extract", (7, 3), ())
    kernel(ct.insert, x, (3, 0), part)
    kernel(ct.insert, x, (3, 0), Constant(1, ct.int8))
    assert kernel.lines == [
        "%3 = cast %1 : i32",
        "%4 = extract %0, index(%3, 0) : i8[2,4]",
        "%5 = extract %0, index(7, 3) : i8[1,1]",
        "%6 = reshape %5 : i8",
        "%7 = insert %0, %2, index(3, 0) : i8[8,4]",
        "%8 = const {value = 1} : i8[1,1]",
        "%9 = insert %0, %8, index(3, 0) : i8[8,4]",
    ]
    assert kernel(ct.extract, x, (0, 0), (8, 4)) == x


def test_refused_blocks(kernel: Kernel) -> None:
    x = kernel.tile(ct.int8, (8, 4))
    for function, arguments, message in [
        (ct.extract, (x, (4, 0), (2, 4)), "Index 4 out of bounds at dimension #0"),
        (ct.extract, (x, (-1, 0), (2, 4)), "Index -1 out of bounds at dimension #0"),
        (ct.extract, (x, (0,), (2, 4)), "Index size 1 does not match the tile rank 2"),
        (ct.extract, (x, (0, 0), (2, 8)), "not divisible by result shape .* at dimension #1"),
        (ct.insert, (x, (0, 0), kernel.tile(ct.int16, (2, 2))), "Cannot insert a tile of dtype"),
        (ct.insert, (x, (0, 0), kernel.tile(ct.int8, (2,))), "does not match the tile rank"),
        (ct.insert, (x, (0, 0), kernel.tile(ct.int8, (2, 8))), "not divisible by value shape"),
        (ct.insert, (x, (0, 2), kernel.tile(ct.int8, (2, 2))), "out of bounds"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(function, *arguments)


def test_mma(kernel: Kernel) -> None:
    a, b, c = (kernel.tile(ct.bfloat16, (16, 32)), kernel.tile(ct.bfloat16, (32, 8)), None)
    c = kernel.tile(ct.float32, (16, 8))
    kernel(ct.mma, a, b, c)
    assert kernel.lines == ["%3 = mma %0, %1, %2 : f32[16,8]"]


def test_leading_axes_of_mma_broadcast(kernel: Kernel) -> None:
    a, b = kernel.tile(ct.float16, (16, 32)), kernel.tile(ct.float16, (2, 4, 32, 8))
    c = kernel.tile(ct.float16, (2, 4, 16, 8))
    kernel(ct.mma, a, b, c)
    assert kernel.lines == [
        "%3 = reshape %0 : f16[1,1,16,32]",
        "%4 = broadcast %3 : f16[2,4,16,32]",
        "%5 = reshape %4 : f16[8,16,32]",
        "%6 = reshape %1 : f16[8,32,8]",
        "%7 = reshape %2 : f16[8,16,8]",
        "%8 = mma %5, %6, %7 : f16[8,16,8]",
        "%9 = reshape %8 : f16[2,4,16,8]",
    ]


def test_matmul(kernel: Kernel) -> None:
    a, v = kernel.tile(ct.float16, (16, 32)), kernel.tile(ct.float32, (32,))
    result = kernel(operator.matmul, a, v)
    assert kernel.lines == [
        "%2 = cast %0 : f32[16,32]",
        "%3 = reshape %1 : f32[32,1]",
        "%4 = const {value = 0.0e0} : f32[16,1]",
        "%5 = mma %2, %3, %4 : f32[16,1]",
        "%6 = reshape %5 : f32[16]",
    ]
    assert (result.dtype, result.shape) == (ct.float32, (16,))
    narrow = kernel(ct.matmul, a, kernel.tile(ct.float16, (32, 8)))
    assert (narrow.dtype, narrow.shape) == (ct.float16, (16, 8))


def test_refused_products(kernel: Kernel) -> None:
    a, b = kernel.tile(ct.float16, (16, 32)), kernel.tile(ct.float16, (32, 8))
    c = kernel.tile(ct.float32, (16, 8))
    for function, arguments, options, message in [
        (ct.mma, (a, a, c), {}, "Incompatible shapes for matrix mul on tiles: .* 32 and 16 long"),
        (ct.mma, (a, b, a), {}, r"Expect acc shape to be \(16, 8\), got \(16, 32\)"),
        (ct.mma, (kernel.tile(ct.float16, (32,)), b, c), {}, "`x` to be at least 2D"),
        (ct.mma, (a, b, c), {"use_fast_acc": True}, "use_fast_acc is only supported for fp8"),
        (ct.mma, (a, kernel.tile(ct.bfloat16, (32, 8)), c), {}, "must have the same dtype"),
        (ct.mma, (a, b, kernel.tile(ct.float64, (16, 8))), {}, "Unsupported acc dtype float64"),
        (ct.matmul, (a, 2), {}, "to be at least 1D, got a scalar"),
        (ct.matmul, (a, kernel.tile(ct.bfloat16, (32, 8))), {}, "Implicit promotion of .* and"),
        (
            ct.matmul,
            (kernel.tile(ct.float16, (2, 16, 32)), kernel.tile(ct.float16, (4, 32, 8))),
            {},
            "Incompatible shapes for matrix mul on tiles",
        ),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(function, *arguments, **options)


def test_scaled_product(kernel: Kernel) -> None:
    f8, e8 = ct.float8_e4m3fn, ct.float8_e8m0fnu
    a, sa = kernel.tile(f8, (16, 64)), kernel.tile(e8, (16, 2))
    b, sb = kernel.tile(f8, (64, 8)), kernel.tile(e8, (2, 8))
    c = kernel.tile(ct.float32, (16, 8))
    kernel(ct.mma_scaled, a, sa, b, sb, c)
    assert kernel.lines == [
        "%5 = reshape %1 : e8m0[16,2,1]",
        "%6 = cast %5 : bf16[16,2,1]",
        "%7 = broadcast %6 : bf16[16,2,32]",
        "%8 = cast %0 : bf16[16,64]",
        "%9 = reshape %8 : bf16[16,2,32]",
        "%10 = mul %9, %7 : bf16[16,2,32]",
        "%11 = reshape %10 : bf16[16,64]",
        "%12 = reshape %3 : e8m0[2,1,8]",
        "%13 = cast %12 : bf16[2,1,8]",
        "%14 = broadcast %13 : bf16[2,32,8]",
        "%15 = cast %2 : bf16[64,8]",
        "%16 = reshape %15 : bf16[2,32,8]",
        "%17 = mul %16, %14 : bf16[2,32,8]",
        "%18 = reshape %17 : bf16[64,8]",
        "%19 = mma %11, %18, %4 : f32[16,8]",
    ]
    for scale, shape, message in [
        (e8, (8, 2), "x_scale shape .* is not compatible with x shape"),
        (e8, (16, 8), r"B = K // K_s in \{32\}, got x.shape\[1\] = 64 and x_scale.shape\[1\] = 8"),
        (e8, (2,), "Expect shape of `x_scale` to be 2D or 3D"),
        (ct.bfloat16, (16, 2), "x_scale and y_scale must have the same dtype"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.mma_scaled, a, kernel.tile(scale, shape), b, sb, c)
