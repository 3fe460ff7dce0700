# SPDX-License-Identifier: Apache-2.0
"""What functions of one operand, conversions and choices do in a kernel."""

from __future__ import annotations

import math
import operator
from typing import Any

from cudacore.tile import _dtype
from cudacore.tile import _language_compare as bits
from cudacore.tile import _language_math as language
from cudacore.tile import _language_shape as shapes
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._language_array import Tile as TileClass
from cudacore.tile._mode import RoundingMode
from cudacore.tile._operand import (
    Operand,
    astype,
    common_shape,
    data_type,
    describe,
    emit,
    is_loose,
    lift,
    reshape,
    scalar,
    shape_of,
    spread,
    strict,
    tile,
    typing,
)
from cudacore.tile._operation import implements
from cudacore.tile._operation_arithmetic import check_modes, compute, modes
from cudacore.tile._promotion import cast_modes, promote
from cudacore.tile._value import Constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cudacore.tile._scope import Scope


def _rsqrt(x: float) -> float:
    return 1.0 / math.sqrt(x)


def _exp2(x: float) -> float:
    return float(2.0**x)


def _invert(x: int) -> int | bool:
    return not x if isinstance(x, bool) else ~x


_FOLDED: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "neg": operator.neg,
    "exp": math.exp,
    "exp2": _exp2,
    "sin": math.sin,
    "sinh": math.sinh,
    "cos": math.cos,
    "cosh": math.cosh,
    "tan": math.tan,
    "tanh": math.tanh,
    "log": math.log,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "rsqrt": _rsqrt,
    "not": _invert,
    "floor": math.floor,
    "ceil": math.ceil,
}
_FLOATING = (
    "exp",
    "exp2",
    "sin",
    "sinh",
    "cos",
    "cosh",
    "tan",
    "tanh",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
)


def _prepared(scope: Scope, name: str, x: Operand) -> Operand:
    """Convert an operand to a data type that a function has."""
    dtype = data_type(x)
    if dtype.is_restricted:
        raise MismatchError(
            f"{name}() is not defined for {dtype}; cast it with astype() to a type with arithmetic"
        )
    if name in ("floor", "ceil") and not dtype.is_float:
        kind = "Boolean" if dtype.is_boolean else "Integer"
        raise MismatchError(f"{kind} inputs are not supported by {name}()")
    if name == "not" and dtype.is_float:
        raise MismatchError(f"Float inputs are not supported by bitwise_not(), got {dtype}")
    if name in _FLOATING and not dtype.is_float:
        return astype(scope, x, _dtype.float32)
    if name == "neg" and dtype.is_boolean:
        return astype(scope, x, _dtype.int32)
    return x


def unary(
    scope: Scope,
    name: str,
    value: object,
    mode: RoundingMode | None = None,
    *,
    flush: bool = False,
) -> Operand:
    """Compute with one operand; a constant is folded.

    Parameters
    ----------
    scope : Scope
        Where the kernel is being evaluated.
    name : str
        The operation of the text.
    value : object
        The operand.
    mode : RoundingMode, optional
        How to round.
    flush : bool
        Whether to flush denormal numbers.
    """
    x = tile(value)
    if isinstance(x, Constant) and is_loose(x):
        return Constant(compute(_FOLDED[name], x.value))
    x = _prepared(scope, name, x)
    dtype = data_type(x)
    if isinstance(x, Constant):
        return strict(compute(_FOLDED[name], x.value), dtype)
    check_modes(name, mode, dtype, flush=flush)
    if name == "abs" and not dtype.signed:
        return x
    if mode is RoundingMode.FULL:
        mode = None  # what the text means without a mode
    attributes = modes(mode, flush=flush)
    return emit(scope, name, x, dtype=dtype, shape=shape_of(x), attributes=attributes)


def _register(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def plain(scope: Scope, x: object) -> Operand:
        return unary(scope, name, x)


for _name in ("log", "log2", "sin", "sinh", "cos", "cosh", "tan", "floor", "ceil", "abs"):
    _register(getattr(language, _name), _name)
_register(language.negative, "neg")
_register(bits.bitwise_not, "not")
_register(abs, "abs")


@implements(language.exp)
def exp(scope: Scope, x: object, *, rounding_mode: object) -> Operand:
    """Raise e to a power."""
    return unary(scope, "exp", x, argument.optional_mode(rounding_mode, RoundingMode))


@implements(language.tanh)
def tanh(scope: Scope, x: object, *, rounding_mode: object) -> Operand:
    """Give the hyperbolic tangent."""
    return unary(scope, "tanh", x, argument.optional_mode(rounding_mode, RoundingMode))


@implements(language.exp2)
def exp2(scope: Scope, x: object, *, flush_to_zero: object) -> Operand:
    """Raise 2 to a power."""
    return unary(scope, "exp2", x, flush=argument.boolean(flush_to_zero))


@implements(language.rsqrt)
def rsqrt(scope: Scope, x: object, *, flush_to_zero: object) -> Operand:
    """Give one over the square root."""
    return unary(scope, "rsqrt", x, flush=argument.boolean(flush_to_zero))


@implements(language.sqrt)
def sqrt(scope: Scope, x: object, *, rounding_mode: object, flush_to_zero: object) -> Operand:
    """Give the square root."""
    mode = argument.optional_mode(rounding_mode, RoundingMode)
    return unary(scope, "sqrt", x, mode, flush=argument.boolean(flush_to_zero))


@implements(language.isnan)
def isnan(scope: Scope, x: object) -> Operand:
    """Tell where elements are not a number."""
    value = tile(x)
    if isinstance(value, Constant) and is_loose(value):
        return Constant(math.isnan(value.value))
    dtype = data_type(value)
    if not dtype.is_float:
        raise MismatchError(f"isnan() is for floats only; unexpected input type {describe(value)}")
    if isinstance(value, Constant):
        return strict(math.isnan(value.value), _dtype.bool_)
    if dtype.is_restricted:
        value = astype(scope, value, _dtype.float32)
    return emit(scope, "isnan", value, dtype=_dtype.bool_, shape=shape_of(value))


def logical_not(scope: Scope, value: object) -> Operand:
    """Negate the truth of a value, as ``not`` does."""
    x = tile(value)
    if isinstance(x, Constant):
        return Constant(not x.value) if is_loose(x) else strict(not x.value, _dtype.bool_)
    x = astype(scope, x, _dtype.bool_)
    return emit(scope, "not", x, dtype=_dtype.bool_, shape=shape_of(x))


def positive(scope: Scope, value: object) -> Operand:
    """Give the value itself, as ``+x`` does; booleans become integers."""
    x = tile(value)
    if isinstance(x, Constant) and is_loose(x):
        return Constant(+x.value)
    return astype(scope, x, _dtype.int32) if data_type(x).is_boolean else x


@implements(shapes.where)
def where(scope: Scope, cond: object, x: object, y: object) -> Operand:
    """Choose between two tiles."""
    condition, left, right = tile(cond), tile(x), tile(y)
    dtype = promote(typing(left), typing(right))
    shape = common_shape(shape_of(condition), shape_of(left), shape_of(right))
    return emit(
        scope,
        "select",
        spread(scope, condition, _dtype.bool_, shape),
        spread(scope, left, dtype, shape),
        spread(scope, right, dtype, shape),
        dtype=dtype,
        shape=shape,
    )


@implements(shapes.astype, TileClass.astype)
def convert(scope: Scope, x: object, dtype: object, *, rounding_mode: object) -> Operand:
    """Convert to a data type."""
    value, target = tile(x), argument.dtype(dtype)
    mode = argument.optional_mode(rounding_mode, RoundingMode)
    source = data_type(value)
    floats = source.is_float and target.is_float
    if mode is not None and not floats:
        raise MismatchError(
            "rounding_mode is only valid for float to float conversions, "
            f"but this one is from {source} to {target}"
        )
    if floats and source != target:
        modes_ = cast_modes(source, target)
        mode = mode or RoundingMode.RN
        if mode not in modes_:
            raise MismatchError(
                f"rounding_mode={mode} is not supported for conversion from {source} to {target}, "
                f"supported rounding modes for this conversion are {modes_}"
            )
    return astype(scope, value, target, mode)


def construct(scope: Scope, dtype: DType, value: object = 0) -> Operand:
    """Make a scalar of a data type, as a call of the type does."""
    x = lift(value)
    if isinstance(x, Constant) and isinstance(x.value, str):
        try:  # as float("-inf") does
            x = Constant(dtype.python_type(x.value))
        except ValueError:
            raise MismatchError(f"Invalid argument type for {dtype}: {describe(x)}") from None
    return astype(scope, scalar(x), dtype)


@implements(shapes.bitcast)
def bitcast(scope: Scope, x: object, dtype: object) -> Operand:
    """Take the bits of elements as of another data type."""
    value, target = tile(x), argument.dtype(dtype)
    return bitcast_to(scope, value, target)


def bitcast_to(scope: Scope, value: Operand, target: DType) -> Operand:
    """Take the bits of elements as of another data type."""
    source = data_type(value)
    if source.is_boolean or target.is_boolean:
        raise MismatchError(
            f"Cannot bitcast from {source} to {target}: bitcast to or from bool is not supported"
        )
    if source.bitwidth != target.bitwidth:
        raise MismatchError(
            f"Cannot bitcast from {source} to {target}: "
            f"bit width is different ({source.bitwidth} vs. {target.bitwidth})"
        )
    if source == target:
        return value
    return emit(scope, "bitcast", value, dtype=target, shape=shape_of(value))


@implements(shapes.pack_to_bytes)
def pack(scope: Scope, x: object) -> Operand:
    """Give the bytes of all elements."""
    value = tile(x)
    dtype = data_type(value)
    if dtype.is_boolean:
        raise MismatchError(f"pack_to_bytes from a {dtype} tile is not supported")
    count = math.prod(shape_of(value))
    flat = reshape(scope, value, (count,))
    if dtype.bitwidth == 8:  # noqa: PLR2004
        return bitcast_to(scope, flat, _dtype.uint8)
    size, rest = divmod(count * dtype.bitwidth, 8)
    if rest:
        raise MismatchError(
            f"Cannot pack tile {describe(value)}: "
            f"total bits ({count} * {dtype.bitwidth}) not divisible by 8"
        )
    return emit(scope, "pack", flat, dtype=_dtype.uint8, shape=(size,))


@implements(shapes.unpack_from_bytes)
def unpack(scope: Scope, x: object, dtype: object) -> Operand:
    """Make elements of bytes."""
    value, target = tile(x), argument.dtype(dtype)
    shape = shape_of(value)
    if len(shape) != 1:
        raise MismatchError(
            f"unpack_from_bytes requires a 1D tile, got {len(shape)}D tile with shape {shape}"
        )
    if data_type(value) != _dtype.uint8:
        raise MismatchError(f"unpack_from_bytes requires uint8 tile, got {data_type(value)} tile")
    if target.is_boolean:
        raise MismatchError(f"unpack_from_bytes to a {target} tile is not supported")
    if target.bitwidth == 8:  # noqa: PLR2004
        return bitcast_to(scope, value, target)
    size, rest = divmod(shape[0] * 8, target.bitwidth)
    if rest:
        raise MismatchError(
            f"Cannot unpack tile {describe(value)} to {target}: "
            f"total bits ({shape[0]} * 8) not divisible by {target.bitwidth}"
        )
    return emit(scope, "unpack", value, dtype=target, shape=(size,))
