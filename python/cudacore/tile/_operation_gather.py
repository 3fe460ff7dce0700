# SPDX-License-Identifier: Apache-2.0
"""What gathering, scattering and advanced indexing do in a kernel."""

from __future__ import annotations

from cudacore.tile import _language_memory as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import MismatchError
from cudacore.tile._language_array import Slice
from cudacore.tile._mode import PaddingMode
from cudacore.tile._operand import (
    Operand,
    Shape,
    broadcast,
    broadcasts_to,
    convert,
    data_type,
    describe,
    filled,
    is_number,
    lift,
    scalar,
    shape_of,
    tile,
)
from cudacore.tile._operation import implements
from cudacore.tile._operation_address import (
    block,
    elements,
    load_elements,
    store_elements,
    stored,
)
from cudacore.tile._operation_memory import check_hints, check_padding
from cudacore.tile._value import Constant, IndexSlice, Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._scope import Scope

#: What stands for elements out of the array.
_PADDING = {
    PaddingMode.ZERO: 0.0,
    PaddingMode.NEG_ZERO: -0.0,
    PaddingMode.NAN: float("nan"),
    PaddingMode.POS_INF: float("inf"),
    PaddingMode.NEG_INF: float("-inf"),
}


@implements(language.gather)
def gather(
    scope: Scope,
    array: object,
    indices: object,
    *,
    mask: object,
    padding_value: object,
    check_bounds: object,
    latency: object,
) -> Operand:
    """Load elements from anywhere in an array."""
    source = elements(scope, array, indices, check_bounds, mask)
    padding = tile(padding_value)
    if not broadcasts_to(shape_of(padding), source.shape):
        raise MismatchError(
            f"Padding shape {shape_of(padding)} is not broadcastable to the"
            f" index shape {source.shape}"
        )
    padding = convert(scope, padding, source.dtype, "Invalid padding value")
    check_hints(latency)
    other = broadcast(scope, padding, source.shape) if source.mask is not None else None
    return load_elements(scope, source, other)


@implements(language.scatter)
def scatter(
    scope: Scope,
    array: object,
    indices: object,
    value: object,
    *,
    mask: object,
    check_bounds: object,
    latency: object,
) -> None:
    """Store elements anywhere in an array."""
    target = elements(scope, array, indices, check_bounds, mask)
    given = stored(scope, value, target, "Value")
    check_hints(latency)
    store_elements(scope, target, given)


@implements(Slice)
def make_slice(scope: Scope, start: object, length: object) -> IndexSlice:  # noqa: ARG001
    """Make neighboring elements along an axis."""
    first, count = signed_scalar(start), signed_scalar(length)
    if not isinstance(count, Constant):
        raise MismatchError(
            "ct.Slice length must be a compile-time constant: a literal, a global or a parameter "
            "annotated as Constant[int]"
        )
    return IndexSlice(first, count.value)


def signed_scalar(value: object) -> Operand:
    """Give an argument that must be a signed integer."""
    item = scalar(value)
    if not data_type(item).is_integer or not data_type(item).signed:
        raise MismatchError(f"Expected a signed integer scalar, but got {describe(item)}")
    return item


def _advanced(  # noqa: C901
    indices: object, rank: int
) -> tuple[list[Operand], Shape]:
    """Give where a tile begins along each axis, or the indices there, and its shape."""
    names = "load_advanced_indexing/store_advanced_indexing"
    if not isinstance(indices, tuple):
        raise MismatchError(f"Expected a tuple, but given value has type {describe(lift(indices))}")
    if len(indices) != rank:
        raise MismatchError(f"{names} index length {len(indices)} does not match array rank {rank}")
    starts: list[Operand] = []
    shape: list[int] = []
    sparse: list[int] = []
    for dim, item in enumerate(indices):
        if isinstance(item, IndexSlice):
            if item.length <= 0:
                raise MismatchError(
                    f"ct.Slice length at dim {dim} must be a positive integer, got {item.length}"
                )
            starts.append(item.start)  # type: ignore[arg-type]
            shape.append(item.length)
        elif isinstance(item, (Tile, Constant)) and is_number(item):
            if len(shape_of(item)) != 1 or not data_type(item).is_integer:
                raise MismatchError(
                    f"Sparse index at dim {dim} must be a 1D integer tile, got {describe(item)}"
                )
            sparse.append(dim)
            starts.append(item)
            shape.append(shape_of(item)[0])
        else:
            raise MismatchError(
                f"{names} index at dim {dim} must be a 1D integer Tile (sparse dim) or "
                f"ct.Slice(start, length) (dense dim), got type {describe(lift(item))}"
            )
    if len(sparse) != 1:
        found = f"found {len(sparse)} at dims {sparse}" if sparse else "none found"
        raise MismatchError(
            f"{names}: exactly one index must be a 1D integer Tile (the sparse dim); {found}"
        )
    for dim, extent in enumerate(shape):
        if extent & (extent - 1):
            raise MismatchError(f"Index at dim {dim} has size {extent}; must be a power of two")
    return starts, tuple(shape)


@implements(language.load_advanced_indexing)
def load_advanced(
    scope: Scope,
    array: object,
    indices: object,
    *,
    padding_mode: object,
    latency: object,
    allow_tma: object,
) -> Operand:
    """Load rows that are anywhere in an array."""
    source = argument.array(array)
    if source.ndim < 2:  # noqa: PLR2004
        raise MismatchError(
            "load_advanced_indexing requires a 2D or higher-rank array; "
            "use ct.gather() for 1D arrays"
        )
    starts, shape = _advanced(indices, source.ndim)
    padding = argument.mode(padding_mode, PaddingMode)
    check_padding(padding, source)
    check_hints(latency, allow_tma)
    found = block(scope, source, starts, shape)
    other: Operand | None = None
    if padding is not PaddingMode.UNDETERMINED and found.mask is not None:
        other = filled(scope, _PADDING[padding], found.dtype, shape)
    return load_elements(scope, found, other)


@implements(language.store_advanced_indexing)
def store_advanced(
    scope: Scope,
    array: object,
    indices: object,
    tile_: object,
    *,
    latency: object,
    allow_tma: object,
) -> None:
    """Store rows anywhere in an array."""
    target = argument.array(array)
    if target.ndim < 2:  # noqa: PLR2004
        raise MismatchError(
            "store_advanced_indexing requires a 2D or higher-rank array; "
            "use ct.scatter() for 1D arrays"
        )
    starts, shape = _advanced(indices, target.ndim)
    value = tile(tile_)
    if shape_of(value) != shape:
        raise MismatchError(
            f"Tile shape {shape_of(value)} does not match the shape implied by indices {shape}"
        )
    context = "Stored tile dtype is incompatible with array dtype"
    value = convert(scope, value, target.dtype, context)  # type: ignore[arg-type]
    check_hints(latency, allow_tma)
    found = block(scope, target, starts, shape)
    store_elements(scope, found, value)
