# SPDX-License-Identifier: Apache-2.0
"""What arithmetic of two operands does in a kernel."""

from __future__ import annotations

import math
import operator
from typing import Any

from cudacore.tile import _dtype
from cudacore.tile import _language_arithmetic as language
from cudacore.tile import _language_compare as bits
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import DType, MismatchError, RangeError
from cudacore.tile._mode import RoundingMode
from cudacore.tile._operand import (
    Operand,
    Shape,
    astype,
    common_shape,
    data_type,
    emit,
    filled,
    is_loose,
    shape_of,
    spread,
    strict,
    tile,
    typing,
)
from cudacore.tile._operation import implements
from cudacore.tile._promotion import promote
from cudacore.tile._value import Constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cudacore.tile._scope import Scope

_BASIC = (RoundingMode.RN, RoundingMode.RZ, RoundingMode.RM, RoundingMode.RP)
_FAST = (RoundingMode.FULL, RoundingMode.APPROX)

#: The rounding modes that functions take, where they take any.
_MODES = {
    "add": _BASIC,
    "sub": _BASIC,
    "mul": _BASIC,
    "fma": _BASIC,
    "truediv": (*_BASIC, *_FAST),
    "sqrt": (*_BASIC, RoundingMode.APPROX),
    "exp": _FAST,
    "tanh": _FAST,
}
#: The functions that can flush denormal numbers to zero.
_FLUSHING = ("add", "sub", "mul", "truediv", "max", "min", "exp2", "sqrt", "rsqrt")


def check_modes(name: str, mode: RoundingMode | None, dtype: DType, *, flush: bool) -> None:
    """Check that a function has a rounding mode, and flushes, for a data type."""
    if mode is not None:
        if mode not in _MODES.get(name, ()):
            raise MismatchError(f"Rounding mode {mode.value} is not supported for {name}")
        if not dtype.is_float or dtype.is_restricted:
            raise MismatchError(
                f"Rounding mode can only be used for unrestricted float types, but got {dtype}"
            )
        if mode in _FAST and dtype != _dtype.float32:
            raise MismatchError(
                f"Rounding mode {mode.value} can only be used for float32 type, but got {dtype}"
            )
    if flush:
        if name not in _FLUSHING:
            raise MismatchError(f"Flush to zero is not supported for {name}")
        if dtype != _dtype.float32:
            raise MismatchError(f"Flush to zero can only be used for float32 type, but got {dtype}")


def modes(
    mode: RoundingMode | None, *, flush: bool = False, nan: bool = False
) -> dict[str, object]:
    """Give the attributes of the text for what a function was asked."""
    result: dict[str, object] = {}
    if mode is not None:
        result["rm"] = mode.name.lower()
    if flush:
        result["ftz"] = 1
    if nan:
        result["nan"] = 1
    return result


def compute(function: Callable[..., Any], *values: Any) -> Any:
    """Fold constants; Python's errors become those of kernels."""
    try:
        return function(*values)
    except TypeError as error:
        raise MismatchError(str(error)) from None
    except (ArithmeticError, ValueError) as error:
        raise RangeError(str(error)) from None


def fold(function: Callable[..., Any], x: Operand, y: Operand, dtype: DType) -> Constant | None:
    """Fold an operation of two operands that are constants of a data type already."""
    if isinstance(x, Constant) and isinstance(y, Constant):
        return strict(compute(function, x.value, y.value), dtype)
    return None


def fold_loose(function: Callable[..., Any], x: Operand, y: Operand) -> Constant | None:
    """Fold an operation of loosely typed constants, at any precision."""
    if isinstance(x, Constant) and isinstance(y, Constant) and is_loose(x) and is_loose(y):
        return Constant(compute(function, x.value, y.value))
    return None


def _cdiv(x: float, y: float) -> float:
    return -(-x // y)


_FOLDED: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "cdiv": _cdiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "atan2": math.atan2,
    "max": max,
    "min": min,
}
_TEXT = {"truediv": "div"}


def meet(x: Operand, y: Operand, *, force_float: bool = False) -> tuple[DType, Shape]:
    """Give the data type and the shape that two operands meet in."""
    dtype = promote(typing(x), typing(y), force_float=force_float)
    return dtype, common_shape(shape_of(x), shape_of(y))


def _operands(name: str, x: object, y: object) -> tuple[Operand, Operand]:
    left, right = tile(x), tile(y)
    for side, operand in (("Left-hand", left), ("Right-hand", right)):
        if not is_loose(operand) and data_type(operand).is_restricted:
            raise MismatchError(
                f"{side} side of {name} has non-arithmetic dtype {data_type(operand)}; "
                "cast it with astype() to a type with arithmetic"
            )
    return left, right


def _cdiv_of(scope: Scope, x: Operand, y: Operand, dtype: DType, shape: Shape) -> Operand:
    """Divide integers and round up: the text rounds down.

    Not as ``-(-x // y)``: the least integer has no opposite.
    """
    down = emit(scope, "floordiv", x, y, dtype=dtype, shape=shape)
    rest = emit(scope, "mod", x, y, dtype=dtype, shape=shape)
    zero = filled(scope, 0, dtype, shape)
    more = emit(scope, "ne", rest, zero, dtype=_dtype.bool_, shape=shape)
    return emit(scope, "add", down, astype(scope, more, dtype), dtype=dtype, shape=shape)


def arithmetic(  # noqa: PLR0917
    scope: Scope,
    name: str,
    x: object,
    y: object,
    mode: RoundingMode | None = None,
    flush: bool = False,
    nan: bool = False,
) -> Operand:
    """Compute with two operands, which promote and broadcast; constants are folded.

    Parameters
    ----------
    scope : Scope
        Where the kernel is being evaluated.
    name : str
        ``add``, ``sub``, ``mul``, ``truediv``, ``floordiv``, ``cdiv``, ``mod``, ``atan2``, ``min``
        or ``max``.
    x, y : object
        The operands.
    mode : RoundingMode, optional
        How to round.
    flush, nan : bool
        Whether to flush denormal numbers, and whether NaN wins.
    """
    left, right = _operands(name, x, y)
    folded = fold_loose(_FOLDED[name], left, right)
    if folded is not None:
        return folded
    dtype, shape = meet(left, right, force_float=name == "truediv")
    if dtype.is_boolean:
        raise MismatchError(
            f"Binary arithmetic op `{name}` does not support bool, please cast bool to int"
        )
    if name == "cdiv" and not dtype.is_integer:
        raise MismatchError(f"cdiv() is for integers only, but got {dtype}")
    if name == "atan2" and not dtype.is_float:
        raise MismatchError(f"atan2() is for floats only, but got {dtype}; cast with astype()")
    left, right = spread(scope, left, dtype, shape), spread(scope, right, dtype, shape)
    folded = fold(_FOLDED[name], left, right, dtype)
    if folded is not None:
        return folded
    check_modes(name, mode, dtype, flush=flush)
    if name == "cdiv":
        return _cdiv_of(scope, left, right, dtype, shape)
    attributes = modes(mode, flush=flush, nan=nan)
    op = _TEXT.get(name, name)
    return emit(scope, op, left, right, dtype=dtype, shape=shape, attributes=attributes)


def _powers(scope: Scope, x: Operand, exponent: int, dtype: DType, shape: Shape) -> Operand:
    """Multiply: a power of an integer with a constant exponent."""
    result: Operand | None = None
    square = x
    while exponent:
        if exponent & 1:
            result = (
                square
                if result is None
                else emit(scope, "mul", result, square, dtype=dtype, shape=shape)
            )
        exponent >>= 1
        if exponent:
            square = emit(scope, "mul", square, square, dtype=dtype, shape=shape)
    return filled(scope, 1, dtype, shape) if result is None else result


def power(scope: Scope, x: object, y: object) -> Operand:
    """Raise to a power; to constants that are integers, by multiplying."""
    base, exponent = _operands("pow", x, y)
    folded = fold_loose(operator.pow, base, exponent)
    if folded is not None:
        return folded
    dtype, shape = meet(base, exponent)
    if dtype.is_boolean:
        raise MismatchError("Binary arithmetic op `pow` does not support bool, please cast to int")
    if isinstance(base, Constant) and isinstance(exponent, Constant):
        left, right = astype(scope, base, dtype), astype(scope, exponent, dtype)
        return strict(compute(operator.pow, left.value, right.value), dtype)
    if isinstance(exponent, Constant) and data_type(exponent).is_integer:
        number = exponent.value
        if dtype.is_integer and number < 0:
            raise MismatchError(
                f"An integer raised to {number} is no integer; cast the base with astype() to a "
                "float type"
            )
        if number == 2 or dtype.is_integer:  # noqa: PLR2004
            return _powers(scope, spread(scope, base, dtype, shape), number, dtype, shape)
    narrow = dtype.is_float and dtype.bitwidth < 32 and data_type(exponent).is_integer  # noqa: PLR2004
    wide = _dtype.float32 if narrow else dtype  # a large exponent has no value in a narrow type
    left, right = spread(scope, base, wide, shape), spread(scope, exponent, wide, shape)
    result = emit(scope, "pow", left, right, dtype=wide, shape=shape)
    return astype(scope, result, dtype)


def remainder(scope: Scope, x: object, y: object) -> Operand:
    """Give the remainder with the sign of the divisor."""
    return arithmetic(scope, "mod", x, y)


@implements(language.divmod)
def divide(scope: Scope, x: object, y: object) -> tuple[Operand, Operand]:
    """Give the quotient rounded down and the remainder."""
    left, right = _operands("divmod", x, y)
    loose = is_loose(left) and is_loose(right)
    if data_type(left).is_boolean and data_type(right).is_boolean:
        raise MismatchError("divmod() operation does not support bool")
    dtype, _ = meet(left, right)
    constants = isinstance(left, Constant) and isinstance(right, Constant)
    if dtype.is_float and not loose and not constants:
        raise MismatchError("divmod() is not implemented for floating point values")
    quotient = arithmetic(scope, "floordiv", left, right)
    return quotient, arithmetic(scope, "mod", left, right)


_BITS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def bitwise(scope: Scope, name: str, x: object, y: object) -> Operand:
    """Combine the bits of integers or booleans of one data type."""
    left, right = tile(x), tile(y)
    folded = fold_loose(_BITS[name], left, right)
    if folded is not None:
        return folded
    types = data_type(left), data_type(right)
    if any(dtype.is_float for dtype in types):
        raise MismatchError(
            "Bitwise operations require integers or booleans. "
            f"Use bitcast() for operands of other types, got: {types[0]} and {types[1]}"
        )
    if is_loose(left) == is_loose(right) and types[0] != types[1]:
        raise MismatchError(
            f"Bitwise operands must have same data type, got: {types[0]} and {types[1]}; "
            "cast one with astype()"
        )
    dtype, shape = meet(left, right)
    left, right = spread(scope, left, dtype, shape), spread(scope, right, dtype, shape)
    folded = fold(_BITS[name], left, right, dtype)
    return folded or emit(scope, name, left, right, dtype=dtype, shape=shape)


_SHIFTS = {"shl": operator.lshift, "shr": operator.rshift}


def shift(scope: Scope, name: str, x: object, y: object) -> Operand:
    """Shift the bits of integers."""
    left, right = tile(x), tile(y)
    folded = fold_loose(_SHIFTS[name], left, right)
    if folded is not None:
        return folded
    for side, operand in (("left", left), ("right", right)):
        if not data_type(operand).is_integer:
            raise MismatchError(
                f"Bitwise shift requires an integer for {side}-hand side, got: {data_type(operand)}"
            )
    dtype, shape = meet(left, right)
    left, right = spread(scope, left, dtype, shape), spread(scope, right, dtype, shape)
    folded = fold(_SHIFTS[name], left, right, dtype)
    return folded or emit(scope, name, left, right, dtype=dtype, shape=shape)


_COMPARED = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compare(scope: Scope, name: str, x: object, y: object) -> Operand:
    """Compare two operands, which promote and broadcast."""
    left, right = tile(x), tile(y)
    folded = fold_loose(_COMPARED[name], left, right)
    if folded is not None:
        return folded
    dtype, shape = meet(left, right)
    left, right = spread(scope, left, dtype, shape), spread(scope, right, dtype, shape)
    if dtype.is_restricted:  # there are no comparisons of these; float32 has all their values
        left, right = astype(scope, left, _dtype.float32), astype(scope, right, _dtype.float32)
    folded = fold(_COMPARED[name], left, right, _dtype.bool_)
    return folded or emit(scope, name, left, right, dtype=_dtype.bool_, shape=shape)


def _register_rounded(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def rounded(
        scope: Scope, x: object, y: object, rounding_mode: object, flush_to_zero: object
    ) -> Operand:
        mode = argument.optional_mode(rounding_mode, RoundingMode)
        return arithmetic(scope, name, x, y, mode, argument.boolean(flush_to_zero))


def _register_extreme(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def extreme(
        scope: Scope, x: object, y: object, flush_to_zero: object, propagate_nan: object
    ) -> Operand:
        flush, nan = argument.boolean(flush_to_zero), argument.boolean(propagate_nan)
        return arithmetic(scope, name, x, y, None, flush, nan)


def _register_plain(
    evaluate: Callable[..., Operand], name: str, *functions: Callable[..., object]
) -> None:
    @implements(*functions)
    def plain(scope: Scope, x: object, y: object) -> Operand:
        return evaluate(scope, name, x, y)


for _name in ("add", "sub", "mul", "truediv"):
    _register_rounded(getattr(language, _name), _name)
_register_extreme(bits.minimum, "min")
_register_extreme(bits.maximum, "max")
_register_plain(arithmetic, "floordiv", language.floordiv)
_register_plain(arithmetic, "mod", language.mod)
_register_plain(arithmetic, "atan2", language.atan2)
_register_plain(arithmetic, "cdiv", language.cdiv, language._cdiv_of_tiles)  # noqa: SLF001
_register_plain(lambda scope, _, x, y: power(scope, x, y), "pow", language.pow)
for _name in ("and", "or", "xor"):
    _register_plain(bitwise, _name, getattr(bits, f"bitwise_{_name}"))
_register_plain(shift, "shl", bits.bitwise_lshift)
_register_plain(shift, "shr", bits.bitwise_rshift)
for _name, _function in (
    ("eq", bits.equal),
    ("ne", bits.not_equal),
    ("lt", bits.less),
    ("le", bits.less_equal),
    ("gt", bits.greater),
    ("ge", bits.greater_equal),
):
    _register_plain(compare, _name, _function)
