# SPDX-License-Identifier: Apache-2.0
"""Values of one variable that meet from several paths: their kinds, their parts, what becomes."""

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cudacore.tile._dataclass import dataclass
from cudacore.tile._exception import Loc, TileError, TileValueError
from cudacore.tile._names import RETURNED
from cudacore.tile._parts import parts_of, rebuilt
from cudacore.tile._text import Operation, Type, Value
from cudacore.tile._value import Constant, Tile, Undefined

if TYPE_CHECKING:
    from cudacore.tile._text import Builder
    from cudacore.tile._value import DType

#: A part of a value that the device may have to carry.
Leaf = Tile | Constant | Value


def is_number(thing: object) -> bool:
    """Return whether a value is a constant that the device could hold."""
    return isinstance(thing, Constant) and (
        thing.dtype is not None or type(thing.value) in (bool, int, float)
    )


def default_dtype(constant: Constant) -> "DType":
    """Return the data type that a constant has once the device holds it."""
    if constant.dtype is not None:
        return constant.dtype
    from cudacore.tile._dtype import of_constant  # noqa: PLC0415 - that imports this language

    try:
        return of_constant(constant.value)
    except ValueError as error:
        raise TileValueError(str(error)) from None


def kind(thing: object) -> Hashable:
    """Return what must agree where values of one variable meet."""
    if isinstance(thing, Tile):
        return ("tile", thing.dtype, thing.shape)
    if isinstance(thing, Value):
        return ("pointer", thing.type)
    if isinstance(thing, Constant):
        return _constant_kind(thing)
    found = parts_of(thing)
    if found is None:
        return ("other", id(thing))
    fixed, values = found
    return (fixed, tuple(map(kind, values)))


def _constant_kind(constant: Constant) -> Hashable:
    if is_number(constant):
        return ("tile", default_dtype(constant), ())
    try:
        hash(constant.value)
    except TypeError:
        return ("constant", type(constant.value), repr(constant.value))
    return ("constant", type(constant.value), constant.value)


def leaves(thing: object) -> list[Leaf]:
    """Return the parts of a value that the device may have to carry."""
    if isinstance(thing, (Tile, Value)) or is_number(thing):
        return [thing]  # type: ignore[list-item]
    found = parts_of(thing)
    return [leaf for value in found[1] for leaf in leaves(value)] if found else []


def with_leaves(thing: object, given: Iterator[Leaf]) -> object:
    """Return a value like another one, with other parts in the order of `leaves`."""
    if isinstance(thing, (Tile, Value)) or is_number(thing):
        return next(given)
    found = parts_of(thing)
    if found is None or not found[1]:
        return thing
    return rebuilt(thing, [with_leaves(value, given) for value in found[1]])


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for a part that an operation is to give."""

    index: Any  # what its results are asked for
    dtype: "DType | None"  # None: a pointer


@dataclass(slots=True)
class Path:
    """One of the paths that meet: the operation that ends it, and the operands it is to have."""

    operation: Operation
    builder: "Builder"

    def operand(self, leaf: Leaf, dtype: "DType | None") -> Value:
        """Return a part as a value on this path; a constant is written before the path's end."""
        if isinstance(leaf, Value):
            return leaf
        if isinstance(leaf, Tile):
            return leaf.value
        chosen = dtype or default_dtype(leaf)
        return self.constant(leaf.value, Type(chosen.element))

    def constant(self, number: Any, type_: Type) -> Value:
        """Write a constant before the path's end."""
        return written_constant(self.builder, self.operation.before, number, type_)


def written_constant(
    builder: "Builder", operations: list[Operation], number: Any, type_: Type
) -> Value:
    """Append the operation that gives a number; for a pointer, the two that give none."""
    value = builder.value(Type("i64") if type_.is_pointer else type_)
    operations.append(_constant(value, number))
    if not type_.is_pointer:
        return value
    pointer = builder.value(type_)
    operations.append(Operation("bitcast", (value,), results=(pointer,)))
    return pointer


def _constant(value: Value, number: Any) -> Operation:
    element = value.type.element
    if element == "i1":
        shown: object = bool(number)
    else:
        shown = int(number) if element[0] in "iu" else float(number)
    return Operation("const", attributes={"value": shown}, results=(value,))


def leaf_type(leaf: Leaf, dtype: "DType | None") -> Type:
    """Return the type of a part as a value."""
    if isinstance(leaf, Value):
        return leaf.type
    if isinstance(leaf, Tile):
        return leaf.value.type
    return Type((dtype or default_dtype(leaf)).element)


def leaf_dtype(parts: Sequence[Leaf]) -> "DType | None":
    """Return the data type that parts from several paths take together; None for pointers."""
    for part in parts:
        if isinstance(part, Tile):
            return part.dtype
    for part in parts:
        if isinstance(part, Constant):
            return default_dtype(part)
    return None


def common(parts: Sequence[Leaf]) -> Leaf | None:
    """Return the part that is the same on all paths, or None."""
    first = parts[0]
    if isinstance(first, Constant):
        if not all(isinstance(part, Constant) and _same(part, first) for part in parts):
            return None
        constants: Any = parts
        strict = next((part for part in constants if part.dtype is not None), None)
        loose = all(part.dtype is None for part in constants)
        return first if loose or strict is None else strict
    return first if all(part == first for part in parts) else None


def _same(one: Constant, other: Constant) -> bool:
    return type(one.value) is type(other.value) and repr(one.value) == repr(other.value)


def meet(name: str, values: Sequence[object], places: Sequence[Loc | None]) -> Undefined | None:
    """Check that values can meet; return what the variable holds if they cannot."""
    for value, place in zip(values, places, strict=True):
        if isinstance(value, Undefined):
            return value
        try:
            kind(value)
        except TileError as error:
            if place is not None and error.loc.is_unknown():
                error.loc = place
            raise
    first, first_place = values[0], places[0]
    for value, place in zip(values[1:], places[1:], strict=True):
        if kind(value) != kind(first):
            return Undefined(mismatch(name, value, place, first, first_place))
    return None


def mismatch(
    name: str, value: object, place: Loc | None, other: object, other_place: Loc | None
) -> str:
    """Return the message for a variable whose type depends on the path taken."""
    from cudacore.tile._operand import describe  # noqa: PLC0415 - that imports this language

    what = {RETURNED: "return value", "$result": "the expression"}.get(name, f"`{name}`")
    shown = (
        f"{describe(each)} (line {where.line})" if where else describe(each)
        for each, where in ((value, place), (other, other_place))
    )
    return f"Type of {what} depends on path taken: {' vs. '.join(shown)}{_advice(value, other)}"


def _advice(one: object, other: object) -> str:
    """Say how numbers and tiles get one type, or nothing."""
    if not all(isinstance(each, Tile) or is_number(each) for each in (one, other)):
        return ""
    dtypes, shapes = zip(*(_type_of(each) for each in (one, other)), strict=True)
    if shapes[0] == shapes[1]:
        floats = [dtype for dtype in dtypes if dtype.is_float]
        plain = len(floats) == 1 and not shapes[0]
        if not plain:
            return "; convert one with astype()"
        constants = (each.value for each in (one, other) if isinstance(each, Constant))
        number = next((value for value in constants if type(value) is int), 0)
        return f"; write {number}.0 for a float"
    if () not in shapes:
        return ""
    place = 1 if shapes[0] == () else 0
    return f"; start with ct.zeros({shapes[place]}, ct.{dtypes[place].name})"


def _type_of(thing: Any) -> tuple[Any, tuple[int, ...]]:
    if isinstance(thing, Tile):
        return thing.dtype, tuple(thing.shape)
    return default_dtype(thing), ()
