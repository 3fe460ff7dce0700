# SPDX-License-Identifier: Apache-2.0
"""Which data types values of two data types meet in, and which conversions happen by themselves."""

from __future__ import annotations

from cudacore.tile._dtype import (
    Category,
    DType,
    MismatchError,
    RangeError,
    bfloat16,
    default_float,
    float4_e2m1fn,
    float8_e4m3fn,
    float8_e5m2,
    float8_e5m3fnu,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int8,
    int32,
    of_constant,
    tfloat32,
    uint8,
)
from cudacore.tile._mode import RoundingMode


def _common(a: DType, b: DType) -> DType | None:
    """Give the type that two types without restriction meet in, or None."""
    if a.category != b.category:
        return a if a.category > b.category else b
    if a.bitwidth == b.bitwidth or (a.is_integer and a.signed != b.signed):
        return None
    return a if a.bitwidth > b.bitwidth else b


def _of_types(a: DType, b: DType) -> DType:
    if a == b:
        return a
    if a.is_restricted or b.is_restricted:
        raise MismatchError(
            f"Implicit promotion of {a} and {b} is not supported: types of restricted floats "
            "never convert by themselves. Write an explicit cast with astype() instead.",
        )
    common = _common(a, b)
    if common is None:
        raise MismatchError(
            f"Implicit promotion of {a} and {b} is not supported. "
            "Write an explicit cast with astype() instead.",
        )
    return common


def _of_constant(dtype: DType, value: float, *, force_float: bool) -> DType:
    loose = of_constant(value)
    category = min(dtype.category, Category.FLOAT)
    if loose.category > category:
        return loose
    if loose.category == category == Category.INTEGER and not force_float:
        least, greatest = dtype.limits
        if not least <= value <= greatest:
            raise RangeError(f"Integer constant {value} is out of range of {dtype}")
    return dtype


def promote(a: DType | float, b: DType | float, *, force_float: bool = False) -> DType:
    """Give the data type that two operands meet in.

    Parameters
    ----------
    a, b : DType, bool, int or float
        The type of an operand, or the value of a loosely typed constant. Such a constant takes the
        other's type, unless its category is the greater one: bool, integer, float.
    force_float : bool
        Give ``float32`` where integers or booleans meet: true division does.

    Raises
    ------
    MismatchError
        The types don't meet: one is a restricted float, signed and unsigned integers,
        ``float16`` and ``bfloat16``.
    RangeError
        An integer constant is out of range of the other's type.
    """
    if isinstance(a, DType):
        if isinstance(b, DType):
            common = _of_types(a, b)
        else:
            common = _of_constant(a, b, force_float=force_float)
    elif isinstance(b, DType):
        common = _of_constant(b, a, force_float=force_float)
    else:
        common = _of_types(of_constant(a), of_constant(b))
    return default_float if force_float and not common.is_float else common


def check_implicit(source: DType | float, target: DType) -> None:
    """Check that a value converts to a data type by itself, as where it is stored.

    Parameters
    ----------
    source : DType, bool, int or float
        Its type, or the value of a loosely typed constant.
    target : DType
        The type wanted.

    Raises
    ------
    MismatchError
        It must be cast explicitly.
    RangeError
        An integer constant is out of range.
    """
    if isinstance(source, DType):
        try:
            fits = promote(source, target) == target
        except MismatchError:
            fits = False
        if not fits:
            raise MismatchError(f"cannot implicitly cast {source} to {target}")
        return
    loose = of_constant(source)
    if target.is_boolean:
        fits = loose.category <= Category.INTEGER and source in (0, 1)
    else:
        fits = loose.category <= target.category
    if not fits:
        raise MismatchError(f"cannot implicitly cast {source} to {target}")
    if loose.is_integer and target.is_integer:
        least, greatest = target.limits
        if not least <= source <= greatest:
            raise RangeError(f"{source} is out of range of {target}")


_MODES = (
    RoundingMode.RN,
    RoundingMode.RZ,
    RoundingMode.RM,
    RoundingMode.RP,
    RoundingMode.RA,
)
_SMALL_SOURCES = (float16, bfloat16, float8_e4m3fn, float8_e5m2, float4_e2m1fn)


def cast_modes(  # noqa: PLR0911
    source: DType, target: DType
) -> tuple[RoundingMode, ...]:
    """Give the rounding modes that a cast from a float type to another one can use.

    Parameters
    ----------
    source, target : DType
        Types of floats.
    """
    if target == float8_e8m0fnu:
        return (RoundingMode.RZ, RoundingMode.RP)
    if target == float64:
        return _MODES
    if target == float32:
        if source == float8_e8m0fnu:
            return _MODES[:2]
        return _MODES[:4] if source == float64 else _MODES
    if target == float16:
        return _MODES if source in _SMALL_SOURCES else _MODES[:2]
    if target == tfloat32:
        away = () if source in (float64, float8_e8m0fnu) else (RoundingMode.RA,)
        return (*_MODES[:2], *away)
    if target == bfloat16:
        return _MODES[:2]
    return _MODES[:1]


_PRODUCTS: dict[DType, tuple[DType, ...]] = {
    float8_e4m3fn: (float16, float32),
    float8_e5m2: (float16, float32),
    float16: (float16, float32),
    bfloat16: (float32,),
    float32: (float32,),
    tfloat32: (float32,),
    float64: (float64,),
    int8: (int32,),
    uint8: (int32,),
}


def accumulator(x: DType, y: DType, acc: DType | None = None) -> DType:
    """Give the type that products of matrices of two types are added in.

    Parameters
    ----------
    x, y : DType
        The types of the factors.
    acc : DType, optional
        The type wanted.

    Raises
    ------
    MismatchError
        No such product.
    """
    if x != y and not {x, y} <= {int8, uint8}:
        raise MismatchError(
            f"x and y must have the same dtype unless they are int8/uint8, got {x} {y}"
        )
    if x not in _PRODUCTS:
        names = ",".join(str(dtype) for dtype in _PRODUCTS)
        raise MismatchError(f"Unsupported input dtype {x}, supported dtypes are {names}")
    if acc is None:
        return _PRODUCTS[x][0]
    if acc not in _PRODUCTS[x]:
        names = ", ".join(str(dtype) for dtype in _PRODUCTS[x])
        raise MismatchError(f"Unsupported acc dtype {acc}, supported dtypes are {names}")
    return acc


# The type of the factors, the type of their scales: how many elements along K share a scale.
_SCALED: dict[DType, dict[DType, tuple[int, ...]]] = {
    float8_e4m3fn: {float8_e8m0fnu: (32,)},
    float8_e5m2: {float8_e8m0fnu: (32,)},
    float4_e2m1fn: {
        float8_e8m0fnu: (16, 32),
        float8_e4m3fn: (16,),
        float8_e5m3fnu: (16, 32),
    },
}


def scaled_blocks(
    x: DType,
    x_scale: DType,
    y: DType,
    y_scale: DType,
    acc: DType,
) -> tuple[int, ...]:
    """Give how many elements along K may share a scale in a scaled product of matrices.

    Parameters
    ----------
    x, x_scale, y, y_scale, acc : DType
        The types of the factors, of their scales, and of the accumulator.

    Raises
    ------
    MismatchError
        No such product.
    """
    if x != y:
        raise MismatchError(f"x and y must have the same dtype, got {x} and {y}")
    if x_scale != y_scale:
        raise MismatchError(
            f"x_scale and y_scale must have the same dtype, got {x_scale} and {y_scale}"
        )
    if x not in _SCALED:
        names = ", ".join(str(dtype) for dtype in _SCALED)
        raise MismatchError(
            f"Unsupported input dtype {x} for mma_scaled, supported input dtypes are {names}"
        )
    if x_scale not in _SCALED[x]:
        names = ", ".join(str(dtype) for dtype in _SCALED[x])
        raise MismatchError(
            f"Unsupported scale dtype {x_scale} for input dtype {x}, "
            f"supported scale dtypes are {names}",
        )
    if acc != float32:
        raise MismatchError(f"Unsupported acc dtype {acc} for mma_scaled, expected float32")
    return _SCALED[x][x_scale]
