# SPDX-License-Identifier: Apache-2.0
"""Arguments that must be known while compiling: integers, shapes, axes, modes."""

from __future__ import annotations

from typing import TypeVar

from cudacore.tile._advice import dtype_instead
from cudacore.tile._dtype import DType, MismatchError, from_foreign
from cudacore.tile._operand import (
    ArgumentError,
    Operand,
    Shape,
    data_type,
    describe,
    is_number,
    lift,
    shape_of,
)
from cudacore.tile._value import Array, Constant, Slice, Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from enum import Enum

E = TypeVar("E", bound="Enum")


def _number(value: object, what: str) -> bool | int | float:
    lifted = lift(value)
    if not is_number(lifted) and isinstance(lifted, Constant):
        raise ArgumentError(
            f"Expected {what} constant, but given value has type {describe(lifted)}", value
        )
    if not isinstance(lifted, Constant):
        raise ArgumentError(
            f"Expected {what} constant, but given value is not constant: it has type "
            f"{describe(lifted)}. Only a literal, a global or a parameter annotated as "
            "Constant[int] is known while compiling",
            value,
        )
    return lifted.value  # type: ignore[no-any-return]


def integer(value: object) -> int:
    """Give an argument that must be a constant integer."""
    number = _number(value, "an integer")
    if isinstance(number, (bool, float)):
        shown = describe(lift(value))
        raise ArgumentError(
            f"Expected an integer constant, but given value has type {shown}", value
        )
    return number


def optional_integer(value: object) -> int | None:
    """Give an argument that must be a constant integer or None."""
    return None if is_none(value) else integer(value)


def boolean(value: object) -> bool:
    """Give an argument that must be a constant True or False."""
    number = _number(value, "a boolean")
    if not isinstance(number, bool):
        shown = describe(lift(value))
        raise ArgumentError(f"Expected a boolean constant, but given value has type {shown}", value)
    return number


def optional_boolean(value: object) -> bool | None:
    """Give an argument that must be a constant True, False or None."""
    return None if is_none(value) else boolean(value)


def number(value: object) -> bool | int | float:
    """Give an argument that must be a constant number."""
    return _number(value, "a scalar")


def string(value: object) -> str:
    """Give an argument that must be a constant string."""
    text = plain(value)
    if isinstance(text, Tile):
        raise ArgumentError(
            "Expected a string constant, but given value is not constant: it has type "
            f"{describe(text)}",
            value,
        )
    if not isinstance(text, str):
        shown = describe(lift(value))
        raise ArgumentError(f"Expected a string constant, but given value has type {shown}", value)
    return text


def is_none(value: object) -> bool:
    """Whether an argument is None."""
    return value is None or (isinstance(value, Constant) and value.value is None)


def is_whole_slice(value: object) -> bool:
    """Whether an argument is the slice ``:``."""
    if isinstance(value, Slice):
        return is_none(value.start) and is_none(value.stop) and is_none(value.step)
    return plain(value) == slice(None)


def plain(value: object) -> object:
    """Give the Python value of a constant; another value stays what it is."""
    return value.value if isinstance(value, Constant) else value


def mode(value: object, kind: type[E]) -> E:
    """Give an argument that must be a constant of an enumeration."""
    constant = plain(value)
    if not isinstance(constant, kind):
        shown = describe(lift(value))
        members = [each.name for each in kind if constant in (each.value, each.name)]
        advice = f"; write ct.{kind.__name__}.{members[0]}" if members else ""
        raise ArgumentError(
            f"Expected {kind.__name__}, but given value has type {shown}{advice}", value
        )
    return constant


def optional_mode(value: object, kind: type[E]) -> E | None:
    """Give an argument that must be a constant of an enumeration, or None."""
    return None if is_none(value) else mode(value, kind)


def dtype(value: object) -> DType:
    """Give an argument that must be a data type, of this language or another library."""
    found = from_foreign(plain(value))
    if found is None:
        shown = describe(lift(value))
        advice = dtype_instead(plain(value))
        raise ArgumentError(
            f"Expected a dtype constant, but given value has type {shown}{advice}", value
        )
    return found


def integers(value: object, *, single: bool = False) -> Shape:
    """Give an argument that must be a tuple of constant integers, or a single one."""
    value_ = plain(value)
    if single and not isinstance(value_, tuple) and is_number(lift(value)):
        return (integer(value),)
    if not isinstance(value_, tuple):
        shown = describe(lift(value))
        raise ArgumentError(f"Expected a tuple, but given value has type {shown}", value)
    result = []
    for i, item in enumerate(value_):
        lifted = lift(item)
        if isinstance(lifted, Tile) and lifted.dtype.is_integer and not lifted.shape:  # type: ignore[attr-defined]
            raise ArgumentError(
                "Expected a constant integer tuple, but given value is not constant: its element "
                f"#{i} is not constant; only a literal, a global or a parameter annotated as "
                "Constant[int] is known while compiling",
                value,
            )
        if not is_number(lifted) or not data_type(lifted).is_integer:  # type: ignore[arg-type]
            raise ArgumentError(
                f"Expected a tuple of integers, but element #{i} has type {describe(lifted)}",
                value,
            )
        result.append(integer(lifted))
    return tuple(result)


def shape(
    value: object,
    rank: int | None = None,
    *,
    single: bool = True,
    scalar: bool = False,
    any_extent: bool = False,
    name: str = "shape",
) -> Shape:
    """Give an argument that must be a shape of constant extents, powers of two.

    Parameters
    ----------
    value : object
        The argument.
    rank : int, optional
        How many extents there must be.
    single : bool
        Whether an integer stands for a shape of one extent.
    scalar : bool
        Whether the empty shape is taken whatever the rank.
    any_extent : bool
        Whether extents may be no powers of two.
    name : str
        What the message calls it.
    """
    extents = integers(value, single=single)
    if rank is not None and len(extents) != rank and not (scalar and not extents):
        raise ArgumentError(f"Expected {name} length to be {rank}, got {len(extents)}", value)
    for i, extent in enumerate(extents):
        if extent <= 0:
            raise ArgumentError(f"Dimension #{i} of {name} {extents} is not positive", value)
        if extent & (extent - 1) and not any_extent:
            above = 1 << extent.bit_length()
            raise ArgumentError(
                f"Dimension #{i} of {name} {extents} is not a power of two; "
                f"the next ones are {above >> 1} and {above}",
                value,
            )
    return extents


def axis(value: int, rank: int) -> int:
    """Give an axis counted from the front; a negative one counts from the back."""
    if not -rank <= value < rank:
        # cuTile's tests look for the last quotation mark.
        raise MismatchError(f"Axis {value} is out of range for rank {rank}'")
    return value % rank


def order(value: object, rank: int) -> tuple[int, ...]:
    """Give the order of axes that an argument says: "C", "F", or the axes themselves."""
    text = plain(value)
    if isinstance(text, str):
        if text not in ("C", "F"):
            raise ArgumentError(f"Expected 'C' or 'F', got '{text}'", value)
        return tuple(range(rank)) if text == "C" else tuple(range(rank - 1, -1, -1))
    axes = integers(value)
    if len(axes) != rank:
        raise ArgumentError(f"Expected tuple of length {rank}, got {len(axes)}", value)
    for each in axes:
        if not -rank <= each < rank:
            raise ArgumentError(f"Axis {each} is out of range for rank {rank}", value)
    result = tuple(axis(each, rank) for each in axes)
    for each in result:
        if result.count(each) > 1:
            raise ArgumentError(
                f"Axis order must be a permutation, but axis {each} is used at least twice", value
            )
    return result


def array(value: object) -> Array:
    """Give an argument that must be an array."""
    if not isinstance(value, Array):
        shown = describe(lift(value))
        raise ArgumentError(f"Expected an array, but given value has type {shown}", value)
    return value


def _is_index(item: object, *, tiles: bool, unsigned: bool) -> bool:
    if not is_number(item):
        return False
    of = data_type(item)  # type: ignore[arg-type]
    if not of.is_integer or (not unsigned and not of.signed):
        return False
    return tiles or not shape_of(item)  # type: ignore[arg-type]


def indices(value: object, *, tiles: bool = False, unsigned: bool = False) -> tuple[Operand, ...]:
    """Give an argument that must be an index or a tuple of them.

    Parameters
    ----------
    value : object
        The argument.
    tiles, unsigned : bool
        Whether indices may be tiles, or of an unsigned type.
    """
    value_ = plain(value)
    items: Sequence[object] = value_ if isinstance(value_, tuple) else (value,)
    result = []
    for i, item in enumerate(items):
        lifted = lift(item)
        if not _is_index(lifted, tiles=tiles, unsigned=unsigned):
            what = f"item #{i}" if isinstance(value_, tuple) else "given value"
            signed = "" if unsigned else "signed "
            wanted = (
                f"{signed}integer scalars/tiles or a single {signed}integer scalar/tile"
                if tiles
                else f"{signed}integers or a single {signed}integer scalar"
            )
            raise ArgumentError(
                f"Expected a tuple of {wanted}, but {what} has type {describe(lifted)}", value
            )
        result.append(lifted)
    return tuple(result)  # type: ignore[arg-type]
