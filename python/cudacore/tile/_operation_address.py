# SPDX-License-Identifier: Apache-2.0
"""Offsets of elements from an array's first one, and which indices are within the array."""

from __future__ import annotations

from cudacore.tile import _dtype
from cudacore.tile import _static_argument as argument
from cudacore.tile._dataclass import dataclass, replace
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._operand import (
    Operand,
    Shape,
    astype,
    broadcast,
    broadcasts_to,
    common_shape,
    convert,
    data_type,
    describe,
    lift,
    reshape,
    shape_of,
    strict,
    tile,
    value_of,
)
from cudacore.tile._operation_arithmetic import arithmetic, bitwise, compare
from cudacore.tile._operation_shape import iota
from cudacore.tile._text import Type
from cudacore.tile._value import Array, Constant, RawArrayMemory, Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._scope import Scope
    from cudacore.tile._text import Value


@dataclass(frozen=True)
class Elements:
    """Elements in memory: a pointer, a tile of offsets from it, and which ones there are."""

    pointer: Value
    offsets: Operand
    mask: Operand | None
    dtype: DType
    shape: Shape

    def groups(self, scope: Scope, other: Operand | None = None) -> dict[str, tuple[Value, ...]]:
        """Give the groups ``mask`` and ``other`` of an operation of the text."""
        result: dict[str, tuple[Value, ...]] = {"mask": ()}
        if self.mask is not None:
            result["mask"] = (value_of(scope, self.mask),)
        if other is not None:
            result["other"] = (value_of(scope, other),)
        return result

    def operands(self, scope: Scope) -> tuple[Value, Value]:
        """Give the pointer and the offsets."""
        return self.pointer, value_of(scope, self.offsets)


def _is_one(x: Operand) -> bool:
    return isinstance(x, Constant) and x.value == 1


def inside(scope: Scope, index: Operand, extent: Operand) -> Operand:
    """Tell which indices are in an extent; negative ones are not."""
    if isinstance(index, Constant):
        if index.value < 0:
            return Constant(False)
        if isinstance(extent, Constant):
            return Constant(index.value < extent.value)
        least, greatest = data_type(extent).limits
        if not least <= index.value <= greatest:
            return Constant(False)
        return compare(scope, "lt", strict(index.value, data_type(extent)), extent)
    bits = max(data_type(index).bitwidth, data_type(extent).bitwidth, 32)
    wide = _dtype.uint64 if bits > 32 else _dtype.uint32  # noqa: PLR2004
    # Taken as unsigned, a negative index is greater than any extent.
    return compare(scope, "lt", astype(scope, index, wide), astype(scope, extent, wide))


def _both(scope: Scope, a: Operand | None, b: Operand) -> Operand | None:
    if isinstance(b, Constant) and b.value is True:
        return a
    return b if a is None else bitwise(scope, "and", a, b)


def _offset(scope: Scope, index: Operand, stride: Operand, *, wide: bool) -> Operand:
    dtype = data_type(index)
    if wide:
        target = _dtype.int64
    else:
        target = dtype if dtype.bitwidth == 64 else _dtype.int32  # noqa: PLR2004
        if dtype == _dtype.uint32:
            target = _dtype.int64
    index = astype(scope, index, target)
    if _is_one(stride):
        return index
    return arithmetic(scope, "mul", index, astype(scope, stride, target))


def locate(
    scope: Scope, array: Array, indices: Sequence[Operand], *, check: bool
) -> tuple[Operand, Operand | None]:
    """Give the offsets of elements, and which of them are within the array.

    Parameters
    ----------
    scope : Scope
        Where the kernel is being evaluated.
    array : Array
        The array.
    indices : sequence of Operand
        One for each axis; their shapes broadcast.
    check : bool
        Whether to look which are within.
    """
    offset: Operand | None = None
    mask: Operand | None = None
    # Products may leave the range of 32 bits even where extents and strides don't.
    wide = len(indices) > 1 or not all(_is_one(stride) for stride in array.strides)
    for index, extent, stride in zip(indices, array.shape, array.strides, strict=True):
        if check:
            mask = _both(scope, mask, inside(scope, index, extent))
        part = _offset(scope, index, stride, wide=wide)
        offset = part if offset is None else arithmetic(scope, "add", offset, part)
    return Constant(0, _dtype.int32) if offset is None else offset, mask


def custom_mask(scope: Scope, value: object, mask: Operand | None, shape: Shape) -> Operand | None:
    """Give a user's mask together with that of the bounds."""
    if not argument.is_none(value):
        given = tile(value)
        if not data_type(given).is_boolean:
            raise MismatchError(f"Custom mask must have boolean dtype, but got {data_type(given)}")
        if not broadcasts_to(shape_of(given), shape):
            raise MismatchError(
                f"Custom mask shape {shape_of(given)} is not broadcastable"
                f" to the index shape {shape}"
            )
        given = astype(scope, given, _dtype.bool_)
        mask = _both(scope, mask, given)
    if mask is None or (isinstance(mask, Constant) and mask.value is True):
        return None
    return broadcast(scope, astype(scope, mask, _dtype.bool_), shape)


def elements(
    scope: Scope, array: object, indices: object, check_bounds: object, mask: object = None
) -> Elements:
    """Give the elements of an array that indices say, as gathering does.

    Parameters
    ----------
    scope : Scope
        Where the kernel is being evaluated.
    array, indices, check_bounds, mask : object
        The arguments of the function.
    """
    check = argument.boolean(check_bounds)
    source = argument.array(array)
    items = argument.indices(indices, tiles=True, unsigned=True)
    if len(items) != source.ndim:
        text = f"For array of rank {source.ndim}, `indices` must be a tuple of length {source.ndim}"
        if source.ndim == 1:
            text += ", or a single scalar/tile"
        raise MismatchError(f"{text}. However, `indices` has type {describe(lift(indices))}.")
    shapes = [shape_of(item) for item in items]
    try:
        shape = common_shape(*shapes)
    except MismatchError:
        listed = ", ".join(map(str, shapes))
        raise MismatchError(
            f"Index shapes {listed} are not broadcastable to a common shape"
        ) from None
    offsets, inner = locate(scope, source, items, check=check)
    offsets = broadcast(scope, offsets, shape)
    return Elements(
        source.pointer,
        offsets,
        custom_mask(scope, mask, inner, shape),
        source.dtype,  # type: ignore[arg-type]
        shape,
    )


def raw_elements(scope: Scope, memory: object, offset: object, mask: object) -> Elements:
    """Give the elements of raw memory that offsets say."""
    if not isinstance(memory, RawArrayMemory):
        raise MismatchError(
            f"Expected a RawArrayMemory, but given value has type {describe(lift(memory))}"
        )
    given = tile(offset)
    if not data_type(given).is_integer:
        raise MismatchError(f"Offsets must be integers, but got {data_type(given)}")
    offsets = _offset(scope, given, Constant(1), wide=False)
    shape = shape_of(offsets)
    allowed = custom_mask(scope, mask, None, shape)
    dtype: DType = memory.dtype  # type: ignore[assignment]
    return Elements(memory.pointer, offsets, allowed, dtype, shape)


def block(scope: Scope, array: Array, starts: Sequence[Operand], shape: Shape) -> Elements:
    """Give the elements of a tile of an array; those out of the array are masked out.

    Parameters
    ----------
    scope : Scope
        Where the kernel is being evaluated.
    array : Array
        The array.
    starts : sequence of Operand
        By axis, where the tile begins; or a tile of indices, of one axis.
    shape : tuple of int
        The shape of the tile.
    """
    indices: list[Operand] = []
    for axis, (start, extent) in enumerate(zip(starts, shape, strict=True)):
        along = (1,) * axis + (extent,) + (1,) * (len(shape) - axis - 1)
        index = start
        if not shape_of(start):
            dtype = data_type(start)
            if isinstance(start, Constant) or dtype.bitwidth < array.index_dtype.bitwidth:  # type: ignore[attr-defined]
                dtype = array.index_dtype  # type: ignore[assignment]
            if isinstance(start, Constant) and abs(start.value) + extent > dtype.limits[1]:
                dtype = _dtype.int64
            steps = iota(scope, extent, dtype)
            index = steps
            if not (isinstance(start, Constant) and start.value == 0):
                index = arithmetic(scope, "add", steps, astype(scope, start, dtype))
        indices.append(reshape(scope, index, along))
    offsets, mask = locate(scope, array, indices, check=True)
    offsets = broadcast(scope, offsets, shape)
    within = custom_mask(scope, None, mask, shape)
    return Elements(array.pointer, offsets, within, array.dtype, shape)  # type: ignore[arg-type]


def stored(
    scope: Scope, value: object, target: Elements, name: str, array: str = "array"
) -> Operand:
    """Give what is written to elements, converted and broadcast."""
    given = tile(value)
    if not broadcasts_to(shape_of(given), target.shape):
        raise MismatchError(
            f"{name} shape {shape_of(given)} is not broadcastable to the index shape {target.shape}"
        )
    context = f"Stored value is incompatible with {array}'s dtype"
    return broadcast(scope, convert(scope, given, target.dtype, context), target.shape)


def load_elements(scope: Scope, source: Elements, other: Operand | None) -> Tile:
    """Load elements; what is masked out is what stands in its place."""
    of = Type(source.dtype.element, source.shape)
    groups = source.groups(scope, other if source.mask is not None else None)
    groups.setdefault("other", ())
    return Tile(scope.op("load_at", *source.operands(scope), type=of, groups=groups), source.dtype)


def store_elements(scope: Scope, target: Elements, value: Operand) -> None:
    """Store elements that are not masked out."""
    operands = (*target.operands(scope), value_of(scope, value))
    scope.ops("store_at", *operands, groups=target.groups(scope))


def moved(scope: Scope, array: Array, axis: int, start: Operand) -> Array:
    """Give an array whose first element is further along an axis."""
    if isinstance(start, Constant) and start.value == 0:
        return array
    distance = _offset(scope, start, array.strides[axis], wide=True)
    pointer = scope.op("add", array.pointer, value_of(scope, distance), type=array.pointer.type)
    return replace(array, pointer=pointer)
