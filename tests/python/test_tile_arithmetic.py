# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the tile language: what it emits, what it folds, what it refuses."""

import math
import operator
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._value import Constant
from tile_scope import Kernel

RM = ct.RoundingMode


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (operator.add, "add"),
        (ct.add, "add"),
        (operator.sub, "sub"),
        (ct.mul, "mul"),
        (operator.truediv, "div"),
        (ct.truediv, "div"),
        (ct.floordiv, "floordiv"),
        (operator.mod, "mod"),
        (ct.mod, "mod"),
        (ct.atan2, "atan2"),
        (min, "min"),
        (ct.minimum, "min"),
        (max, "max"),
        (ct.maximum, "max"),
    ],
)
def test_binary(kernel: Kernel, function: Any, op: str) -> None:
    x, y = kernel.tile(ct.float32, (8,)), kernel.tile(ct.float32, (8,))
    result = kernel(function, x, y)
    assert kernel.lines == [f"%2 = {op} %0, %1 : f32[8]"]
    assert (result.dtype, result.shape) == (ct.float32, (8,))


def test_operands_promote_and_broadcast(kernel: Kernel) -> None:
    x, y = kernel.tile(ct.int32, (4, 1)), kernel.tile(ct.float16, (8,))
    result = kernel(operator.add, x, y)
    assert kernel.lines == [
        "%2 = cast %0 : f16[4,1]",
        "%3 = broadcast %2 : f16[4,8]",
        "%4 = reshape %1 : f16[1,8]",
        "%5 = broadcast %4 : f16[4,8]",
        "%6 = add %3, %5 : f16[4,8]",
    ]
    assert (result.dtype, result.shape) == (ct.float16, (4, 8))


def test_constants_take_the_type_and_the_shape(kernel: Kernel) -> None:
    kernel(operator.mul, 2, kernel.tile(ct.bfloat16, (4,)))
    kernel(operator.truediv, kernel.tile(ct.int8), 2)
    assert kernel.lines == [
        "%1 = const {value = 2.0e0} : bf16[4]",
        "%2 = mul %1, %0 : bf16[4]",
        "%4 = cast %3 : f32",
        "%5 = const {value = 2.0e0} : f32",
        "%6 = div %4, %5 : f32",
    ]


@pytest.mark.parametrize(
    ("function", "x", "y", "result"),
    [
        (ct.add, 2**70, 1, 2**70 + 1),
        (ct.truediv, 1, 3, 1 / 3),
        (ct.floordiv, -7, 2, -4),
        (ct.mod, -7, 2, 1),
        (ct.cdiv, -7, 2, -3),
        (ct.cdiv, 9, 4, 3),
        (ct.pow, 2, 10, 1024),
        (ct.maximum, 2, 3.5, 3.5),
        (ct.bitwise_and, 6, 3, 2),
        (ct.bitwise_lshift, 1, 40, 2**40),
        (ct.less, 1, 2, True),
        (ct.equal, 1, 1.5, False),
    ],
)
def test_loose_constants_fold_at_any_precision(
    kernel: Kernel, function: Any, x: Any, y: Any, result: Any
) -> None:
    assert kernel(function, x, y) == Constant(result)
    assert kernel.lines == []


def test_typed_constants_fold_in_their_type(kernel: Kernel) -> None:
    assert kernel(operator.add, Constant(200, ct.uint8), 100 - 45) == Constant(255, ct.uint8)
    assert kernel(operator.add, Constant(200, ct.uint8), 56) == Constant(0, ct.uint8)
    third = kernel(operator.truediv, Constant(1.0, ct.float16), 3)
    assert third == Constant(0.333251953125, ct.float16)
    assert kernel(operator.lt, Constant(1, ct.int8), 2) == Constant(True, ct.bool_)
    assert kernel(operator.neg, Constant(1, ct.uint32)) == Constant(2**32 - 1, ct.uint32)
    assert kernel.lines == []


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (ct.floordiv, (1, 0), "division"),
        (ct.mod, (Constant(1, ct.int32), 0), "modulo|zero"),
        (ct.bitwise_lshift, (1, -1), "negative shift count"),
        (ct.log, (-1.0,), "math domain error|positive input"),
        (ct.exp, (1e6,), "range"),
        (ct.add, (Constant(1, ct.int8), 300), "Integer constant 300 is out of range of int8"),
    ],
)
def test_constants_that_cannot_be_folded(
    kernel: Kernel, function: Any, arguments: Any, message: str
) -> None:
    with pytest.raises(ct.TileValueError, match=message):
        kernel(function, *arguments)


def test_rounding_and_flushing(kernel: Kernel) -> None:
    x = kernel.tile(ct.float32)
    kernel(ct.add, x, x, rounding_mode=RM.RZ, flush_to_zero=True)
    kernel(ct.truediv, x, x, rounding_mode=RM.APPROX)
    kernel(ct.maximum, x, x, flush_to_zero=True, propagate_nan=True)
    kernel(ct.sqrt, x, rounding_mode=RM.RM)
    kernel(ct.exp, x, rounding_mode=RM.FULL)
    kernel(ct.tanh, x, rounding_mode=RM.APPROX)
    kernel(ct.rsqrt, x, flush_to_zero=True)
    assert kernel.lines == [
        "%1 = add %0, %0 {rm = rz, ftz = 1} : f32",
        "%2 = div %0, %0 {rm = approx} : f32",
        "%3 = max %0, %0 {ftz = 1, nan = 1} : f32",
        "%4 = sqrt %0 {rm = rm} : f32",
        "%5 = exp %0 : f32",
        "%6 = tanh %0 {rm = approx} : f32",
        "%7 = rsqrt %0 {ftz = 1} : f32",
    ]


@pytest.mark.parametrize(
    ("function", "dtype", "options", "message"),
    [
        (ct.add, ct.float32, {"rounding_mode": RM.APPROX}, "Rounding mode approx is not supported"),
        (ct.sqrt, ct.float32, {"rounding_mode": RM.FULL}, "Rounding mode full is not supported"),
        (ct.exp, ct.float32, {"rounding_mode": RM.RN}, "Rounding mode nearest_even is not supp"),
        (ct.add, ct.int32, {"rounding_mode": RM.RZ}, "only be used for unrestricted float types"),
        (
            ct.truediv,
            ct.float16,
            {"rounding_mode": RM.FULL},
            "Rounding mode full can only be used for float32 type",
        ),
        (
            ct.mul,
            ct.float64,
            {"flush_to_zero": True},
            "Flush to zero can only be used for float32 type",
        ),
        (ct.add, ct.float32, {"rounding_mode": "rz"}, "Expected RoundingMode"),
        (ct.add, ct.float32, {"flush_to_zero": 1}, "Expected a boolean constant"),
    ],
)
def test_refused_modes(
    kernel: Kernel, function: Any, dtype: Any, options: Any, message: str
) -> None:
    x = kernel.tile(dtype, (4,))
    operands = (x,) if function in (ct.sqrt, ct.exp) else (x, x)
    with pytest.raises(ct.TileTypeError, match=message):
        kernel(function, *operands, **options)


@pytest.mark.parametrize(
    ("function", "types", "message"),
    [
        (ct.add, (ct.int32, ct.uint32), "Implicit promotion of int32 and uint32 is not supported"),
        (ct.add, (ct.float16, ct.bfloat16), "Implicit promotion of float16 and bfloat16"),
        (ct.add, (ct.bool_, ct.bool_), "`add` does not support bool"),
        (ct.add, (ct.float8_e5m2, ct.float8_e5m2), "has non-arithmetic dtype float8_e5m2"),
        (ct.divmod, (ct.bool_, ct.bool_), "does not support bool"),
        (
            ct.divmod,
            (ct.float32, ct.float32),
            r"divmod\(\) is not implemented for floating point values",
        ),
        (ct.cdiv, (ct.float32, ct.float32), "for integers only"),
        (ct.atan2, (ct.int32, ct.int32), "for floats only"),
        (ct.bitwise_and, (ct.float32, ct.int32), "Bitwise operations require integers"),
        (ct.bitwise_or, (ct.int32, ct.int16), "Bitwise operands must have same data type"),
        (ct.bitwise_lshift, (ct.float32, ct.int32), "Bitwise shift requires an integer for left"),
        (ct.bitwise_rshift, (ct.int32, ct.bool_), "Bitwise shift requires an integer for right"),
        (ct.equal, (ct.uint8, ct.int8), "Implicit promotion of uint8 and int8 is not supported"),
        (ct.minimum, (ct.float8_e5m2, ct.float32), "non-arithmetic"),
    ],
)
def test_refused_types(kernel: Kernel, function: Any, types: Any, message: str) -> None:
    operands = [kernel.tile(dtype) for dtype in types]
    with pytest.raises(ct.TileTypeError, match=message):
        kernel(function, *operands)


def test_shapes_that_do_not_meet(kernel: Kernel) -> None:
    x, y = kernel.tile(ct.int32, (4, 8)), kernel.tile(ct.int32, (4,))
    with pytest.raises(ct.TileTypeError, match=r"not broadcastable: \(4, 8\), \(4,\)"):
        kernel(operator.add, x, y)


def test_errors_name_the_place(kernel: Kernel) -> None:
    with pytest.raises(ct.TileTypeError) as caught:
        kernel(ct.add, Constant("a"), 1)
    text = "Invalid argument #1 of add(): Expected a tile, but given value has type"
    assert str(caught.value).startswith(text)
    assert (caught.value.loc.filename, caught.value.loc.line) == ("kernel.py", 7)


def test_power(kernel: Kernel) -> None:
    x, n, h = kernel.tile(ct.float32), kernel.tile(ct.int32), kernel.tile(ct.float16)
    kernel(operator.pow, x, 2)
    kernel(operator.pow, n, 5)
    kernel(operator.pow, n, 0)
    kernel(ct.pow, x, 0.5)
    kernel(ct.pow, h, n)
    kernel(ct.pow, n, n)
    assert kernel.lines == [
        "%3 = mul %0, %0 : f32",
        "%4 = mul %1, %1 : i32",
        "%5 = mul %4, %4 : i32",
        "%6 = mul %1, %5 : i32",
        "%7 = const {value = 1} : i32",
        "%8 = const {value = 0.5e0} : f32",
        "%9 = pow %0, %8 : f32",
        "%10 = cast %2 : f32",
        "%11 = cast %1 : f32",
        "%12 = pow %10, %11 : f32",
        "%13 = cast %12 : f16",
        "%14 = pow %1, %1 : i32",
    ]
    with pytest.raises(ct.TileTypeError, match="An integer raised to -1 is no integer"):
        kernel(ct.pow, n, -1)


def test_cdiv(kernel: Kernel) -> None:
    kernel(ct.cdiv, kernel.tile(ct.int32), 4)
    assert kernel.lines == [
        "%1 = const {value = 4} : i32",
        "%2 = floordiv %0, %1 : i32",
        "%3 = const {value = 4} : i32",
        "%4 = mod %0, %3 : i32",
        "%5 = const {value = 0} : i32",
        "%6 = ne %4, %5 : i1",
        "%7 = cast %6 : i32",
        "%8 = add %2, %7 : i32",
    ]


@pytest.mark.parametrize(("x", "y"), [(9, 4), (8, 4), (0, 4), (-9, 4), (9, -4)])
def test_cdiv_on_the_host(x: int, y: int) -> None:
    assert ct.cdiv(x, y) == math.ceil(x / y)


def test_divmod(kernel: Kernel) -> None:
    x = kernel.tile(ct.int32)
    quotient, rest = kernel(divmod, x, x)
    assert kernel.lines == ["%1 = floordiv %0, %0 : i32", "%2 = mod %0, %0 : i32"]
    assert (str(quotient.value), str(rest.value)) == ("%1", "%2")
    assert kernel(ct.divmod, -7, 2) == (Constant(-4), Constant(1))


def test_bits(kernel: Kernel) -> None:
    x, b = kernel.tile(ct.int16, (4,)), kernel.tile(ct.bool_, (4,))
    kernel(operator.and_, x, 3)
    kernel(operator.xor, b, True)
    kernel(operator.lshift, x, 2)
    kernel(operator.rshift, x, x)
    kernel(operator.invert, b)
    kernel(ct.bitwise_not, x)
    assert kernel.lines == [
        "%2 = const {value = 3} : i16[4]",
        "%3 = and %0, %2 : i16[4]",
        "%4 = const {value = true} : i1[4]",
        "%5 = xor %1, %4 : i1[4]",
        "%6 = const {value = 2} : i16[4]",
        "%7 = shl %0, %6 : i16[4]",
        "%8 = shr %0, %0 : i16[4]",
        "%9 = not %1 : i1[4]",
        "%10 = not %0 : i16[4]",
    ]
    assert kernel(ct.bitwise_not, True) == Constant(False)
    with pytest.raises(ct.TileTypeError, match="boolean constant is not supported"):
        kernel(operator.invert, True)
    with pytest.raises(ct.TileTypeError, match="Float inputs are not supported"):
        kernel(ct.bitwise_not, kernel.tile(ct.float32))


def test_comparison(kernel: Kernel) -> None:
    x, e = kernel.tile(ct.float16, (4,)), kernel.tile(ct.float8_e5m2, (4,))
    kernel(operator.le, x, 0)
    result = kernel(ct.not_equal, e, e)
    assert kernel.lines == [
        "%2 = const {value = 0.0e0} : f16[4]",
        "%3 = le %0, %2 : i1[4]",
        "%4 = cast %1 : f32[4]",
        "%5 = cast %1 : f32[4]",
        "%6 = ne %4, %5 : i1[4]",
    ]
    assert result.dtype is ct.bool_


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "exp2",
        "log",
        "log2",
        "sqrt",
        "rsqrt",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "floor",
        "ceil",
        "abs",
    ],
)
def test_unary(kernel: Kernel, name: str) -> None:
    kernel(getattr(ct, name), kernel.tile(ct.bfloat16, (4,)))
    assert kernel.lines == [f"%1 = {name} %0 : bf16[4]"]


def test_unary_of_other_types(kernel: Kernel) -> None:
    n, u, b = kernel.tile(ct.int32), kernel.tile(ct.uint8), kernel.tile(ct.bool_)
    kernel(ct.exp, n)
    kernel(ct.negative, b)
    assert kernel(ct.abs, u) == u
    assert kernel(operator.pos, n) == n
    kernel(operator.pos, b)
    kernel(operator.not_, n)
    assert kernel.lines == [
        "%3 = cast %0 : f32",
        "%4 = exp %3 : f32",
        "%5 = cast %2 : i32",
        "%6 = neg %5 : i32",
        "%7 = cast %2 : i32",
        "%8 = const {value = 0} : i32",
        "%9 = ne %0, %8 : i1",
        "%10 = not %9 : i1",
    ]


def test_unary_constants(kernel: Kernel) -> None:
    assert kernel(ct.sqrt, 4) == Constant(2.0)
    assert kernel(ct.floor, 2.5) == Constant(2)
    assert kernel(ct.floor, Constant(2.5, ct.float16)) == Constant(2.0, ct.float16)
    assert kernel(ct.exp2, Constant(3, ct.int32)) == Constant(8.0, ct.float32)
    assert kernel(ct.isnan, math.nan) == Constant(True)
    assert kernel(ct.isnan, Constant(1.0, ct.float32)) == Constant(False, ct.bool_)
    assert kernel(operator.not_, 0) == Constant(True)


@pytest.mark.parametrize(
    ("name", "dtype", "message"),
    [
        ("floor", ct.int32, "Integer inputs are not supported"),
        ("ceil", ct.bool_, "Boolean inputs are not supported"),
        ("isnan", ct.int32, "Tile\\[int32"),
        ("exp", ct.float8_e4m3fn, "not defined for float8_e4m3fn"),
    ],
)
def test_refused_unary(kernel: Kernel, name: str, dtype: Any, message: str) -> None:
    with pytest.raises(ct.TileTypeError, match=message):
        kernel(getattr(ct, name), kernel.tile(dtype))


def test_where(kernel: Kernel) -> None:
    c, x = kernel.tile(ct.bool_, (4, 1)), kernel.tile(ct.float16, (8,))
    result = kernel(ct.where, c, x, 0)
    assert kernel.lines == [
        "%2 = broadcast %0 : i1[4,8]",
        "%3 = reshape %1 : f16[1,8]",
        "%4 = broadcast %3 : f16[4,8]",
        "%5 = const {value = 0.0e0} : f16[4,8]",
        "%6 = select %2, %4, %5 : f16[4,8]",
    ]
    assert (result.dtype, result.shape) == (ct.float16, (4, 8))
    kernel(ct.where, kernel.tile(ct.int32), 1, 2)
    assert kernel.lines[-1].endswith(": i32")
    with pytest.raises(ct.TileTypeError, match="Implicit promotion"):
        kernel(ct.where, c, x, kernel.tile(ct.bfloat16))


def test_astype(kernel: Kernel) -> None:
    x, n, b, e = (
        kernel.tile(dtype, (4,)) for dtype in (ct.float32, ct.int32, ct.bool_, ct.float8_e4m3fn)
    )
    kernel(ct.astype, x, ct.float16)
    assert kernel(ct.astype, x, ct.float32) == x
    kernel.method(x, "astype", ct.bool_)
    kernel(ct.astype, b, ct.float32)
    kernel(ct.astype, n, ct.float8_e4m3fn)
    kernel(ct.astype, e, ct.int32)
    kernel(ct.astype, x, ct.float64, rounding_mode=RM.RA)
    assert kernel(ct.astype, 300, ct.uint8) == Constant(44, ct.uint8)
    assert kernel(ct.astype, 1.9, ct.int32) == Constant(1, ct.int32)
    assert kernel.lines == [
        "%4 = cast %0 : f16[4]",
        "%5 = const {value = 0.0e0} : f32[4]",
        "%6 = ne %0, %5 : i1[4]",
        "%7 = cast %2 : f32[4]",
        "%8 = cast %1 : f32[4]",
        "%9 = cast %8 : e4m3[4]",
        "%10 = cast %3 : f32[4]",
        "%11 = cast %10 : i32[4]",
        "%12 = cast %0 {rm = ra} : f64[4]",
    ]


@pytest.mark.parametrize(
    ("source", "target", "mode", "message"),
    [
        (ct.int32, ct.float32, RM.RN, "rounding_mode is only valid for float to float conversions"),
        (ct.float32, ct.float16, RM.RP, "RP is not supported for conversion from float32 to"),
        (ct.float32, ct.float8_e8m0fnu, None, "RN is not supported for conversion"),
        (ct.float32, None, None, "Expected a dtype constant"),
    ],
)
def test_refused_casts(kernel: Kernel, source: Any, target: Any, mode: Any, message: str) -> None:
    with pytest.raises(ct.TileTypeError, match=message):
        kernel(ct.astype, kernel.tile(source), target, rounding_mode=mode)


def test_constants_that_cannot_be_cast(kernel: Kernel) -> None:
    with pytest.raises(ct.TileValueError, match="cannot convert|infinity"):
        kernel(ct.astype, math.inf, ct.int32)
    with pytest.raises(ct.TileValueError, match="Negative values cannot be represented"):
        kernel(ct.full, (4,), -1.0, ct.float8_e8m0fnu)


def test_bitcast_and_bytes(kernel: Kernel) -> None:
    x, q = kernel.tile(ct.float32, (4, 2)), kernel.tile(ct.uint8, (16,))
    kernel(ct.bitcast, x, ct.uint32)
    kernel(ct.pack_to_bytes, x)
    kernel(ct.unpack_from_bytes, q, ct.float4_e2m1fn)
    kernel(ct.unpack_from_bytes, q, ct.int8)
    assert kernel.lines == [
        "%2 = bitcast %0 : u32[4,2]",
        "%3 = reshape %0 : f32[8]",
        "%4 = pack %3 : u8[32]",
        "%5 = unpack %1 : e2m1[32]",
        "%6 = bitcast %1 : i8[16]",
    ]


@pytest.mark.parametrize(
    ("function", "dtype", "shape", "target", "message"),
    [
        (ct.bitcast, ct.float32, (4,), (ct.int64,), r"bit width is different \(32 vs. 64\)"),
        (ct.bitcast, ct.bool_, (4,), (ct.int8,), "to or from bool is not supported"),
        (ct.pack_to_bytes, ct.bool_, (8,), (), "pack_to_bytes from a bool_ tile"),
        (ct.pack_to_bytes, ct.float4_e2m1fn, (1,), (), "not divisible by 8"),
        (ct.unpack_from_bytes, ct.uint8, (2,), (ct.int32,), "not divisible by 32"),
        (ct.unpack_from_bytes, ct.int8, (4,), (ct.int32,), "requires uint8 tile"),
        (ct.unpack_from_bytes, ct.uint8, (4, 4), (ct.int32,), "requires a 1D tile"),
        (ct.unpack_from_bytes, ct.uint8, (4,), (ct.bool_,), "to a bool_ tile"),
    ],
)
def test_refused_bits(
    kernel: Kernel, function: Any, dtype: Any, shape: Any, target: Any, message: str
) -> None:
    with pytest.raises(ct.TileTypeError, match=message):
        kernel(function, kernel.tile(dtype, shape), *target)


def test_host_calls_are_refused() -> None:
    for function in (ct.add, ct.load, ct.Tile.reshape, ct.TiledView.load):
        with pytest.raises(RuntimeError, match="can only be called from device code"):
            function()
