# SPDX-License-Identifier: Apache-2.0
"""What making and shaping tiles does in a kernel."""

from __future__ import annotations

import math

from cudacore.tile import _dtype
from cudacore.tile import _language_new as new
from cudacore.tile import _language_shape as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._language_array import Tile as TileClass
from cudacore.tile._operand import (
    Operand,
    Shape,
    astype,
    broadcast,
    data_type,
    describe,
    describe_index,
    emit,
    filled,
    is_number,
    lift,
    reshape,
    scalar,
    shape_of,
    spread,
    tile,
    value_of,
)
from cudacore.tile._operation import implements
from cudacore.tile._operation_arithmetic import arithmetic
from cudacore.tile._text import Type
from cudacore.tile._value import Constant, Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._scope import Scope
    from cudacore.tile._text import Value


def is_power_of_two(extent: int) -> bool:
    """Whether a tile can have an extent."""
    return extent > 0 and not extent & (extent - 1)


def iota(scope: Scope, size: int, dtype: DType) -> Tile:
    """Make a tile of the integers from 0 on."""
    of = Type(dtype.element, (size,))
    return Tile(scope.op("iota", type=of), dtype)


@implements(new.arange)
def arange(scope: Scope, size: object, *, dtype: object, start: object, step: object) -> Operand:
    """Make a tile of equally spaced numbers."""
    count, target = argument.integer(size), argument.dtype(dtype)
    if not is_power_of_two(count):
        above = 1 << max(count, 1).bit_length()
        advice = f"; the next ones are {above >> 1} and {above}" if count > 0 else ""
        raise MismatchError(f"Result tile shape must be power of 2, got {count}{advice}")
    result: Operand = iota(scope, count, target if target.is_integer else _dtype.int32)
    result = astype(scope, result, target)
    first, distance = scalar(start), scalar(step)
    if not (isinstance(distance, Constant) and distance.value == 1):
        result = arithmetic(scope, "mul", result, astype(scope, distance, target))
    if not (isinstance(first, Constant) and first.value == 0):
        result = arithmetic(scope, "add", result, astype(scope, first, target))
    return result


def _full(scope: Scope, shape: Shape, value: Operand, dtype: DType) -> Operand:
    return broadcast(scope, astype(scope, value, dtype), shape)


@implements(new.full)
def full(scope: Scope, shape: object, fill_value: object, dtype: object) -> Operand:
    """Make a tile filled with a number."""
    value = scalar(fill_value)
    return _full(scope, argument.shape(shape), value, argument.dtype(dtype))


@implements(new.ones)
def ones(scope: Scope, shape: object, dtype: object) -> Operand:
    """Make a tile filled with 1."""
    return _full(scope, argument.shape(shape), Constant(1), argument.dtype(dtype))


@implements(new.zeros)
def zeros(scope: Scope, shape: object, dtype: object) -> Operand:
    """Make a tile filled with 0; a type without it gets what is nearest."""
    return _full(scope, argument.shape(shape), Constant(0), argument.dtype(dtype))


def _nested_shape(value: object, path: str) -> Shape:
    if not isinstance(value, tuple):
        item = lift(value)
        if not is_number(item):
            raise MismatchError(
                f"Expected scalar elements at {path}; got element of type {describe(item)}"
            )
        if shape_of(item):  # type: ignore[arg-type]
            shape = shape_of(item)  # type: ignore[arg-type]
            raise MismatchError(f"Expected scalar elements at {path}; got a tile of shape {shape}")
        return ()
    if not is_power_of_two(len(value)):
        raise MismatchError(f"Tuple length {len(value)} at {path} is not a power of 2")
    inner = {_nested_shape(item, f"{path}[{i}]") for i, item in enumerate(value)}
    if len(inner) != 1:
        raise MismatchError(f"Tuple has non-uniform inner shapes at {path}")
    return (len(value), *inner.pop())


def _flat(value: object) -> list[object]:
    if isinstance(value, tuple):
        return [item for each in value for item in _flat(each)]
    return [lift(value)]


def _joined(scope: Scope, items: Sequence[Operand], dtype: DType) -> Operand:
    """Join scalars to a tile of one axis; equal constants in a row need one operation."""
    first = items[0]
    if isinstance(first, Constant) and all(item == first for item in items):
        return filled(scope, first.value, dtype, (len(items),))
    if len(items) == 1:
        return broadcast(scope, first, (1,))
    half = len(items) // 2
    parts = _joined(scope, items[:half], dtype), _joined(scope, items[half:], dtype)
    return emit(scope, "cat", *parts, dtype=dtype, shape=(len(items),), attributes={"axis": 0})


@implements(new.astile)
def astile(scope: Scope, value: object, *, dtype: object) -> Operand:
    """Make a tile of scalars."""
    target = argument.dtype(dtype)
    item = argument.plain(value)
    if not isinstance(item, tuple):
        lifted = lift(value)
        if not is_number(lifted) or shape_of(lifted):  # type: ignore[arg-type]
            raise MismatchError(
                "Expected a scalar or (possibly nested) tuple of scalars; "
                f"got value of type {describe(lifted)}"
            )
        return astype(scope, lifted, target)  # type: ignore[arg-type]
    shape = _nested_shape(item, "value")
    items = [astype(scope, each, target) for each in _flat(item)]  # type: ignore[arg-type]
    return reshape(scope, _joined(scope, items, target), shape)


@implements(language.cat)
def cat(scope: Scope, tiles: object, axis: object) -> Operand:  # noqa: C901
    """Join two tiles along an axis."""
    if not isinstance(tiles, tuple):
        raise MismatchError(f"Expected a tuple, but given value has type {describe(lift(tiles))}")
    if not tiles:
        raise MismatchError("cat() received an empty tuple")
    position = argument.integer(axis)
    for item in tiles:
        if not is_number(lift(item)):
            raise MismatchError(f"Expected tuple of Tile, got a {describe(lift(item))}")
    first = tile(tiles[0])
    if len(tiles) == 1:
        return first
    if len(tiles) > 2:  # noqa: PLR2004
        raise MismatchError(f"cat() supports at most 2 tiles, got {len(tiles)}")
    second = tile(tiles[1])
    shape, other = shape_of(first), shape_of(second)
    dtype = data_type(first)
    position = argument.axis(position, len(shape))
    if len(other) != len(shape):
        raise MismatchError(f"Expected tiles to have the same rank: {len(shape)} != {len(other)}")
    if data_type(second) != dtype:
        raise MismatchError(
            f"Expected tiles to have the same dtype: {dtype} != {data_type(second)}"
        )
    pairs = enumerate(zip(shape, other, strict=True))
    if any(a != b and i != position for i, (a, b) in pairs):
        raise MismatchError(
            "Expected tiles to have the same shape for non axis dimensions, "
            f"got {shape} and {other}"
        )
    result = list(shape)
    result[position] += other[position]
    if not is_power_of_two(result[position]):
        raise MismatchError(f"Result tile shape must be power of 2, got: {result}")
    return emit(
        scope,
        "cat",
        first,
        second,
        dtype=dtype,
        shape=tuple(result),
        attributes={"axis": position},
    )


@implements(language.expand_dims)
def expand_dims(scope: Scope, x: object, axis: object) -> Operand:
    """Add an axis of extent 1."""
    value = tile(x)
    shape = shape_of(value)
    position = argument.axis(argument.integer(axis), len(shape) + 1)
    return reshape(scope, value, (*shape[:position], 1, *shape[position:]))


@implements(language.broadcast_to)
def broadcast_to(scope: Scope, x: object, shape: object) -> Operand:
    """Repeat elements along axes of extent 1 and along new leading axes."""
    return broadcast(scope, tile(x), argument.shape(shape, single=False))


@implements(language.reshape, TileClass.reshape)
def reshape_to(scope: Scope, x: object, shape: object) -> Operand:
    """Give the elements in another shape."""
    value, wanted = tile(x), argument.integers(shape)
    for extent in wanted:
        if extent > 0 and not is_power_of_two(extent):
            raise MismatchError(
                f"Cannot reshape {shape_of(value)} to {wanted}: {extent} is not a power of two"
            )
    return reshape(scope, value, wanted)


def permuted(scope: Scope, x: Operand, axes: Sequence[int]) -> Operand:
    """Reorder the axes."""
    shape = shape_of(x)
    if list(axes) == list(range(len(shape))):
        return x
    return emit(
        scope,
        "permute",
        x,
        dtype=data_type(x),
        shape=tuple(shape[axis] for axis in axes),
        attributes={"axes": tuple(axes)},
    )


@implements(language.permute, TileClass.permute)
def permute(scope: Scope, x: object, axes: object) -> Operand:
    """Reorder the axes."""
    value = tile(x)
    rank = len(shape_of(value))
    given = argument.integers(axes)
    if len(given) != rank:
        raise MismatchError(f"Num axes must match input's rank: {len(given)} vs {rank}")
    order = [argument.axis(axis, rank) for axis in given]
    for i, axis in enumerate(order):
        if axis in order[:i]:
            raise MismatchError(f"Repeated axis #{i}: {given[i]}")
    return permuted(scope, value, order)


@implements(language.transpose, TileClass.transpose)
def transpose(scope: Scope, x: object, axis0: object, axis1: object) -> Operand:
    """Swap two axes."""
    value = tile(x)
    rank = len(shape_of(value))
    if rank < 2:  # noqa: PLR2004
        raise MismatchError("Cannot transpose a tile with fewer than 2 dimensions")
    first, second = argument.optional_integer(axis0), argument.optional_integer(axis1)
    if (first is None) != (second is None):
        raise MismatchError(
            "transpose axes must either both be specified or both be None, "
            f"got axis0={first}, axis1={second}"
        )
    if first is None or second is None:
        if rank != 2:  # noqa: PLR2004
            raise MismatchError("`axes` must be specified for tile with more than 2 dimensions")
        first, second = 0, 1
    first, second = argument.axis(first, rank), argument.axis(second, rank)
    axes = list(range(rank))
    axes[first], axes[second] = second, first
    return permuted(scope, value, axes)


@implements(TileClass.item)
def item(scope: Scope, self: object) -> Operand:
    """Give the only element."""
    value = tile(self)
    if math.prod(shape_of(value)) != 1:
        raise MismatchError(
            f"Cannot reshape {shape_of(value)} to (); item() needs a tile of one element, and "
            "ct.extract(x, index, shape=()) gives one of many"
        )
    return reshape(scope, value, ())


def _block_index(
    scope: Scope, shape: Shape, block: Shape, index: object, noun: str
) -> list[Value | int]:
    items = argument.indices(index)
    if len(items) != len(shape):
        raise MismatchError(f"Index size {len(items)} does not match the tile rank {len(shape)}")
    result: list[Value | int] = []
    for i, (extent, part, one) in enumerate(zip(shape, block, items, strict=True)):
        if extent % part:
            raise MismatchError(
                f"Input shape {shape} is not divisible by {noun} shape {block} at dimension #{i}"
            )
        if not isinstance(one, Constant):
            result.append(value_of(scope, astype(scope, one, _dtype.int32)))
            continue
        if not 0 <= one.value < extent // part:
            raise MismatchError(
                f"Index {one.value} out of bounds at dimension #{i}: valid range is "
                f"[0, {extent // part}) in tile space (input shape {shape}, "
                f"{noun} shape {block})"
            )
        result.append(int(one.value))
    return result


@implements(language.extract, TileClass.extract)
def extract(scope: Scope, x: object, index: object, shape: object) -> Operand:
    """Give a block of a tile."""
    value = tile(x)
    whole = shape_of(value)
    wanted = argument.shape(shape, len(whole), scalar=True)
    block = wanted or (1,) * len(whole)
    place = _block_index(scope, whole, block, index, "result")
    dtype = data_type(value)
    if whole == block:
        return reshape(scope, value, wanted)
    of = Type(dtype.element, block)
    result = scope.op("extract", value_of(scope, value), type=of, groups={"index": place})
    return reshape(scope, Tile(result, dtype), wanted)


@implements(language.insert, TileClass.insert)
def insert(scope: Scope, x: object, index: object, value: object) -> Operand:
    """Replace a block of a tile."""
    whole, part = tile(x), tile(value)
    dtype, shape = data_type(whole), shape_of(whole)
    if data_type(part) != dtype:
        raise MismatchError(
            f"Cannot insert a tile of dtype {data_type(part)} into a tile of dtype {dtype}; "
            "convert it with astype()"
        )
    block = shape_of(part)
    if not block:
        block = (1,) * len(shape)
        part = spread(scope, part, dtype, block)
    if len(block) != len(shape):
        raise MismatchError(f"Value rank {len(block)} does not match the tile rank {len(shape)}")
    place = _block_index(scope, shape, block, index, "value")
    if block == shape:
        return part
    values = value_of(scope, whole), value_of(scope, part)
    of = Type(dtype.element, shape)
    return Tile(scope.op("insert", *values, type=of, groups={"index": place}), dtype)


def subscript(scope: Scope, x: Operand, index: object) -> Operand:
    """Add axes to a tile where the subscript has None."""
    keys = index if isinstance(index, tuple) else (index,)
    shape = shape_of(x)
    whole = [argument.is_whole_slice(key) for key in keys]
    kinds = [
        "all" if all_ else "new" if argument.is_none(key) else "rest"
        for key, all_ in zip(keys, whole, strict=True)
    ]
    for key, kind in zip(keys, kinds, strict=True):
        if kind == "rest" and argument.plain(key) is not Ellipsis:
            raise MismatchError(
                "Directly indexing a tile is not supported; use `extract()` or `item()` instead. "
                "A subscript may have None, `:` and `...`, but this one has "
                f"{describe_index(lift(key))}; "
                "ct.extract(x, 3, shape=()) gives one element, and ct.extract(x, 0, shape=64) is "
                "what x[0:64] would be"
            )
    if kinds.count("rest") > 1:
        raise MismatchError("Only one ellipsis is allowed")
    if kinds.count("all") > len(shape):
        raise MismatchError(
            f"Tile is {len(shape)}-dimensional, but {kinds.count('all')} were indexed"
        )
    if "rest" not in kinds:
        kinds.append("rest")
    left, result = list(shape), list[int]()
    for kind in kinds:
        if kind == "new":
            result.append(1)
        elif kind == "all":
            result.append(left.pop(0))
        else:
            count = len(left) - kinds[kinds.index("rest") :].count("all")
            result += left[:count]
            del left[:count]
    return reshape(scope, x, result)
