# SPDX-License-Identifier: Apache-2.0
"""Elements combined along an axis, all of them or up to each one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudacore.tile import _dtype
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._exception import TileSyntaxError
from cudacore.tile._operand import (
    Operand,
    Shape,
    broadcast,
    common_shape,
    data_type,
    reshape,
    shape_of,
    value_of,
)
from cudacore.tile._text import Type
from cudacore.tile._value import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._scope import Scope
    from cudacore.tile._text import Operation, Region

#: Combines scalars of one group with those of another.
Body = Callable[[Sequence[Operand], Sequence[Operand]], Sequence[Operand]]
Number = bool | int | float

_EFFECTS = (
    "load",
    "store",
    "load_at",
    "store_at",
    "atomic",
    "atomic_cas",
    "print",
    "assert",
    "grid_wait",
    "grid_launch_dependents",
    "call",
)


def _refusal(name: str, kind: str) -> str | None:
    if name in _EFFECTS:
        return f"Operations with memory effects are not supported inside {kind} body"
    if name in ("for", "loop"):
        return f"Loops inside {kind} body are not supported"
    if name == "if":
        return (
            f"Branching inside {kind} body is not supported. Consider ct.where() as a workaround."
        )
    if name in ("reduce", "scan"):
        return "Nested scan/reduction is not supported"
    return None


def _check_operation(scope: Scope, operation: Operation, kind: str) -> None:
    message = _refusal(operation.name, kind)
    if message is not None:
        raise TileSyntaxError(message, operation.loc or scope.loc)


def _region(scope: Scope, dtypes: Sequence[DType], body: Body, kind: str) -> Region:
    types = [Type(dtype.element) for dtype in dtypes]
    with scope.builder.region(*types, *types) as region:
        pairs = zip(region.arguments, (*dtypes, *dtypes), strict=True)
        values = [Tile(value, dtype) for value, dtype in pairs]
        around, scope.combining = scope.combining, kind
        try:
            results = body(values[: len(dtypes)], values[len(dtypes) :])
        finally:
            scope.combining = around
        scope.ops("yield", *(value_of(scope, result) for result in results))
    for operation in region.operations:
        _check_operation(scope, operation, kind)
    return region


def combine(  # noqa: PLR0917
    scope: Scope,
    name: str,
    tiles: Sequence[Operand],
    identities: Sequence[Number],
    axis: int,
    body: Body,
    reverse: bool = False,
    commutes: bool = False,
) -> tuple[Operand, ...]:
    """Append one reduction or scan along one axis."""
    shape = shape_of(tiles[0])
    dtypes = [data_type(each) for each in tiles]
    values = [value_of(scope, each) for each in tiles]
    kind = "reduction" if name == "reduce" else "scan"
    region = _region(scope, dtypes, body, kind)
    result = shape[:axis] + shape[axis + 1 :] if name == "reduce" else shape
    neutral = (_dtype.canonical(n, d) for n, d in zip(identities, dtypes, strict=True))
    attributes: dict[str, object] = {"axis": axis, "identity": tuple(neutral)}
    if name == "scan":
        attributes["reverse"] = int(reverse)
    elif commutes:
        attributes["commutes"] = 1
    results = scope.ops(
        name,
        *values,
        types=[Type(dtype.element, result) for dtype in dtypes],
        attributes=attributes,
        regions=[region],
    )
    return tuple(Tile(value, dtype) for value, dtype in zip(results, dtypes, strict=True))


def broadcast_all(scope: Scope, tiles: Sequence[Operand]) -> tuple[Operand, ...]:
    """Give tiles one shape, as those that are combined together have."""
    shapes = [shape_of(each) for each in tiles]
    try:
        shape = common_shape(*shapes)
    except MismatchError:
        listed = ", ".join(map(str, shapes))
        raise MismatchError(
            f"Input shapes {listed} are not broadcastable to a common shape"
        ) from None
    return tuple(broadcast(scope, each, shape) for each in tiles)


def _axes(axis: int | Sequence[int] | None, rank: int) -> list[int]:
    if axis is None:
        return list(range(rank))
    given = (axis,) if isinstance(axis, int) else axis
    result = sorted(argument.axis(each, rank) for each in given)
    for each in result:
        if result.count(each) > 1:
            raise MismatchError(f"Repeated reduction axis {each}")
    return result


def kept_shape(shape: Shape, axes: Sequence[int]) -> Shape:
    """Return the shape of a result that keeps the axes that were reduced."""
    return tuple(1 if i in axes else extent for i, extent in enumerate(shape))


def reduce_along(  # noqa: PLR0917
    scope: Scope,
    tiles: Sequence[Operand],
    identities: Sequence[Number],
    axis: int | Sequence[int] | None,
    keepdims: bool,
    body: Body,
    commutes: bool = False,
) -> tuple[Operand, ...]:
    """Combine elements along axes.

    Parameters
    ----------
    scope : Scope
        Where the kernel is being evaluated.
    tiles : sequence of Operand
        What is reduced together.
    identities : sequence of numbers
        What changes nothing when combined.
    axis : int, sequence of int, or None
        Which axes; None is all.
    keepdims : bool
        Whether the axes stay.
    body : callable
        What combines.
    commutes : bool
        Whether what is combined may change places; of a single operation, the text says so.
    """
    values = broadcast_all(scope, tiles)
    shape = shape_of(values[0])
    axes = _axes(axis, len(shape))
    if len(axes) == len(shape) > 1:
        values = tuple(reshape(scope, each, (-1,)) for each in values)
        values = combine(scope, "reduce", values, identities, 0, body, commutes=commutes)
    else:
        for count, each in enumerate(axes):
            place = each - count
            values = combine(scope, "reduce", values, identities, place, body, commutes=commutes)
    if keepdims:
        values = tuple(reshape(scope, each, kept_shape(shape, axes)) for each in values)
    return values
