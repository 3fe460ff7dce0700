# SPDX-License-Identifier: Apache-2.0
"""Values as operands: their types, constants as values of the text, casts and broadcasts."""

from __future__ import annotations

import itertools
import math
from enum import Enum
from typing import NoReturn

from cudacore.tile import _dtype
from cudacore.tile._dtype import DType, MismatchError, RangeError
from cudacore.tile._promotion import check_implicit
from cudacore.tile._text import Type
from cudacore.tile._value import (
    Array,
    Constant,
    FormattedString,
    IndexSlice,
    List,
    Range,
    RawArrayMemory,
    Record,
    Slice,
    Tile,
    TiledView,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._mode import RoundingMode
    from cudacore.tile._scope import Scope
    from cudacore.tile._text import Value

Operand = Tile | Constant
Shape = tuple[int, ...]


class ArgumentError(MismatchError):
    """An argument of a wrong kind; whoever knows the function and the parameter adds them."""

    def __init__(self, message: str, argument: object) -> None:
        super().__init__(message)
        self.argument = argument


def _extents(values: Sequence[Operand]) -> str:
    texts = (str(x.value) if isinstance(x, Constant) else "?" for x in values)
    return f"({','.join(texts)})"


def _describe_constant(constant: Constant) -> str:
    value = constant.value
    if constant.dtype is not None or isinstance(value, (bool, int, float)):
        return f"Tile[{data_type(constant)},()]"
    if isinstance(value, Enum):
        return f"<enum constant {type(value).__name__}.{value.name}>"
    if isinstance(value, str):
        return f"<string constant {value!r}>"
    if isinstance(value, DType):
        return f"<dtype constant {value}>"
    if isinstance(value, slice):
        return "Slice"
    return str(value)


def over_list(name: str) -> str:
    """Say how to go through a list of arrays, whose length is not known while compiling."""
    name = name if name.isidentifier() else "arrays"
    return f"write `for i in range(len({name})): x = {name}[i]`, or pass a tuple instead of a list"


def describe(value: object) -> str:  # noqa: C901, PLR0911, PLR0912
    """Name the type of what a name holds, as messages show it.

    Parameters
    ----------
    value : object
        Anything that a name holds while a kernel is evaluated.
    """
    if isinstance(value, Tile):
        return f"Tile[{value.dtype.name},({','.join(map(str, value.shape))})]"
    if isinstance(value, Constant):
        return _describe_constant(value)
    if isinstance(value, tuple):
        return f"Tuple[{','.join(map(describe, value))}]"
    if isinstance(value, dict):
        items = (f"{key}: {describe(item)}" for key, item in value.items())
        return f"dict[{', '.join(items)}]"
    if isinstance(value, Array):
        index = "" if value.index_dtype == _dtype.int32 else f",index_dtype={value.index_dtype}"
        shape, strides = _extents(value.shape), f"({','.join('?' * value.ndim)})"
        return f"Array[{value.dtype.name},{shape}:{strides}{index}]"
    if isinstance(value, TiledView):
        return (
            f"TiledView[{describe(value.array)},tile_shape={value.tile_shape},"
            f"padding_mode={value.padding_mode},traversal_steps={value.traversal_steps}]"
        )
    if isinstance(value, Record):
        fields = (f"{key}: {describe(item)}" for key, item in value.fields.items())
        return f"{value.type.__name__}[{', '.join(fields)}]"
    if isinstance(value, List):
        return f"List[{value.dtype.name}, {value.ndim}D arrays]"
    if isinstance(value, RawArrayMemory):
        return f"RawArrayMemory[{value.dtype.name}]"
    if isinstance(value, Slice):
        parts = (value.start, value.stop, value.step)
        shown = ["" if part == Constant(None) else describe_index(part) for part in parts]
        return ":".join(shown if shown[2] else shown[:2])
    if isinstance(value, IndexSlice):
        return f"IndexSlice[start={describe(value.start)}, length={value.length}]"
    if isinstance(value, Range):
        return "Range"
    if isinstance(value, FormattedString):
        return "FormattedString"
    return str(value)


def describe_index(value: object) -> str:
    """Show what stands in a subscript: a number that is known as it is, other things by type."""
    is_known = isinstance(value, Constant) and isinstance(value.value, (bool, int, float))
    return str(value.value) if is_known else describe(value)  # type: ignore[attr-defined]


def lift(value: object) -> object:
    """Wrap a plain Python value, as a default of a parameter is, as a constant."""
    if value is None or isinstance(value, (bool, int, float, str, Enum)):
        return Constant(value)
    return value


def is_number(value: object) -> bool:
    """Whether a value is a tile, a scalar or a constant number."""
    if isinstance(value, Tile):
        return True
    return isinstance(value, Constant) and (
        value.dtype is not None or isinstance(value.value, (bool, int, float))
    )


def tile(value: object) -> Operand:
    """Give a value that must be a tile, a scalar or a constant number."""
    lifted = lift(value)
    if not is_number(lifted):
        raise ArgumentError(f"Expected a tile, but given value has type {describe(lifted)}", value)
    return lifted  # type: ignore[return-value]


def scalar(value: object) -> Operand:
    """Give a value that must be a scalar."""
    lifted = lift(value)
    if not is_number(lifted) or shape_of(lifted):  # type: ignore[arg-type]
        raise ArgumentError(
            f"Expected a scalar or a 0D tile, but given value has type {describe(lifted)}", value
        )
    return lifted  # type: ignore[return-value]


def data_type(x: Operand) -> DType:
    """Give the data type of a value; a loosely typed constant has the one for its size."""
    if x.dtype is not None:
        return x.dtype  # type: ignore[return-value]
    assert isinstance(x, Constant)  # noqa: S101
    return _dtype.of_constant(x.value)


def typing(x: Operand) -> DType | float:
    """Give what decides a promotion: the data type, or the value of a loosely typed constant."""
    if x.dtype is not None:
        return x.dtype  # type: ignore[return-value]
    assert isinstance(x, Constant)  # noqa: S101
    return x.value  # type: ignore[no-any-return]


def shape_of(x: Operand) -> Shape:
    """Give the shape of a value; a constant is a scalar."""
    return x.shape if isinstance(x, Tile) else ()


def is_loose(x: object) -> bool:
    """Whether a value is a loosely typed constant number."""
    return isinstance(x, Constant) and x.dtype is None and isinstance(x.value, (bool, int, float))


def strict(value: float, dtype: DType) -> Constant:
    """Make a constant of a data type."""
    return Constant(_dtype.canonical(value, dtype), dtype)


def value_of(scope: Scope, x: Operand) -> Value:
    """Give the value of the text for an operand; a constant is written there."""
    if isinstance(x, Tile):
        return x.value
    dtype = data_type(x)
    return scope.constant(_dtype.canonical(x.value, dtype), dtype.element)


def filled(scope: Scope, value: float, dtype: DType, shape: Shape) -> Tile:
    """Make a tile filled with a number."""
    number = _dtype.canonical(value, dtype)
    return Tile(scope.constant(number, dtype.element, shape), dtype)


def emit(
    scope: Scope,
    name: str,
    *operands: Operand,
    dtype: DType,
    shape: Shape,
    attributes: dict[str, object] | None = None,
) -> Tile:
    """Append an operation of values that gives a tile."""
    values = [value_of(scope, x) for x in operands]
    of = Type(dtype.element, shape)
    return Tile(scope.op(name, *values, type=of, attributes=attributes), dtype)


def reshape(scope: Scope, x: Operand, shape: Sequence[int]) -> Operand:
    """Give the elements in another shape, one of whose extents may be -1."""
    old, new = shape_of(x), tuple(shape)
    count = math.prod(old)
    unknown = [i for i, extent in enumerate(new) if extent == -1]
    for extent in new:
        if extent < -1:
            raise MismatchError(f"Dimension can only be -1 or non-negative, got {extent}")
    if len(unknown) > 1:
        raise MismatchError(f"Only one dimension can be -1, got {new}")
    known = math.prod(extent for extent in new if extent != -1)
    if unknown and known and count % known == 0:
        new = tuple(count // known if extent == -1 else extent for extent in new)
    if math.prod(new) != count or -1 in new:
        raise MismatchError(f"Cannot reshape {old} to {tuple(shape)}")
    if new == old:
        return x
    if isinstance(x, Constant):
        return filled(scope, x.value, data_type(x), new)
    name = "reshape" if old else "broadcast"
    return emit(scope, name, x, dtype=data_type(x), shape=new)


def broadcasts_to(source: Shape, target: Shape) -> bool:
    """Whether a shape broadcasts to another."""
    pairs = zip(reversed(source), reversed(target), strict=False)
    return len(source) <= len(target) and all(x in (1, y) for x, y in pairs)


def common_shape(*shapes: Shape) -> Shape:
    """Give the shape that shapes broadcast to."""
    result: list[int] = []
    for extents in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        wide = {extent for extent in extents if extent != 1}
        if len(wide) > 1:
            listed = ", ".join(map(str, shapes))
            raise MismatchError(f"Shapes are not broadcastable: {listed}")
        result.append(wide.pop() if wide else 1)
    return tuple(reversed(result))


def broadcast(scope: Scope, x: Operand, shape: Shape) -> Operand:
    """Give the elements repeated along extents of 1 and along new leading axes."""
    old = shape_of(x)
    if old == shape:
        return x
    if not broadcasts_to(old, shape):
        raise MismatchError(f"Shape {old} is not broadcastable to {shape}")
    if isinstance(x, Constant):
        return filled(scope, x.value, data_type(x), shape)
    if old:
        x = reshape(scope, x, (1,) * (len(shape) - len(old)) + old)
        if shape_of(x) == shape:
            return x
    return emit(scope, "broadcast", x, dtype=data_type(x), shape=shape)


def _cast_constant(x: Constant, dtype: DType) -> Constant:
    try:
        return strict(dtype.python_type(x.value), dtype)
    except (OverflowError, ValueError) as error:
        raise RangeError(str(error)) from None


def astype(scope: Scope, x: Operand, dtype: DType, mode: RoundingMode | None = None) -> Operand:
    """Convert to a data type."""
    source = data_type(x)
    if isinstance(x, Constant) and (mode is None or mode.name == "RN"):
        return x if x.dtype == dtype else _cast_constant(x, dtype)
    if source == dtype:
        return x
    if dtype.is_boolean:
        zero = filled(scope, 0, source, shape_of(x)) if not source.is_restricted else None
        if zero is None:
            return astype(scope, astype(scope, x, _dtype.float32), dtype)
        return emit(scope, "ne", x, zero, dtype=dtype, shape=shape_of(x))
    restricted = (source.is_restricted, dtype.is_restricted)
    if any(restricted) and not (source.is_float and dtype.is_float):
        x = astype(scope, x, _dtype.float32)  # the conversions of these are among floats
    attributes: dict[str, object] = {}
    if mode is not None and mode.name != "RN":
        attributes["rm"] = mode.name.lower()
    return emit(scope, "cast", x, dtype=dtype, shape=shape_of(x), attributes=attributes)


def convert(scope: Scope, x: Operand, dtype: DType, context: str) -> Operand:
    """Convert as assignments do: only where nothing must be written to convert."""
    try:
        check_implicit(typing(x), dtype)
    except MismatchError as error:
        raise MismatchError(f"{context}: {error}") from None
    except RangeError as error:
        raise RangeError(f"{context}: {error}") from None
    return astype(scope, x, dtype)


def spread(scope: Scope, x: Operand, dtype: DType, shape: Shape) -> Operand:
    """Convert and broadcast; a constant stays one if the shape is that of a scalar."""
    return broadcast(scope, astype(scope, x, dtype), shape)


def refuse(message: str) -> NoReturn:
    """Raise the error of operands that don't fit."""
    raise MismatchError(message)
