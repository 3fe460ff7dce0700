# SPDX-License-Identifier: Apache-2.0
"""What the annotations of a kernel's parameters ask for."""

from __future__ import annotations

import typing
from typing import Annotated, Any, TypeAlias

from cudacore.tile._dataclass import dataclass
from cudacore.tile._dtype import int64
from cudacore.tile._language_annotation import (
    ArrayAnnotation,
    ConstantAnnotation,
    ListAnnotation,
    ScalarAnnotation,
)

if typing.TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType


# The bits of ParameterBit in src/bindings/bind_tile_launches.cpp.
_CONSTANT, _EXACT, _WIDE_INT, _WIDE_AXES = 1, 2, 4, 8

_VARIADIC = 0x04 | 0x08  # inspect.CO_VARARGS and CO_VARKEYWORDS


@dataclass(frozen=True)
class Leaf:
    """The annotation of one argument, or of everything in a tuple or dataclass."""

    constant: bool = False
    scalar: ScalarAnnotation | None = None
    array: ArrayAnnotation | None = None
    list: ListAnnotation | None = None

    def require_one(self) -> None:
        """Refuse annotations that contradict each other.

        Raises
        ------
        TypeError
            There are several.
        """
        given = [
            name
            for name, annotation in (
                ("Constant annotation", self.constant or None),
                ("ScalarAnnotation/ScalarInt64", self.scalar),
                ("ArrayAnnotation/IndexedWithInt64", self.array),
                ("ListAnnotation", self.list),
            )
            if annotation is not None
        ]
        if len(given) > 1:
            raise TypeError(f"{given[0]} cannot be combined with {given[1]}")


@dataclass(frozen=True)
class AnyLength:
    """``tuple[X, ...]``."""

    each: Annotation


@dataclass(frozen=True)
class Items:
    """``tuple[X, Y]``."""

    items: tuple[Annotation, ...]


Annotation: TypeAlias = "Leaf | AnyLength | Items"


def annotations_of(function: FunctionType) -> Sequence[tuple[str, Annotation]]:
    """Return the name of each parameter and what its annotation asks for, strings resolved."""
    hints = typing.get_type_hints(function, include_extras=True)
    return tuple((name, _read(hints.get(name), constant=False)) for name in _names(function))


def _names(function: FunctionType) -> Sequence[str]:
    """Return the names of the parameters."""
    code = function.__code__
    if function.__dict__ or code.co_flags & _VARIADIC:
        import inspect  # noqa: PLC0415 - takes long to import

        return tuple(inspect.signature(function).parameters)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def what_differs(annotation: Annotation) -> int:
    """Return in what launches may differ by an argument, as `_TileLaunches` is told."""
    if not isinstance(annotation, Leaf):
        return _EXACT
    array = annotation.array
    return (
        _CONSTANT * annotation.constant
        | _EXACT * (array is not None and bool(array.static_shape_dims or array.static_stride_dims))
        | _WIDE_INT * (annotation.scalar is not None and annotation.scalar.dtype is int64)
        | _WIDE_AXES * (array is not None and array.index_dtype is int64)
    )


def _read(annotation: Any, *, constant: bool) -> Annotation:
    metadata: tuple[object, ...] = ()
    if typing.get_origin(annotation) is Annotated:
        annotation, *given = typing.get_args(annotation)
        metadata = tuple(given)
        constant = constant or any(isinstance(item, ConstantAnnotation) for item in metadata)
    if typing.get_origin(annotation) is tuple:
        arguments = typing.get_args(annotation)
        if arguments[1:] == (...,):
            return AnyLength(_read(arguments[0], constant=constant))
        return Items(tuple(_read(argument, constant=constant) for argument in arguments))
    leaf: dict[str, Any] = {"constant": constant}
    for item in reversed(metadata):
        for name, kind in (
            ("scalar", ScalarAnnotation),
            ("array", ArrayAnnotation),
            ("list", ListAnnotation),
        ):
            if isinstance(item, kind):
                leaf[name] = item
    return Leaf(**leaf)
