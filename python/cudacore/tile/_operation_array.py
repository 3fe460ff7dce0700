# SPDX-License-Identifier: Apache-2.0
"""What attributes and subscripts of arrays, tiles, views and lists do in a kernel."""

from __future__ import annotations

import operator
from typing import NoReturn

from cudacore.tile import _dtype
from cudacore.tile import _language_array as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._advice import function_instead, name_instead
from cudacore.tile._dataclass import replace
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._mode import PaddingMode
from cudacore.tile._operand import (
    Operand,
    astype,
    data_type,
    describe,
    is_number,
    lift,
    scalar,
    shape_of,
    strict,
    value_of,
)
from cudacore.tile._operation import implements
from cudacore.tile._operation_address import moved
from cudacore.tile._operation_arithmetic import arithmetic
from cudacore.tile._operation_gather import signed_scalar
from cudacore.tile._operation_memory import check_padding
from cudacore.tile._operation_shape import subscript
from cudacore.tile._text import Type
from cudacore.tile._value import (
    Array,
    BoundMethod,
    Constant,
    List,
    RawArrayMemory,
    Tile,
    TiledView,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._scope import Scope
    from cudacore.tile._text import Value

_CHANGES = ("add", "max", "min", "and", "or", "xor")
_METHODS = {
    Array: (language.Array, ("slice", "tiled_view", "get_raw_memory")),
    Tile: (
        language.Tile,
        ("item", "extract", "insert", "reshape", "permute", "transpose", "astype"),
    ),
    TiledView: (
        language.TiledView,
        ("num_tiles", "load", "store", *(f"atomic_store_{name}" for name in _CHANGES)),
    ),
    RawArrayMemory: (
        language.RawArrayMemory,
        (
            "load_offset",
            "store_offset",
            *(f"atomic_{name}_offset" for name in ("cas", "xchg", *_CHANGES)),
        ),
    ),
}


def _constants(extents: tuple[int, ...]) -> tuple[Constant, ...]:
    return tuple(map(Constant, extents))


def _properties(value: object) -> dict[str, object]:
    """Give the attributes that are no methods."""
    if isinstance(value, Array):
        return {
            "dtype": Constant(value.dtype),
            "shape": value.shape,
            "strides": value.strides,
            "ndim": Constant(value.ndim),
        }
    if isinstance(value, TiledView):
        return {
            "dtype": Constant(value.array.dtype),
            "tile_shape": _constants(value.tile_shape),
            "traversal_steps": _constants(value.traversal_steps),
        }
    if isinstance(value, RawArrayMemory):
        return {"dtype": Constant(value.dtype)}
    if is_number(value):
        assert isinstance(value, (Tile, Constant))  # noqa: S101
        shape = shape_of(value)
        return {
            "dtype": Constant(data_type(value)),
            "shape": _constants(shape),
            "ndim": Constant(len(shape)),
        }
    if isinstance(value, Constant) and isinstance(value.value, DType):
        return {
            "name": Constant(value.value.name),
            "bitwidth": Constant(value.value.bitwidth),
        }
    return {}


@implements(getattr)
def attribute(scope: Scope, value: object, name: object) -> object:  # noqa: ARG001
    """Give an attribute of a value of the language."""
    text = argument.string(name)
    properties = _properties(value)
    if text in properties:
        return properties[text]
    kind = Tile if is_number(value) else type(value)
    owner, methods = _METHODS.get(kind, (None, ()))
    if owner is None or text not in methods:
        names = (*properties, *methods)
        raise MismatchError(
            f"No such attribute '{text}' for object of type {describe(lift(value))}"
            + ((kind is Tile and function_instead(text)) or name_instead(text, names))
        )
    return BoundMethod(value, getattr(owner, text))


@implements(operator.getitem)
def item(scope: Scope, value: object, key: object) -> object:
    """Give an item of a value of the language."""
    if isinstance(value, List):
        return list_item(scope, value, key)
    if isinstance(value, Array):
        raise MismatchError(
            "Arrays are not directly subscriptable. Use load() or gather() instead."
        )
    if is_number(value):
        return subscript(scope, value, key)  # type: ignore[arg-type]
    raise MismatchError(f"Object of type {describe(lift(value))} is not subscriptable")


@implements(operator.setitem)
def set_item(scope: Scope, value: object, key: object, new: object) -> NoReturn:  # noqa: ARG001
    """Refuse to assign to an item: nothing in the language changes."""
    if isinstance(value, Array):
        raise MismatchError(
            "Arrays do not support item assignment. Use store() or scatter() instead."
        )
    if is_number(value):
        raise MismatchError("Tiles are immutable: item assignment is not supported.")
    raise MismatchError(f"Object of type {describe(lift(value))} does not support item assignment")


@implements(len)
def length(scope: Scope, value: object) -> Operand:  # noqa: ARG001
    """Give how many arrays a list has."""
    if not isinstance(value, List):
        raise MismatchError(f"Object of type {describe(lift(value))} has no len()")
    return value.length


def list_item(scope: Scope, source: List, key: object) -> Array:
    """Give an array of a list: its address, extents and strides stand in a table."""
    index = scalar(key)
    if not data_type(index).is_integer:
        raise MismatchError(f"Index must be an integer scalar or 0D Tile, got {describe(index)}")
    if isinstance(index, Constant) and index.value < 0:
        raise MismatchError(f"Index {index.value} of a list of arrays must not be negative")
    words = 1 + 2 * source.ndim
    first = arithmetic(
        scope, "mul", astype(scope, index, _dtype.int64), Constant(words, _dtype.int64)
    )

    def word(number: int) -> Value:
        place = arithmetic(scope, "add", first, Constant(number, _dtype.int64))
        of = Type(_dtype.int64.element)
        groups: dict[str, tuple[Value, ...]] = {"mask": (), "other": ()}
        return scope.op("load_at", source.table, value_of(scope, place), type=of, groups=groups)

    def number(position: int, known: tuple[int | None, ...], axis: int) -> Operand:
        fixed = known[axis] if known else None
        dtype: DType = source.index_dtype  # type: ignore[assignment]
        if fixed is not None:
            return strict(fixed, dtype)
        return astype(scope, Tile(word(position), _dtype.int64), dtype)

    of = Type(source.dtype.element, is_pointer=True)
    pointer = scope.op("bitcast", word(0), type=of)
    if source.alignment > 1:
        attributes = {"by": source.alignment}
        pointer = scope.op("assume_div", pointer, type=of, attributes=attributes)
    axes = range(source.ndim)
    return Array(
        pointer,
        source.dtype,
        tuple(number(1 + axis, source.shape, axis) for axis in axes),
        tuple(number(1 + source.ndim + axis, source.strides, axis) for axis in axes),
        source.index_dtype,
    )


@implements(language.Array.slice)
def slice_array(scope: Scope, self: object, axis: object, start: object, stop: object) -> Array:
    """Give a part of an array along an axis."""
    source = argument.array(self)
    position = argument.axis(argument.integer(axis), source.ndim)
    first, last = signed_scalar(start), signed_scalar(stop)
    for name, bound in (("start", first), ("stop", last)):
        if isinstance(bound, Constant) and bound.value < 0:
            raise MismatchError(f"Slice {name} must be non-negative, got {bound.value}")
    if isinstance(first, Constant) and isinstance(last, Constant) and last.value < first.value:
        raise MismatchError(
            f"Slice stop must be greater than or equal to start, got {first.value} and {last.value}"
        )
    dtype: DType = source.index_dtype  # type: ignore[assignment]
    extent = last
    if not (isinstance(first, Constant) and first.value == 0):
        extent = arithmetic(scope, "sub", last, first)
    shape = list(source.shape)
    shape[position] = astype(scope, extent, dtype)
    return replace(moved(scope, source, position, first), shape=tuple(shape))


@implements(language.Array.tiled_view)
def tiled_view(
    scope: Scope,  # noqa: ARG001
    self: object,
    tile_shape: object,
    *,
    padding_mode: object,
    traversal_steps: object,
) -> TiledView:
    """Cut an array into tiles of one shape."""
    source = argument.array(self)
    shape = argument.shape(tile_shape, source.ndim, scalar=True)
    padding = argument.mode(padding_mode, PaddingMode)
    check_padding(padding, source)
    steps = shape or (1,) * source.ndim
    if not argument.is_none(traversal_steps):
        steps = argument.shape(
            traversal_steps, source.ndim, any_extent=True, name="traversal_steps"
        )
    return TiledView(source, shape, padding, steps)


@implements(language.Array.get_raw_memory)
def get_raw_memory(scope: Scope, self: object) -> RawArrayMemory:  # noqa: ARG001
    """Give access to elements by their distance from the first one."""
    source = argument.array(self)
    return RawArrayMemory(source.pointer, source.dtype)
