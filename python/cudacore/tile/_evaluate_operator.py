# SPDX-License-Identifier: Apache-2.0
"""Operators: on what Python itself can compute, on tuples and strings; the rest is looked up."""

import functools
import operator
from collections.abc import Callable
from typing import Any

from cudacore.tile import _convert
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_flow import truth
from cudacore.tile._evaluate_string import is_string, joined_string
from cudacore.tile._exception import TileTypeError, TileValueError
from cudacore.tile._merge import is_number
from cudacore.tile._operand import describe
from cudacore.tile._record import method
from cudacore.tile._scope import IMPLEMENTATIONS
from cudacore.tile._value import Array, Constant, Record, Slice, Tile

#: The operators as messages show them.
SIGNS: dict[Any, str] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.floordiv: "//",
    operator.truediv: "/",
    operator.pow: "**",
    operator.mod: "%",
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.matmul: "@",
    operator.is_: "is",
    operator.is_not: "is not",
    min: "min",
    max: "max",
    divmod: "divmod",
}
UNARY_SIGNS: dict[Any, str] = {
    operator.not_: "not",
    operator.pos: "+",
    operator.invert: "~",
    operator.neg: "-",
}
_LARGEST_SHIFT = 4096  # bits; a larger constant is a mistake, and would take the memory of the host


def is_loose(value: object) -> bool:
    """Return whether Python itself computes with a value: a constant without a dtype."""
    return isinstance(value, Constant) and value.dtype is None


def _is_plain(value: object) -> bool:
    """Return whether a value is a constant integer or float of any precision; not a bool."""
    return isinstance(value, Constant) and is_loose(value) and type(value.value) in (int, float)


def fold(evaluator: Evaluator, function: Callable[..., Any], *operands: Any) -> object:
    """Have Python compute with constants."""
    values = [operand.value for operand in operands]
    try:
        result = function(*values)
    except ArithmeticError as error:
        evaluator.error(TileValueError, f"{error} in {_shown(function, values)}")
    except (TypeError, ValueError) as error:
        evaluator.error(TileTypeError, f"{error} in {_shown(function, values)}")
    return _convert.value(result)


def _check_size(evaluator: Evaluator, function: Any, left: Any, right: Any) -> None:
    if function not in (operator.lshift, operator.pow) or not is_loose(right):
        return
    large = type(right.value) is int and abs(right.value) > _LARGEST_SHIFT
    harmless = (0,) if function is operator.lshift else (-1, 0, 1)
    if large and is_loose(left) and type(left.value) is int and left.value not in harmless:
        sign = SIGNS[function]
        evaluator.error(TileValueError, f"Constant {right.value} is too large for {sign}")


def _shown(function: Any, values: list[Any]) -> str:
    sign = SIGNS.get(function)
    if sign is None or len(values) == 1:
        return f"{UNARY_SIGNS.get(function, function.__name__)}({', '.join(map(repr, values))})"
    return f"{values[0]!r} {sign} {values[1]!r}"


def binary(evaluator: Evaluator, function: Any, left: object, right: object) -> object:
    """Evaluate an operator with two operands."""
    if function in (operator.is_, operator.is_not):
        return _identity(evaluator, function, left, right)
    if isinstance(left, (tuple, dict)) and type(left) is type(right):
        both = _tuples if isinstance(left, tuple) else _dictionaries
        return both(evaluator, function, left, right)  # type: ignore[arg-type]
    if is_string(left) and is_string(right) and function is operator.add:
        return joined_string([left, right])
    numbers = all(isinstance(each, Tile) or is_number(each) for each in (left, right))
    implementation = IMPLEMENTATIONS.get(function)
    if numbers:
        _check_size(evaluator, function, left, right)
    plain = _is_plain(left) and _is_plain(right)
    if plain or (not numbers and is_loose(left) and is_loose(right) and _meet(left, right)):
        return fold(evaluator, function, left, right)
    if not numbers or implementation is None:
        evaluator.error(
            TileTypeError,
            f"Unsupported operand types for {SIGNS[function]}: "
            f"{describe(left)} and {describe(right)}"
            + (
                "; load() tiles first"
                if isinstance(left, Array) or isinstance(right, Array)
                else ""
            ),
        )
    return implementation(evaluator.scope, left, right)


def _meet(left: Any, right: Any) -> bool:
    """Return whether constants are of kinds that Python may combine."""
    numbers = [is_number(each) for each in (left, right)]
    kinds = (type(left.value), type(right.value))
    return not any(numbers) and (kinds[0] is kinds[1] or None in (left.value, right.value))


def _identity(evaluator: Evaluator, function: Any, left: object, right: object) -> Constant:
    nothing = [isinstance(each, Constant) and each.value is None for each in (left, right)]
    if not any(nothing):
        sign = SIGNS[function]
        evaluator.error(
            TileTypeError,
            f"Operator '{sign}' expects one of the operands to be None, "
            f"got {describe(left)} and {describe(right)}; "
            f"write {'==' if function is operator.is_ else '!='}",
        )
    return Constant(all(nothing) == (function is operator.is_))


def _tuples(
    evaluator: Evaluator, function: Any, left: tuple[Any, ...], right: tuple[Any, ...]
) -> object:
    if function is operator.add:
        return left + right
    if function not in (operator.eq, operator.ne):
        name = function.__name__.strip("_")
        evaluator.error(TileTypeError, f"Operator '{name}' is not supported for tuples")
    if len(left) != len(right):
        return Constant(function is operator.ne)
    for each in (*left, *right):
        _check_comparable(evaluator, each)
    pairs = zip(left, right, strict=True)
    return _all_equal(evaluator, function, [binary(evaluator, operator.eq, *p) for p in pairs])


def _all_equal(evaluator: Evaluator, function: Any, equal: list[object]) -> object:
    if any(isinstance(each, Constant) and not each.value for each in equal):
        return Constant(function is operator.ne)
    unknown = [each for each in equal if not isinstance(each, Constant)]
    if not unknown:
        return Constant(function is operator.eq)
    both = functools.partial(binary, evaluator, operator.and_)
    result = functools.reduce(both, unknown)
    return unary(evaluator, operator.not_, result) if function is operator.ne else result


def _check_comparable(evaluator: Evaluator, value: object) -> None:
    if isinstance(value, Tile) and value.shape:
        evaluator.error(TileTypeError, "Tuple comparison is not supported for non-scalar elements")
    if not isinstance(value, (Tile, Constant, tuple)):
        evaluator.error(
            TileTypeError,
            f"Tuple comparison is not supported for elements of type {describe(value)}",
        )
    if isinstance(value, Constant) and (value.value is None or callable(value.value)):
        from cudacore.tile._dtype import DType  # noqa: PLC0415 - that imports this language

        if not isinstance(value.value, DType):
            evaluator.error(
                TileTypeError,
                f"Tuple comparison is not supported for elements of type {describe(value)}",
            )


def _dictionaries(
    evaluator: Evaluator, function: Any, left: dict[str, Any], right: dict[str, Any]
) -> object:
    if function not in (operator.eq, operator.ne):
        name = function.__name__.strip("_")
        evaluator.error(TileTypeError, f"Operator '{name}' is not supported for dictionaries")
    if left.keys() != right.keys():
        return Constant(function is operator.ne)
    return _tuples(evaluator, function, tuple(left.values()), tuple(right[key] for key in left))


def unary(evaluator: Evaluator, function: Any, operand: object) -> object:
    """Evaluate an operator with one operand."""
    if function is operator.not_ and not isinstance(operand, Tile):
        known = truth(evaluator, operand)
        return Constant(not known)
    if not (isinstance(operand, Tile) or is_number(operand)) or function not in IMPLEMENTATIONS:
        evaluator.error(
            TileTypeError,
            f"Unsupported operand type for {UNARY_SIGNS[function]}: {describe(operand)}",
        )
    return IMPLEMENTATIONS[function](evaluator.scope, operand)


def contains(evaluator: Evaluator, left: object, right: object) -> object:
    """Evaluate ``left in right``."""
    if isinstance(right, dict):
        return Constant(_key(evaluator, left) in right)
    if is_loose(left) and is_loose(right) and is_string(left) and is_string(right):
        return fold(evaluator, lambda one, other: one in other, left, right)
    if not isinstance(right, tuple):
        evaluator.error(
            TileTypeError,
            f"Unsupported operand types for 'in': {describe(left)} and {describe(right)}",
        )
    unknown: list[object] = []
    for each in right:
        equal = binary(evaluator, operator.eq, left, each)
        if isinstance(equal, Tile) and equal.shape:
            evaluator.error(
                TileTypeError, f"'in' requires scalar operands, but got shape {equal.shape}"
            )
        if not isinstance(equal, Constant):
            unknown.append(equal)
        elif equal.value:
            return Constant(True)
    if not unknown:
        return Constant(False)
    return functools.reduce(functools.partial(binary, evaluator, operator.or_), unknown)


def _key(evaluator: Evaluator, key: object) -> str:
    if not isinstance(key, Constant) or not isinstance(key.value, str):
        evaluator.error(TileTypeError, f"Dictionary keys must be strings, not {describe(key)}")
    return key.value


def item(evaluator: Evaluator, value: object, key: object) -> object:
    """Evaluate ``value[key]``."""
    if isinstance(value, tuple):
        return _tuple_item(evaluator, value, key)
    if isinstance(value, dict):
        name = _key(evaluator, key)
        if name not in value:
            evaluator.error(TileTypeError, f"Key '{name}' not found in dictionary")
        return value[name]
    if isinstance(value, Record):
        own = method(value.type, "__getitem__")
        if own is None:
            evaluator.error(
                TileTypeError, f"'{value.type.__qualname__}' object is not subscriptable"
            )
        return evaluator.call(Constant(own), value, key)
    implementation = IMPLEMENTATIONS.get(operator.getitem)
    if implementation is None or isinstance(value, Constant):
        evaluator.error(TileTypeError, f"Object of type {describe(value)} is not subscriptable")
    return implementation(evaluator.scope, value, key)


def _tuple_item(evaluator: Evaluator, value: tuple[object, ...], key: object) -> object:
    if isinstance(key, Slice):
        parts = (key.start, key.stop, key.step)
        if not all(isinstance(each, Constant) for each in parts):
            evaluator.error(TileTypeError, "Tuple slices must be constant")
        try:
            return value[slice(*(each.value for each in parts))]  # type: ignore[attr-defined]
        except (TypeError, ValueError) as error:
            evaluator.error(TileTypeError, f"Invalid slice of a tuple: {error}")
    number = isinstance(key, Tile) or is_number(key)
    dtype: Any = getattr(key, "dtype", None)
    whole = (
        dtype.is_integer if dtype is not None else number and type(key.value) is int  # type: ignore[attr-defined]
    )
    if not number or not whole or (isinstance(key, Tile) and key.shape):
        evaluator.error(
            TileTypeError, f"Tuple indices must be integers or slices, not {describe(key)}"
        )
    if not isinstance(key, Constant):
        evaluator.error(
            TileTypeError,
            "Tuple indices must be constant; unroll the loop with ct.static_iter()",
        )
    if not -len(value) <= key.value < len(value):
        evaluator.error(
            TileTypeError,
            f"Index {key.value} is out of range for a tuple of length {len(value)}",
        )
    return value[key.value]


def set_item(evaluator: Evaluator, value: object, key: object, new: object) -> None:
    """Evaluate ``value[key] = new``."""
    if isinstance(value, tuple):
        evaluator.error(TileTypeError, "Tuples are immutable: item assignment is not supported.")
    if isinstance(value, Record):
        own = method(value.type, "__setitem__")
        if own is None:
            evaluator.error(
                TileTypeError,
                f"'{value.type.__qualname__}' object does not support item assignment",
            )
        evaluator.call(Constant(own), value, key, new)
        return
    implementation = IMPLEMENTATIONS.get(operator.setitem)
    if implementation is None or isinstance(value, (Constant, dict)):
        evaluator.error(
            TileTypeError, f"Object of type {describe(value)} does not support item assignment"
        )
    implementation(evaluator.scope, value, key, new)
