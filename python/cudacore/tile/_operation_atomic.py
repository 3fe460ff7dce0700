# SPDX-License-Identifier: Apache-2.0
"""What atomic operations, and the methods of raw memory and tiled views, do in a kernel."""

from __future__ import annotations

from cudacore.tile import _dtype
from cudacore.tile import _language_atomic as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._language_array import RawArrayMemory, TiledView
from cudacore.tile._mode import MemoryOrder, MemoryScope
from cudacore.tile._operand import (
    Operand,
    broadcast,
    broadcasts_to,
    convert,
    data_type,
    describe,
    lift,
    shape_of,
    tile,
    value_of,
)
from cudacore.tile._operation import implements
from cudacore.tile._operation_address import (
    Elements,
    block,
    elements,
    load_elements,
    raw_elements,
    store_elements,
    stored,
)
from cudacore.tile._operation_memory import (
    check_hints,
    check_rank,
    count_tiles,
    load_attributes,
    load_tile,
    ordering,
    origins,
    store_tile,
)
from cudacore.tile._text import Type
from cudacore.tile._value import Tile
from cudacore.tile._value import TiledView as View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cudacore.tile._scope import Scope

_INTEGERS = (_dtype.int32, _dtype.int64, _dtype.uint32, _dtype.uint64)
_NUMBERS = (*_INTEGERS, _dtype.float32, _dtype.float64)
#: The data types that each operation has.
_TYPES: dict[str, tuple[DType, ...]] = {
    "xchg": _NUMBERS,
    "add": (*_NUMBERS, _dtype.float16, _dtype.bfloat16),
    "min": _INTEGERS,
    "max": _INTEGERS,
    "and": _INTEGERS,
    "or": _INTEGERS,
    "xor": _INTEGERS,
}
_BITWISE = ("and", "or", "xor")
_ORDERS = (
    MemoryOrder.RELAXED,
    MemoryOrder.ACQUIRE,
    MemoryOrder.RELEASE,
    MemoryOrder.ACQ_REL,
)


def _check_type(dtype: DType, allowed: tuple[DType, ...], what: str = "array") -> None:
    if dtype not in allowed:
        listed = ", ".join(map(str, allowed))
        raise MismatchError(f"Unsupported {what} dtype: {dtype}; supported are {listed}")


def _update(scope: Scope, name: str, value: object, dtype: DType) -> Operand:
    """Give the operand of an atomic operation, in the data type of the memory."""
    given = tile(value)
    if name not in _BITWISE:
        return convert(scope, given, dtype, "Update is incompatible with the target dtype")
    if data_type(given) != dtype:
        raise MismatchError(
            "Bitwise atomic read-modify-write operations require the update "
            f"dtype ({data_type(given)}) to exactly match the target dtype ({dtype})"
        )
    return given


def change(  # noqa: PLR0917
    scope: Scope,
    name: str,
    target: Elements,
    update: object,
    memory_order: object,
    memory_scope: object,
) -> Tile:
    """Change elements atomically; give what they were."""
    _check_type(target.dtype, _TYPES[name])
    given = tile(update)
    if not broadcasts_to(shape_of(given), target.shape):
        raise MismatchError(
            f"Update shape {shape_of(given)} is not broadcastable to the index shape {target.shape}"
        )
    value = broadcast(scope, _update(scope, name, given, target.dtype), target.shape)
    attributes: dict[str, object] = {"op": name}
    attributes |= ordering("tile_atomic_rmw", memory_order, memory_scope, _ORDERS)
    operands = (*target.operands(scope), value_of(scope, value))
    of = Type(target.dtype.element, target.shape)
    groups = target.groups(scope)
    return Tile(
        scope.op("atomic", *operands, type=of, groups=groups, attributes=attributes),
        target.dtype,
    )


def exchange(  # noqa: PLR0917
    scope: Scope,
    target: Elements,
    expected: object,
    desired: object,
    memory_order: object,
    memory_scope: object,
) -> Tile:
    """Replace elements that are equal to expected values; give what they were."""
    _check_type(target.dtype, _NUMBERS)
    before = stored(scope, expected, target, "Expected value")
    after = stored(scope, desired, target, "Desired value")
    attributes = ordering("tile_atomic_cas", memory_order, memory_scope, _ORDERS)
    operands = (*target.operands(scope), value_of(scope, before), value_of(scope, after))
    of = Type(target.dtype.element, target.shape)
    groups = target.groups(scope)
    return Tile(
        scope.op("atomic_cas", *operands, type=of, groups=groups, attributes=attributes),
        target.dtype,
    )


@implements(language.atomic_cas)
def atomic_cas(
    scope: Scope,
    array: object,
    indices: object,
    expected: object,
    desired: object,
    *,
    check_bounds: object,
    memory_order: object,
    memory_scope: object,
) -> Tile:
    """Replace elements of an array that are equal to expected values."""
    target = elements(scope, array, indices, check_bounds)
    return exchange(scope, target, expected, desired, memory_order, memory_scope)


@implements(RawArrayMemory.atomic_cas_offset)
def atomic_cas_offset(
    scope: Scope,
    self: object,
    offset: object,
    expected: object,
    desired: object,
    *,
    mask: object,
    memory_order: object,
    memory_scope: object,
) -> Tile:
    """Replace elements of raw memory that are equal to expected values."""
    target = raw_elements(scope, self, offset, mask)
    return exchange(scope, target, expected, desired, memory_order, memory_scope)


def _register_array(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def of_array(
        scope: Scope,
        array: object,
        indices: object,
        update: object,
        *,
        check_bounds: object,
        memory_order: object,
        memory_scope: object,
    ) -> Tile:
        target = elements(scope, array, indices, check_bounds)
        return change(scope, name, target, update, memory_order, memory_scope)


def _register_raw(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def of_memory(
        scope: Scope,
        self: object,
        offset: object,
        update: object,
        *,
        mask: object,
        memory_order: object,
        memory_scope: object,
    ) -> Tile:
        target = raw_elements(scope, self, offset, mask)
        return change(scope, name, target, update, memory_order, memory_scope)


def _register_view(function: Callable[..., object], name: str) -> None:
    @implements(function)
    def of_view(scope: Scope, self: object, index: object, update: object) -> None:
        source, items = _view(self, index)
        _check_type(source.array.dtype, _TYPES[name], "tiled view")  # type: ignore[arg-type]
        given = tile(update)
        shape = source.tile_shape
        if not broadcasts_to(shape_of(given), shape):
            raise MismatchError(
                f"Update shape {shape_of(given)} is not broadcastable"
                f" to the tiled view's tile shape {shape}"
            )
        starts = origins(scope, source.array, items, source.traversal_steps)
        shape = shape or (1,) * source.array.ndim
        target = block(scope, source.array, starts, shape)
        value = broadcast(scope, _update(scope, name, given, target.dtype), shape)
        attributes: dict[str, object] = {"op": name}
        orders = MemoryOrder.RELAXED, MemoryScope.DEVICE
        attributes |= ordering("tile_atomic_red_view", *orders, _ORDERS)
        operands = (*target.operands(scope), value_of(scope, value))
        scope.ops("atomic", *operands, groups=target.groups(scope), attributes=attributes)


for _name in _TYPES:
    _register_array(getattr(language, f"atomic_{_name}"), _name)
    _register_raw(getattr(RawArrayMemory, f"atomic_{_name}_offset"), _name)
    if _name != "xchg":
        _register_view(getattr(TiledView, f"atomic_store_{_name}"), _name)


@implements(RawArrayMemory.load_offset)
def load_offset(
    scope: Scope,
    self: object,
    offset: object,
    *,
    mask: object,
    padding_value: object,
    latency: object,
) -> Tile:
    """Load elements of raw memory."""
    source = raw_elements(scope, self, offset, mask)
    other: Operand | None = None
    if not argument.is_none(padding_value):
        padding = tile(padding_value)
        if not broadcasts_to(shape_of(padding), source.shape):
            raise MismatchError(
                f"Padding shape {shape_of(padding)} is not broadcastable to the"
                f" offset shape {source.shape}"
            )
        padding = convert(scope, padding, source.dtype, "Invalid padding value")
        if source.mask is not None:
            other = broadcast(scope, padding, source.shape)
    check_hints(latency)
    return load_elements(scope, source, other)


@implements(RawArrayMemory.store_offset)
def store_offset(
    scope: Scope, self: object, offset: object, value: object, *, mask: object, latency: object
) -> None:
    """Store elements of raw memory."""
    target = raw_elements(scope, self, offset, mask)
    given = stored(scope, value, target, "Value", "RawArrayMemory")
    check_hints(latency)
    store_elements(scope, target, given)


def _view(self: object, index: object) -> tuple[View, tuple[Operand, ...]]:
    if not isinstance(self, View):
        raise MismatchError(
            f"Expected a tiled view, but given value has type {describe(lift(self))}"
        )
    items = argument.indices(index)
    check_rank(len(items), self.array.ndim, "tiled view")
    return self, items


@implements(TiledView.num_tiles)
def view_num_tiles(scope: Scope, self: object, axis: object) -> Operand:
    """Give how many tiles a view has along an axis."""
    if not isinstance(self, View):
        raise MismatchError(
            f"Expected a tiled view, but given value has type {describe(lift(self))}"
        )
    position = argument.axis(argument.integer(axis), self.array.ndim)
    return count_tiles(scope, self.array.shape[position], self.traversal_steps[position])


@implements(TiledView.load)
def view_load(
    scope: Scope,
    self: object,
    index: object,
    *,
    check_bounds: object,
    latency: object,
    allow_tma: object,
) -> Operand:
    """Load a tile of a view."""
    source, items = _view(self, index)
    check_hints(latency, allow_tma)
    attributes = load_attributes(source.padding_mode, check=argument.boolean(check_bounds))
    axes = range(source.array.ndim)
    steps = source.traversal_steps
    return load_tile(scope, source.array, items, source.tile_shape, steps, axes, attributes)


@implements(TiledView.store)
def view_store(
    scope: Scope,
    self: object,
    index: object,
    tile: object,
    *,
    check_bounds: object,
    latency: object,
    allow_tma: object,
) -> None:
    """Store a tile of a view."""
    target, items = _view(self, index)
    value = _viewed(scope, tile, target)
    check_hints(latency, allow_tma)
    attributes: dict[str, object] = {} if argument.boolean(check_bounds) else {"bounds": 0}
    axes = range(target.array.ndim)
    store_tile(scope, target.array, items, value, target.traversal_steps, axes, attributes)


def _viewed(scope: Scope, value: object, target: View) -> Operand:
    given = tile(value)
    if not broadcasts_to(shape_of(given), target.tile_shape):
        raise MismatchError(
            f"Tile shape {shape_of(given)} is not broadcastable"
            f" to the tiled view's tile shape {target.tile_shape}"
        )
    context = "Stored tile is incompatible with tiled view's dtype"
    given = convert(scope, given, target.array.dtype, context)  # type: ignore[arg-type]
    return broadcast(scope, given, target.tile_shape)
