# SPDX-License-Identifier: Apache-2.0
"""What reductions and scans do in a kernel."""

from __future__ import annotations

import math

from cudacore.tile import _dtype
from cudacore.tile import _language_reduce as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._combine import (
    Body,
    Number,
    broadcast_all,
    combine,
    kept_shape,
    reduce_along,
)
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._mode import RoundingMode
from cudacore.tile._operand import (
    Operand,
    Shape,
    astype,
    convert,
    data_type,
    describe,
    emit,
    is_number,
    lift,
    reshape,
    shape_of,
    tile,
)
from cudacore.tile._operation import implements
from cudacore.tile._operation_arithmetic import arithmetic, check_modes
from cudacore.tile._operation_shape import iota

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cudacore.tile._scope import Scope


def _limits(dtype: DType) -> tuple[Number, Number]:
    return (-math.inf, math.inf) if dtype.is_float else dtype.limits


def _identity(name: str, dtype: DType) -> Number:
    if name in ("add", "mul"):
        return int(name == "mul")
    return _limits(dtype)[name == "min"]


def _arithmetic_operand(scope: Scope, x: object, what: str) -> Operand:
    value = tile(x)
    dtype = data_type(value)
    if dtype.is_restricted:
        raise MismatchError(f"Non-arithmetic dtype {dtype} is unsupported for {what}")
    return astype(scope, value, _dtype.int32) if dtype.is_boolean else value


def _axis_argument(axis: object) -> int | Shape | None:
    if isinstance(argument.plain(axis), tuple):
        return argument.integers(axis)
    return argument.optional_integer(axis)


def _simple(  # noqa: PLR0917
    scope: Scope,
    name: str,
    x: object,
    axis: object,
    keepdims: object,
    mode: RoundingMode | None,
    flush: bool,
    nan: bool,
) -> Operand:
    keep = argument.boolean(keepdims)
    axes = _axis_argument(axis)
    check_modes(name, mode, data_type(tile(x)), flush=flush)
    value = _arithmetic_operand(scope, x, "reduction")

    def body(left: Sequence[Operand], right: Sequence[Operand]) -> Sequence[Operand]:
        return (arithmetic(scope, name, left[0], right[0], mode, flush, nan),)

    identity = _identity(name, data_type(value))
    return reduce_along(scope, (value,), (identity,), axes, keep, body)[0]


def _register_sum(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def total(
        scope: Scope,
        x: object,
        axis: object,
        *,
        keepdims: object,
        rounding_mode: object,
        flush_to_zero: object,
    ) -> Operand:
        mode = argument.optional_mode(rounding_mode, RoundingMode)
        flush = argument.boolean(flush_to_zero)
        return _simple(scope, name, x, axis, keepdims, mode, flush, nan=False)


def _register_extreme(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def extreme(
        scope: Scope,
        x: object,
        axis: object,
        *,
        keepdims: object,
        flush_to_zero: object,
        propagate_nan: object,
    ) -> Operand:
        flush, nan = argument.boolean(flush_to_zero), argument.boolean(propagate_nan)
        return _simple(scope, name, x, axis, keepdims, None, flush, nan)


_register_sum(language.sum, "add")
_register_sum(language.prod, "mul")
_register_extreme(language.max, "max")
_register_extreme(language.min, "min")


def _better(
    scope: Scope, name: str, left: Sequence[Operand], right: Sequence[Operand], *, nan: bool
) -> Operand:
    """Tell whether the left element is what is looked for, rather than the right one."""

    def test(op: str, *operands: Operand) -> Operand:
        return emit(scope, op, *operands, dtype=_dtype.bool_, shape=())

    (x, i), (y, j) = left, right
    wins = test("gt" if name == "argmax" else "lt", x, y)
    same = test("eq", x, y)
    if data_type(x).is_float:
        x_nan, y_nan = test("isnan", x), test("isnan", y)
        loser, other = (y_nan, x_nan) if nan else (x_nan, y_nan)
        # One of them is NaN: it wins if NaN is looked for, and loses otherwise.
        wins = test("or", wins, test("and", other, test("not", loser)))
        same = test("or", same, test("and", x_nan, y_nan))
    return test("or", wins, test("and", same, test("lt", i, j)))


def _arg(  # noqa: PLR0917
    scope: Scope, name: str, x: object, axis: object, keepdims: object, propagate_nan: object
) -> Operand:
    position = argument.optional_integer(axis)
    keep, nan = argument.boolean(keepdims), argument.boolean(propagate_nan)
    value = _arithmetic_operand(scope, x, "reduction")
    shape = shape_of(value)
    if position is None:
        value = reshape(scope, value, (-1,))
        along, final = 0, (1,) * len(shape) if keep else ()
    else:
        along = argument.axis(position, len(shape))
        final = kept_shape(shape, (along,)) if keep else shape[:along] + shape[along + 1 :]
    extents = shape_of(value)
    indices = iota(scope, extents[along], _dtype.int32)
    line = tuple(extent if i == along else 1 for i, extent in enumerate(extents))

    def body(left: Sequence[Operand], right: Sequence[Operand]) -> Sequence[Operand]:
        choice = _better(scope, name, left, right, nan=nan)
        return tuple(
            emit(scope, "select", choice, a, b, dtype=data_type(a), shape=())
            for a, b in zip(left, right, strict=True)
        )

    least, greatest = _limits(data_type(value))
    identities = (greatest if name == "argmin" else least, 0)
    tiles = (value, reshape(scope, indices, line))
    found = reduce_along(scope, tiles, identities, along, False, body, commutes=True)[1]
    return reshape(scope, found, final)


def _register_arg(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def arg(
        scope: Scope, x: object, axis: object, *, keepdims: object, propagate_nan: object
    ) -> Operand:
        return _arg(scope, name, x, axis, keepdims, propagate_nan)


_register_arg(language.argmax, "argmax")
_register_arg(language.argmin, "argmin")


def _tiles(x: object) -> tuple[tuple[Operand, ...], bool]:
    """Give tiles to be combined together, and whether there was a tuple of them."""
    items = x if isinstance(x, tuple) else (x,)
    if not all(is_number(lift(item)) for item in items):
        raise MismatchError(
            f"Expected a tile or a tuple of tiles, but given value has type {describe(lift(x))}"
        )
    return tuple(map(tile, items)), isinstance(x, tuple)


def _identities(identity: object, count: int, *, several: bool) -> tuple[Number, ...]:
    if not several:
        return (argument.number(identity),)
    items = argument.plain(identity)
    if not isinstance(items, tuple):
        raise MismatchError(
            f"Expected a tuple, but given value has type {describe(lift(identity))}"
        )
    if len(items) != count:
        raise MismatchError(
            f"Number of identity values ({len(items)}) must match"
            f" the number of input tiles ({count})"
        )
    return tuple(map(argument.number, items))


def _checked(scope: Scope, result: object, dtype: DType, what: str, where: str) -> Operand:
    value = lift(result)
    if not is_number(value):
        raise MismatchError(
            f"{what} function returned a value of non-tile type {describe(value)}{where}"
        )
    if shape_of(value):  # type: ignore[arg-type]
        raise MismatchError(
            f"{what} function returned a tile of non-scalar shape {shape_of(value)}{where}"  # type: ignore[arg-type]
        )
    context = f"{what} function returned a tile of unexpected dtype{where}"
    return convert(scope, value, dtype, context)  # type: ignore[arg-type]


def _of_function(
    scope: Scope, function: object, dtypes: Sequence[DType], what: str, *, several: bool
) -> Body:
    """Have a function of the user's combine."""

    def body(left: Sequence[Operand], right: Sequence[Operand]) -> Sequence[Operand]:
        result = scope.call(function, (*left, *right))
        if not several:
            return (_checked(scope, result, dtypes[0], what, ""),)
        if not isinstance(result, tuple):
            raise MismatchError(
                f"{what} function returns a value of type {describe(lift(result))}, "
                "but a tuple was expected"
            )
        if len(result) != len(dtypes):
            raise MismatchError(
                f"{what} function must return a tuple of {len(dtypes)} values to match the number "
                f"of inputs, but a tuple of length {len(result)} was found."
            )
        return tuple(
            _checked(scope, item, dtype, what, f" at position #{i}")
            for i, (item, dtype) in enumerate(zip(result, dtypes, strict=True))
        )

    return body


@implements(language.reduce)
def reduce(
    scope: Scope, x: object, axis: object, func: object, identity: object, *, keepdims: object
) -> object:
    """Combine elements along an axis by a function of the user's."""
    tiles, several = _tiles(x)
    position = argument.integer(axis)
    keep = argument.boolean(keepdims)
    if not tiles:
        raise MismatchError("Need at least one input value to reduce")
    identities = _identities(identity, len(tiles), several=several)
    dtypes = [data_type(each) for each in tiles]
    body = _of_function(scope, func, dtypes, "Reduction", several=several)
    results = reduce_along(scope, tiles, identities, position, keep, body)
    return results if several else results[0]


@implements(language.scan)
def scan(
    scope: Scope, x: object, axis: object, func: object, identity: object, *, reverse: object
) -> object:
    """Combine all elements up to each one by a function of the user's."""
    tiles, several = _tiles(x)
    position = argument.integer(axis)
    backward = argument.boolean(reverse)
    if not tiles:
        raise MismatchError("Need at least one input value to scan")
    identities = _identities(identity, len(tiles), several=several)
    values = broadcast_all(scope, tiles)
    position = argument.axis(position, len(shape_of(values[0])))
    dtypes = [data_type(each) for each in values]
    body = _of_function(scope, func, dtypes, "Scan", several=several)
    results = combine(scope, "scan", values, identities, position, body, backward)
    return results if several else results[0]


def _register_scan(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def running(
        scope: Scope,
        x: object,
        axis: object,
        *,
        reverse: object,
        rounding_mode: object,
        flush_to_zero: object,
    ) -> Operand:
        mode = argument.optional_mode(rounding_mode, RoundingMode)
        flush = argument.boolean(flush_to_zero)
        backward = argument.boolean(reverse)
        position = argument.integer(axis)
        check_modes(name, mode, data_type(tile(x)), flush=flush)
        value = _arithmetic_operand(scope, x, "prefix scans")

        def body(left: Sequence[Operand], right: Sequence[Operand]) -> Sequence[Operand]:
            return (arithmetic(scope, name, left[0], right[0], mode, flush),)

        along = argument.axis(position, len(shape_of(value)))
        identity = _identity(name, data_type(value))
        return combine(scope, "scan", (value,), (identity,), along, body, backward)[0]


_register_scan(language.cumsum, "add")
_register_scan(language.cumprod, "mul")
