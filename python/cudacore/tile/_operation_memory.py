# SPDX-License-Identifier: Apache-2.0
"""What blocks, loads and stores do in a kernel."""

from __future__ import annotations

from cudacore.tile import _dtype
from cudacore.tile import _language_memory as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import MismatchError, RangeError
from cudacore.tile._mode import MemoryOrder, MemoryScope, PaddingMode
from cudacore.tile._operand import (
    Operand,
    Shape,
    astype,
    broadcast,
    convert,
    data_type,
    describe,
    lift,
    reshape,
    shape_of,
    tile,
    value_of,
)
from cudacore.tile._operation import implements
from cudacore.tile._operation_arithmetic import arithmetic
from cudacore.tile._text import Type
from cudacore.tile._value import Array, Constant, Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._scope import Scope
    from cudacore.tile._text import Value

#: As far as tiles with constant indices are from the first element of an array.
_FARTHEST = 2**62

_PAD = {
    PaddingMode.UNDETERMINED: "undef",
    PaddingMode.ZERO: "zero",
    PaddingMode.NEG_ZERO: "neg_zero",
    PaddingMode.NAN: "nan",
    PaddingMode.POS_INF: "inf",
    PaddingMode.NEG_INF: "neg_inf",
}


def _of_grid(scope: Scope, name: str, value: object) -> Tile:
    axis = argument.integer(value)
    if axis not in (0, 1, 2):
        raise MismatchError(f"Axis must be 0, 1, or 2, but {axis} was given.")
    of = Type(_dtype.int32.element)
    return Tile(scope.op(name, type=of, attributes={"axis": axis}), _dtype.int32)


@implements(language.bid)
def bid(scope: Scope, axis: object) -> Tile:
    """Give the index of the block."""
    return _of_grid(scope, "bid", axis)


@implements(language.num_blocks)
def num_blocks(scope: Scope, axis: object) -> Tile:
    """Give the number of blocks."""
    return _of_grid(scope, "num_blocks", axis)


def count_tiles(scope: Scope, extent: Operand, step: int) -> Operand:
    """Give how many tiles it takes to cover an extent."""
    if step == 1:
        return astype(scope, extent, _dtype.int32)
    dtype = data_type(extent)
    count = arithmetic(scope, "cdiv", extent, Constant(step, dtype))
    return astype(scope, count, _dtype.int32)


@implements(language.num_tiles)
def num_tiles(scope: Scope, array: object, axis: object, shape: object, order: object) -> Operand:
    """Give how many tiles it takes to cover an array."""
    source = argument.array(array)
    position = argument.axis(argument.integer(axis), source.ndim)
    extents = argument.shape(shape, source.ndim, scalar=True) or (1,) * source.ndim
    axes = argument.order(order, source.ndim)
    return count_tiles(scope, source.shape[axes[position]], extents[position])


@implements(language.assume_divisible_by)
def assume_divisible_by(scope: Scope, x: object, divisor: object) -> Operand:
    """Promise that an integer is a multiple."""
    value, by = lift(x), argument.integer(divisor)
    if (
        not isinstance(value, (Tile, Constant))
        or (isinstance(value, Constant) and not isinstance(value.value, int))
        or shape_of(value)
        or not data_type(value).is_integer
    ):
        raise MismatchError(
            f"`assume_divisible_by` requires an integer scalar, got {describe(value)}"
        )
    if by < 1:
        raise MismatchError(f"`assume_divisible_by` requires a positive divisor, got {by}")
    if isinstance(value, Constant):
        if value.value % by:
            raise MismatchError(
                f"Value {value.value} is not divisible by {by}: "
                "`assume_divisible_by` contradicts a known constant"
            )
        return value
    if by == 1:
        return value
    of = value.value.type
    attributes = {"by": by}
    return Tile(scope.op("assume_div", value.value, type=of, attributes=attributes), value.dtype)


def check_hints(latency: object, allow_tma: object = None) -> None:
    """Check what tells how to access memory; nothing depends on it."""
    number = argument.optional_integer(latency)
    if number is not None and not 1 <= number <= 10:  # noqa: PLR2004
        raise RangeError(f"Latency must be between 1 and 10, got {number}")
    argument.optional_boolean(allow_tma)


def ordering(
    name: str, memory_order: object, memory_scope: object, orders: Sequence[MemoryOrder]
) -> dict[str, object]:
    """Give the attributes of the text for an order and a scope."""
    order = argument.mode(memory_order, MemoryOrder)
    scope = argument.mode(memory_scope, MemoryScope)
    if order not in orders:
        listed = ", ".join(map(str, orders))
        raise MismatchError(
            f"Invalid memory order for {name}. Got {order}, expected one of {listed}"
        )
    if scope is MemoryScope.CLUSTER:
        raise MismatchError(
            f"Invalid memory scope for {name}. Got {scope}, expected one of "
            f"{MemoryScope.NONE}, {MemoryScope.BLOCK}, {MemoryScope.DEVICE}, {MemoryScope.SYS}"
        )
    if order is MemoryOrder.WEAK:
        if scope is not MemoryScope.NONE:
            raise MismatchError(f"{name} with WEAK memory ordering cannot specify a memory scope")
        return {}
    if scope is MemoryScope.NONE:
        raise MismatchError(f"{name} with {order.name} memory ordering requires a memory scope")
    return {"mem": order.value, "scope": scope.value}


def check_rank(count: int, rank: int, what: str = "array") -> None:
    """Check that there is an index for each axis."""
    if count != rank:
        raise MismatchError(f"Index size {count} does not match the {what} rank {rank}")


def origins(
    scope: Scope, array: Array, indices: Sequence[Operand], steps: Sequence[int]
) -> list[Operand]:
    """Give the first elements of a tile along each axis.

    No array reaches as far as some constant indices do: tiles there are moved to where they can be
    computed with.
    """
    result: list[Operand] = []
    for index, step in zip(indices, steps, strict=True):
        if isinstance(index, Constant):
            place = index.value * step
            result.append(Constant(max(-_FARTHEST, min(place, _FARTHEST))))
            continue
        wide = max(data_type(index).bitwidth, array.index_dtype.bitwidth)  # type: ignore[attr-defined]
        dtype = _dtype.int64 if wide > 32 else _dtype.int32  # noqa: PLR2004
        start = astype(scope, index, dtype)
        if step != 1:
            start = arithmetic(scope, "mul", start, Constant(step, dtype))
        result.append(start)
    return result


def _literals(scope: Scope, values: Sequence[Operand]) -> tuple[Value | int, ...]:
    return tuple(int(x.value) if isinstance(x, Constant) else value_of(scope, x) for x in values)


def _groups(
    scope: Scope, array: Array, origin: Sequence[Operand], axes: Sequence[int]
) -> dict[str, tuple[Value | int, ...]]:
    return {
        "origin": _literals(scope, origin),
        "shape": _literals(scope, [array.shape[axis] for axis in axes]),
        "strides": _literals(scope, [array.strides[axis] for axis in axes]),
    }


def check_padding(mode: PaddingMode, array: Array) -> None:
    """Check that a data type has what elements out of the array are to be."""
    special = mode not in (PaddingMode.UNDETERMINED, PaddingMode.ZERO)
    if special and not array.dtype.is_float:  # type: ignore[attr-defined]
        raise MismatchError(
            f"Padding mode {mode.name} is for floats only, but got {array.dtype}; "
            "choose elements with ct.where() after the load"
        )


def load_tile(  # noqa: PLR0917
    scope: Scope,
    array: Array,
    indices: Sequence[Operand],
    shape: Shape,
    steps: Sequence[int],
    axes: Sequence[int],
    attributes: dict[str, object],
) -> Operand:
    """Load a tile of an array; the empty shape is that of a scalar."""
    dtype = array.dtype
    if not array.ndim:
        place = value_of(scope, Constant(0, _dtype.int32))
        groups: dict[str, tuple[Value | int, ...]] = {"mask": (), "other": ()}
        kept = {key: value for key, value in attributes.items() if key in ("mem", "scope")}
        of = Type(dtype.element)
        value = scope.op("load_at", array.pointer, place, type=of, groups=groups, attributes=kept)
        return Tile(value, dtype)
    origin = origins(scope, array, indices, steps)
    of = Type(dtype.element, shape or (1,) * array.ndim)
    groups = _groups(scope, array, origin, axes)
    value = scope.op("load", array.pointer, type=of, groups=groups, attributes=attributes)
    return reshape(scope, Tile(value, dtype), shape)


def store_tile(  # noqa: PLR0917
    scope: Scope,
    array: Array,
    indices: Sequence[Operand],
    value: Operand,
    steps: Sequence[int],
    axes: Sequence[int],
    attributes: dict[str, object],
) -> None:
    """Store a tile into an array; a scalar is a tile of one element."""
    if not array.ndim:
        place = value_of(scope, Constant(0, _dtype.int32))
        kept = {key: value for key, value in attributes.items() if key in ("mem", "scope")}
        operands = (array.pointer, place, value_of(scope, value))
        scope.ops("store_at", *operands, groups={"mask": ()}, attributes=kept)
        return
    if not shape_of(value):
        value = broadcast(scope, value, (1,) * array.ndim)
    origin = origins(scope, array, indices, steps)
    groups = _groups(scope, array, origin, axes)
    operands_ = (array.pointer, value_of(scope, value))
    scope.ops("store", *operands_, groups=groups, attributes=attributes)


def load_attributes(padding: PaddingMode, *, check: bool) -> dict[str, object]:
    """Give the attributes of a load: what is out of the array, and whether anything can be."""
    if not check:
        return {"bounds": 0}
    return {} if padding is PaddingMode.UNDETERMINED else {"pad": _PAD[padding]}


@implements(language.load)
def load(
    scope: Scope,
    array: object,
    index: object,
    shape: object,
    *,
    order: object,
    padding_mode: object,
    check_bounds: object,
    latency: object,
    allow_tma: object,
    memory_order: object,
    memory_scope: object,
) -> Operand:
    """Load a tile of an array."""
    source = argument.array(array)
    items = argument.indices(index)
    check_rank(len(items), source.ndim)
    wanted = argument.shape(shape, source.ndim, scalar=True)
    axes = argument.order(order, source.ndim)
    padding = argument.mode(padding_mode, PaddingMode)
    check_padding(padding, source)
    check_hints(latency, allow_tma)
    orders = (MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.WEAK)
    attributes = load_attributes(padding, check=argument.boolean(check_bounds))
    attributes |= ordering("tile_load", memory_order, memory_scope, orders)
    steps = wanted or (1,) * source.ndim
    return load_tile(scope, source, items, wanted, steps, axes, attributes)


@implements(language.store)
def store(
    scope: Scope,
    array: object,
    index: object,
    tile: object,
    *,
    order: object,
    check_bounds: object,
    latency: object,
    allow_tma: object,
    memory_order: object,
    memory_scope: object,
) -> None:
    """Store a tile into an array."""
    target = argument.array(array)
    items = argument.indices(index)
    check_rank(len(items), target.ndim)
    value = _stored_tile(scope, tile, target)
    axes = argument.order(order, target.ndim)
    check_hints(latency, allow_tma)
    orders = (MemoryOrder.RELAXED, MemoryOrder.RELEASE, MemoryOrder.WEAK)
    attributes: dict[str, object] = {} if argument.boolean(check_bounds) else {"bounds": 0}
    attributes |= ordering("tile_store", memory_order, memory_scope, orders)
    steps = shape_of(value) or (1,) * target.ndim
    store_tile(scope, target, items, value, steps, axes, attributes)


def _stored_tile(scope: Scope, value: object, target: Array) -> Operand:
    given = tile(value)
    rank = len(shape_of(given))
    if rank not in (0, target.ndim):
        raise MismatchError(
            f"Stored tile has rank {rank}, shape {shape_of(given)}, but the array has rank "
            f"{target.ndim}; reshape() the tile"
        )
    context = "Stored tile is incompatible with array's dtype"
    return convert(scope, given, target.dtype, context)  # type: ignore[arg-type]
