# SPDX-License-Identifier: Apache-2.0
"""What values of a kernel are made of."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from cudacore.tile._dataclass import replace
from cudacore.tile._frame import ReturnedFrame
from cudacore.tile._value import (
    Array,
    BoundMethod,
    FormattedString,
    Function,
    IndexSlice,
    List,
    Range,
    RawArrayMemory,
    Record,
    Slice,
    TiledView,
)

#: What is fixed about a value, and the values that it is made of.
Parts = tuple[Hashable, tuple[object, ...]]


def _array(thing: Array) -> Parts:
    fixed = ("array", thing.dtype, thing.index_dtype, thing.ndim)
    return fixed, (thing.pointer, *thing.shape, *thing.strides)


def _rebuilt_array(thing: Array, values: Sequence[Any]) -> Array:
    pointer, *rest = values
    count = thing.ndim
    shape, strides = tuple(rest[:count]), tuple(rest[count:])
    return replace(thing, pointer=pointer, shape=shape, strides=strides)


def _list(thing: List) -> Parts:
    statics = (thing.dtype, thing.ndim, thing.index_dtype, thing.shape, thing.strides)
    return ("list", *statics, thing.alignment), (thing.table, thing.length)


def _text(thing: FormattedString) -> Parts:
    fixed = tuple(piece if isinstance(piece, str) else (piece[1],) for piece in thing.pieces)
    values = tuple(piece[0] for piece in thing.pieces if not isinstance(piece, str))
    return ("text", fixed), values


def _rebuilt_text(thing: FormattedString, values: Sequence[Any]) -> FormattedString:
    left = iter(values)
    pieces = (piece if isinstance(piece, str) else (next(left), piece[1]) for piece in thing.pieces)
    return replace(thing, pieces=tuple(pieces))


def _function(thing: Function) -> Parts:
    fixed: list[Hashable] = ["closure", id(thing.node), tuple(thing.defaults)]
    values = list(thing.defaults.values())
    for level in thing.environment:
        if isinstance(level, ReturnedFrame):
            fixed.append(tuple(level.variables))
            values += level.variables.values()
        else:
            fixed.append(id(level))
    return tuple(fixed), tuple(values)


def _rebuilt_function(thing: Function, values: Sequence[Any]) -> Function:
    left = iter(values)
    defaults = {name: next(left) for name in thing.defaults}
    levels = tuple(
        ReturnedFrame({name: next(left) for name in level.variables}, level.names)
        if isinstance(level, ReturnedFrame)
        else level
        for level in thing.environment
    )
    return replace(thing, defaults=defaults, environment=levels)


def _span(thing: Any) -> Parts:
    fixed = (type(thing), getattr(thing, "dtype", None))
    return fixed, (thing.start, thing.stop, thing.step)


def _rebuilt_span(thing: Any, values: Sequence[Any]) -> Any:
    return replace(thing, start=values[0], stop=values[1], step=values[2])


_KINDS: dict[type, tuple[Callable[[Any], Parts], Callable[[Any, Sequence[Any]], object]]] = {
    tuple: (lambda t: (("tuple",), t), lambda _, values: tuple(values)),
    dict: (
        lambda t: (("dict", tuple(t)), tuple(t.values())),
        lambda t, values: dict(zip(t, values, strict=True)),
    ),
    Array: (_array, _rebuilt_array),
    TiledView: (
        lambda t: (("view", t.tile_shape, t.padding_mode, t.traversal_steps), (t.array,)),
        lambda t, values: replace(t, array=values[0]),
    ),
    RawArrayMemory: (
        lambda t: (("memory", t.dtype), (t.pointer,)),
        lambda t, values: replace(t, pointer=values[0]),
    ),
    List: (_list, lambda t, values: replace(t, table=values[0], length=values[1])),
    Range: (_span, _rebuilt_span),
    Slice: (_span, _rebuilt_span),
    IndexSlice: (
        lambda t: (("index slice", t.length), (t.start,)),
        lambda t, values: replace(t, start=values[0]),
    ),
    Record: (
        lambda t: (("record", t.type, tuple(t.fields)), tuple(t.fields.values())),
        lambda t, values: replace(t, fields=dict(zip(t.fields, values, strict=True))),
    ),
    BoundMethod: (
        lambda t: (("method", t.function), (t.bound,)),
        lambda t, values: replace(t, bound=values[0]),
    ),
    FormattedString: (_text, _rebuilt_text),
    Function: (_function, _rebuilt_function),
}


def parts_of(thing: object) -> Parts | None:
    """Return what is fixed about a value, and the values it is made of; None if of none."""
    kind = _KINDS.get(type(thing))
    return kind[0](thing) if kind else None


def rebuilt(thing: object, values: Sequence[object]) -> object:
    """Return a value like another one, made of other values."""
    return _KINDS[type(thing)][1](thing, values)
