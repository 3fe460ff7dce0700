# SPDX-License-Identifier: Apache-2.0
"""Data types of the tile language: their objects, constants of them, and how they combine."""

import copy
import math
import pickle
import struct
import sys
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._dtype import MismatchError, RangeError, canonical, from_foreign, of_constant
from cudacore.tile._promotion import (
    accumulator,
    cast_modes,
    check_implicit,
    promote,
    scaled_blocks,
)

INTEGERS = (ct.int8, ct.int16, ct.int32, ct.int64)
UNSIGNED = (ct.uint8, ct.uint16, ct.uint32, ct.uint64)
FLOATS = (ct.float16, ct.bfloat16, ct.float32, ct.float64)
RESTRICTED = (
    ct.tfloat32,
    ct.float8_e4m3fn,
    ct.float8_e5m2,
    ct.float8_e8m0fnu,
    ct.float8_e5m3fnu,
    ct.float4_e2m1fn,
)
ALL = (ct.bool_, *INTEGERS, *UNSIGNED, *FLOATS, *RESTRICTED)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_object(dtype: Any) -> None:
    assert isinstance(dtype, ct.DType)
    assert repr(dtype) == f"<DType '{dtype.name}'>"
    assert str(dtype) == dtype.name == dtype.__name__
    assert getattr(ct, dtype.name) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert dtype.__doc__


def test_bits() -> None:
    assert [dtype.bitwidth for dtype in ALL] == [
        8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 16, 32, 64, 32, 8, 8, 8, 8, 4,
    ]  # fmt: skip


def test_objects_cannot_be_made_nor_changed() -> None:
    with pytest.raises(TypeError, match="DType objects cannot be created"):
        ct.DType()
    with pytest.raises(AttributeError, match="cannot be changed"):
        ct.int32.bitwidth = 7
    with pytest.raises(RuntimeError, match=r"int32\(\) can only be called in a kernel"):
        ct.int32(3)


class Foreign:
    """Makes what looks like a data type of another library."""

    def __new__(cls, module: str, name: str) -> Any:
        return type(name, (), {"__module__": module})


def test_types_of_other_libraries() -> None:
    torch = type("dtype", (), {"__module__": "torch", "__str__": lambda _: "torch.float8_e5m2"})
    assert from_foreign(torch()) is ct.float8_e5m2
    assert from_foreign(Foreign("ml_dtypes", "bfloat16")) is ct.bfloat16
    assert from_foreign(Foreign("numpy", "float32")) is ct.float32
    assert from_foreign(Foreign("elsewhere", "float32")) is None
    assert from_foreign(int) is None
    assert from_foreign("float32") is None


def test_types_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    for name in [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ]:
        assert from_foreign(numpy.dtype(name)) is getattr(ct, name)
        assert from_foreign(getattr(numpy, name)) is getattr(ct, name)
    assert from_foreign(numpy.dtype(bool)) is ct.bool_
    assert from_foreign(numpy.dtype("complex64")) is None


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (300, ct.uint8, 44),
        (200, ct.int8, -56),
        (-1, ct.uint32, 2**32 - 1),
        (2.9, ct.int32, 2),
        (-2.9, ct.int32, -2),
        (7, ct.bool_, True),
        (0.1, ct.float64, 0.1),
        (0.1, ct.float32, struct.unpack("f", struct.pack("f", 0.1))[0]),
        (0.1, ct.float16, struct.unpack("e", struct.pack("e", 0.1))[0]),
        (70000.0, ct.float16, math.inf),
        (1e-8, ct.float16, 0.0),
        (6e-8, ct.float16, 2.0**-24),
        (10**400, ct.float32, math.inf),
        (1e39, ct.float32, math.inf),
        (1 + 2**-8, ct.bfloat16, 1.0),
        (1 + 3 * 2**-8, ct.bfloat16, 1 + 2**-6),
        (1 + 2**-11, ct.tfloat32, 1.0),
        (448.0, ct.float8_e4m3fn, 448.0),
        (460.0, ct.float8_e4m3fn, 448.0),
        (-(2.0**-9), ct.float8_e4m3fn, -(2.0**-9)),
        (57344.0, ct.float8_e5m2, 57344.0),
        (1e6, ct.float8_e5m2, math.inf),
        (100.0, ct.float4_e2m1fn, 6.0),
        (-100.0, ct.float4_e2m1fn, -6.0),
        (0.3, ct.float4_e2m1fn, 0.5),
        (3.0, ct.float8_e8m0fnu, 4.0),
        (2.9, ct.float8_e8m0fnu, 2.0),
        (0.0, ct.float8_e8m0fnu, 2.0**-127),
        (0.25, ct.float8_e5m3fnu, 0.25),
    ],
)
def test_constants(value: Any, dtype: Any, expected: Any) -> None:
    result = canonical(value, dtype)
    assert result == expected
    assert type(result) is dtype.python_type


def test_constants_that_are_not_finite() -> None:
    assert math.isnan(canonical(500.0, ct.float8_e4m3fn))
    assert math.isnan(canonical(2.0**200, ct.float8_e8m0fnu))
    assert canonical(-math.inf, ct.bfloat16) == -math.inf
    assert math.copysign(1, canonical(-0.0, ct.float16)) == -1


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (-1.0, ct.float8_e8m0fnu, "Negative values cannot be represented in an unsigned float"),
        (-1.0, ct.float8_e5m3fnu, "Negative values cannot be represented in an unsigned float"),
        (math.nan, ct.float4_e2m1fn, "NaN cannot be represented in a finite-only float format"),
        (math.inf, ct.int32, "cannot convert inf to int32"),
    ],
)
def test_constants_that_a_type_lacks(value: float, dtype: Any, message: str) -> None:
    with pytest.raises(RangeError, match=message):
        canonical(value, dtype)


def test_types_of_constants() -> None:
    assert of_constant(True) is ct.bool_
    assert of_constant(2**31 - 1) is of_constant(-(2**31)) is ct.int32
    assert of_constant(2**31) is of_constant(-(2**63)) is ct.int64
    assert of_constant(2**64 - 1) is ct.uint64
    assert of_constant(1e300) is ct.float32
    with pytest.raises(RangeError, match="out of range of any supported integer type"):
        of_constant(2**64)
    with pytest.raises(MismatchError, match="is not supported"):
        of_constant("1")


def expected(a: Any, b: Any) -> Any:
    """Say again, in another way, what two types meet in."""
    if a is b:
        return a
    if a in RESTRICTED or b in RESTRICTED:
        return None
    ranks = [ct.bool_, INTEGERS, UNSIGNED, FLOATS]
    kinds = [next(i for i, r in enumerate(ranks) if t is r or (i and t in r)) for t in (a, b)]
    if set(kinds) == {1, 2} or {a, b} == {ct.float16, ct.bfloat16}:
        return None
    if kinds[0] != kinds[1]:
        return a if kinds[0] > kinds[1] else b
    return max(a, b, key=lambda dtype: dtype.bitwidth)


@pytest.mark.parametrize("a", ALL, ids=str)
@pytest.mark.parametrize("b", ALL, ids=str)
def test_promotion(a: Any, b: Any) -> None:
    common = expected(a, b)
    if common is None:
        with pytest.raises(MismatchError, match=f"Implicit promotion of {a} and {b} is not supp"):
            promote(a, b)
    else:
        assert promote(a, b) is common
        forced = common if common in (*FLOATS, *RESTRICTED) else ct.float32
        assert promote(a, b, force_float=True) is forced


@pytest.mark.parametrize(
    ("value", "dtype", "common"),
    [
        (1, ct.int8, ct.int8),
        (255, ct.uint8, ct.uint8),
        (1, ct.float16, ct.float16),
        (2.5, ct.float16, ct.float16),
        (2.5, ct.int64, ct.float32),
        (True, ct.uint16, ct.uint16),
        (3, ct.bool_, ct.int32),
        (2**40, ct.bool_, ct.int64),
        (1.0, ct.float8_e5m2, ct.float8_e5m2),
    ],
)
def test_promotion_of_loose_constants(value: Any, dtype: Any, common: Any) -> None:
    assert promote(value, dtype) is common
    assert promote(dtype, value) is common


def test_promotion_of_two_loose_constants() -> None:
    assert promote(1, 2.0) is ct.float32
    assert promote(1, 2, force_float=True) is ct.float32
    assert promote(1, 2**40) is ct.int64


def test_loose_constants_out_of_range() -> None:
    with pytest.raises(RangeError, match="Integer constant -170 is out of range of int8"):
        promote(-170, ct.int8)
    with pytest.raises(RangeError, match="Integer constant -1 is out of range of uint32"):
        promote(ct.uint32, -1)


def test_implicit_conversions() -> None:
    check_implicit(ct.int8, ct.int32)
    check_implicit(ct.int32, ct.float16)
    check_implicit(ct.bool_, ct.uint8)
    check_implicit(1, ct.bool_)
    check_implicit(1.5, ct.float8_e4m3fn)
    check_implicit(2, ct.float4_e2m1fn)
    for source, target in [
        (ct.float32, ct.float16),
        (ct.float32, ct.int32),
        (ct.int32, ct.uint32),
        (ct.float32, ct.float8_e4m3fn),
        (1.5, ct.int32),
        (2, ct.bool_),
        (1.0, ct.bool_),
    ]:
        with pytest.raises(MismatchError, match=f"cannot implicitly cast {source} to {target}"):
            check_implicit(source, target)
    with pytest.raises(RangeError, match="128 is out of range of int8"):
        check_implicit(128, ct.int8)


MODE = ct.RoundingMode


@pytest.mark.parametrize(
    ("source", "target", "modes"),
    [
        (ct.float32, ct.float8_e8m0fnu, "RZ RP"),
        (ct.float32, ct.float64, "RN RZ RM RP RA"),
        (ct.float64, ct.float32, "RN RZ RM RP"),
        (ct.float8_e8m0fnu, ct.float32, "RN RZ"),
        (ct.float16, ct.float32, "RN RZ RM RP RA"),
        (ct.float32, ct.float16, "RN RZ"),
        (ct.bfloat16, ct.float16, "RN RZ RM RP RA"),
        (ct.float32, ct.tfloat32, "RN RZ RA"),
        (ct.float64, ct.tfloat32, "RN RZ"),
        (ct.float32, ct.bfloat16, "RN RZ"),
        (ct.float32, ct.float8_e4m3fn, "RN"),
        (ct.float16, ct.float4_e2m1fn, "RN"),
    ],
)
def test_rounding_of_casts(source: Any, target: Any, modes: str) -> None:
    assert [mode.name for mode in cast_modes(source, target)] == modes.split()


def test_types_of_products() -> None:
    assert accumulator(ct.float16, ct.float16) is ct.float16
    assert accumulator(ct.float16, ct.float16, ct.float32) is ct.float32
    assert accumulator(ct.int8, ct.uint8, ct.int32) is ct.int32
    assert accumulator(ct.tfloat32, ct.tfloat32) is ct.float32
    for types, message in [
        ((ct.float16, ct.bfloat16, ct.float32), "x and y must have the same dtype"),
        ((ct.int16, ct.int16, ct.float32), "Unsupported input dtype int16"),
        ((ct.bfloat16, ct.bfloat16, ct.float16), "Unsupported acc dtype float16"),
    ]:
        with pytest.raises(MismatchError, match=message):
            accumulator(*types)


def test_types_of_scaled_products() -> None:
    f8, f4, e8, f32 = ct.float8_e4m3fn, ct.float4_e2m1fn, ct.float8_e8m0fnu, ct.float32
    assert scaled_blocks(f8, e8, f8, e8, f32) == (32,)
    assert scaled_blocks(f4, e8, f4, e8, f32) == (16, 32)
    assert scaled_blocks(f4, f8, f4, f8, f32) == (16,)
    for types, message in [
        ((f8, e8, ct.float8_e5m2, e8, f32), "x and y must have the same dtype"),
        ((f8, e8, f8, f8, f32), "x_scale and y_scale must have the same dtype"),
        ((ct.float16, e8, ct.float16, e8, f32), "Unsupported input dtype float16"),
        ((f8, f32, f8, f32, f32), "Unsupported scale dtype float32"),
        ((f8, e8, f8, e8, ct.float16), "Unsupported acc dtype float16"),
    ]:
        with pytest.raises(MismatchError, match=message):
            scaled_blocks(*types)


def test_import_loads_no_numpy() -> None:
    import subprocess

    code = (
        "import sys, cudacore.tile as ct; ct.load, ct.float32, ct.Tile; "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
