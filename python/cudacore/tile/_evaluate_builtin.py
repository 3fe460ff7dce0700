# SPDX-License-Identifier: Apache-2.0
"""Python's own functions in kernels, as far as they need no operation of the device."""

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

from cudacore.tile._dataclass import replace
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_operator import item
from cudacore.tile._evaluate_string import representation, text
from cudacore.tile._exception import TileTypeError
from cudacore.tile._merge import is_number
from cudacore.tile._operand import describe
from cudacore.tile._record import record_type
from cudacore.tile._scope import IMPLEMENTATIONS
from cudacore.tile._value import Array, Constant, Range, Record, Slice, Tile

#: By the function of Python: what evaluates a call, given the evaluator and the arguments.
BUILTINS: dict[Any, Callable[..., object]] = {
    str: text,
    repr: representation,
    operator.getitem: item,
}


def _builtin(*functions: Any) -> Callable[[Callable[..., object]], Callable[..., object]]:
    def register(handler: Callable[..., object]) -> Callable[..., object]:
        BUILTINS.update(dict.fromkeys(functions, handler))
        return handler

    return register


@_builtin(range)
def _range(evaluator: Evaluator, *args: object) -> object:
    if not 1 <= len(args) <= 3:  # noqa: PLR2004
        evaluator.error(TileTypeError, f"range(): Invalid number of arguments: {len(args)}")
    bounds = [_range_bound(evaluator, each) for each in args]
    start = bounds[0] if len(bounds) > 1 else Constant(0)
    stop = bounds[0] if len(bounds) == 1 else bounds[1]
    step = bounds[2] if len(bounds) == 3 else Constant(1)  # noqa: PLR2004
    if isinstance(step, Constant) and step.value <= 0:
        advice = ""
        if step.value < 0 and isinstance(start, Constant) and isinstance(stop, Constant):
            turns = len(range(start.value, stop.value, step.value))
            factor = "" if step.value == -1 else f"{-step.value} * "
            advice = f"; write `for i in range({turns})` and {start.value} - {factor}i"
        evaluator.error(TileTypeError, f"Step must be positive, got {step.value}{advice}")
    return Range(start, stop, step, _range_dtype(bounds))


def _range_bound(evaluator: Evaluator, value: object) -> "Tile | Constant":
    number = isinstance(value, Tile) or is_number(value)
    if not number or (isinstance(value, Tile) and value.shape):
        evaluator.error(TileTypeError, f"range(): Expected a scalar, but got {describe(value)}")
    dtype: Any = value.dtype  # type: ignore[attr-defined]
    signed = dtype.is_integer and dtype.signed if dtype is not None else type(value.value) is int  # type: ignore[attr-defined]
    if not signed:
        evaluator.error(
            TileTypeError, f"range(): Expected a signed integer scalar, but got {describe(value)}"
        )
    return value  # type: ignore[return-value]


def _range_dtype(bounds: "list[Tile | Constant]") -> Any:
    from cudacore.tile._dtype import int32, int64  # noqa: PLC0415 - loaded by now

    least, greatest = int32.limits
    for bound in bounds:
        wide = bound.dtype == int64
        if wide or (isinstance(bound, Constant) and not least <= bound.value <= greatest):
            return int64
    return int32


@_builtin(len)
def _len(evaluator: Evaluator, value: object) -> object:
    if isinstance(value, (tuple, dict)):
        return Constant(len(value))
    if isinstance(value, Constant) and isinstance(value.value, str):
        return Constant(len(value.value))
    if len not in IMPLEMENTATIONS:
        evaluator.error(TileTypeError, f"Object of type {describe(value)} has no len()")
    return IMPLEMENTATIONS[len](evaluator.scope, value)


@_builtin(tuple)
def _tuple(evaluator: Evaluator, value: object) -> object:
    if not isinstance(value, tuple):
        evaluator.error(
            TileTypeError, f"Object of type {describe(value)} cannot be converted to a tuple"
        )
    return value


def _number(kind: Callable[[Any], Any], name: str) -> Callable[..., object]:
    def convert(evaluator: Evaluator, value: object) -> object:
        if not isinstance(value, (Constant, bool, int)):
            evaluator.error(
                TileTypeError,
                f"{name}() expects a constant argument, got {describe(value)}; "
                f"write x.astype(...) or ct.float32(x)",
            )
        known = value.value if isinstance(value, Constant) else value
        try:
            return Constant(kind(known))
        except (ValueError, TypeError, OverflowError):
            evaluator.error(TileTypeError, f"Invalid argument for {name}({known})")

    return convert


BUILTINS.update({kind: _number(kind, kind.__name__) for kind in (float, int, bool)})


@_builtin(slice)
def _slice(evaluator: Evaluator, *args: object) -> object:
    if not 1 <= len(args) <= 3:  # noqa: PLR2004
        evaluator.error(TileTypeError, f"slice(): Invalid number of arguments: {len(args)}")
    nothing = Constant(None)
    if len(args) == 1:
        return Slice(nothing, args[0], nothing)
    return Slice(*args, *[nothing] * (3 - len(args)))


@_builtin(isinstance)
def _isinstance(evaluator: Evaluator, value: object, types: object) -> object:
    from cudacore.tile import _language_array, _language_tile  # noqa: PLC0415 - used here alone

    kinds = types if isinstance(types, tuple) else (types,)
    if not all(isinstance(each, Constant) and isinstance(each.value, type) for each in kinds):
        evaluator.error(TileTypeError, "isinstance() expects a type, or a tuple of types")
    if isinstance(value, Tile):
        own: type = _language_tile.Tile
    elif isinstance(value, Array):
        own = _language_array.Array
    elif isinstance(value, Record):
        own = value.type
    elif isinstance(value, Constant):
        own = type(value.value)
    else:
        own = type(value)
    return Constant(any(issubclass(own, each.value) for each in kinds))


@_builtin(dataclasses.replace)
def _replace(evaluator: Evaluator, record: object, **changes: object) -> object:
    if not isinstance(record, Record):
        evaluator.error(TileTypeError, f"Expected a dataclass instance, got {describe(record)}")
    known = record_type(record.type)
    if known.signature is None:
        evaluator.error(
            TileTypeError,
            "dataclasses.replace() is only allowed for dataclasses with a default generated "
            "__init__() method",
        )
    for name in changes:
        if name not in known.names:
            kind = record.type.__name__
            evaluator.error(TileTypeError, f"Dataclass '{kind}' has no such field '{name}'")
    return replace(record, fields={**record.fields, **changes})


@_builtin(dict.get)
def _get(evaluator: Evaluator, owner: object, key: object, default: object = None) -> object:
    if not isinstance(owner, dict):
        evaluator.error(TileTypeError, f"dict.get() expects a dictionary, got {describe(owner)}")
    if not isinstance(key, Constant) or not isinstance(key.value, str):
        evaluator.error(TileTypeError, f"Dictionary keys must be strings, not {describe(key)}")
    return owner.get(key.value, Constant(None) if default is None else default)
