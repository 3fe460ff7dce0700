# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel may assume of its arguments."""

from __future__ import annotations

import enum
import struct
from typing import TYPE_CHECKING, Any, TypeAlias

from cudacore._public import public
from cudacore.tile._dataclass import dataclass
from cudacore.tile._dtype import DType
from cudacore.tile.compilation._array_constraint import (
    ArrayConstraint,
    ListConstraint,
    require_dtype,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ArrayConstraint",
    "ConstantConstraint",
    "ConstantValue",
    "DataclassConstraint",
    "ListConstraint",
    "ParameterConstraint",
    "ParameterConstraintLike",
    "ScalarConstraint",
    "TupleConstraint",
    "field_names",
    "is_constant",
    "to_constraint",
]

ConstantValue: TypeAlias = "bool | int | float | str | enum.Enum | DType | None"
"""A value that a `ConstantConstraint` takes."""


def is_constant(value: object) -> bool:
    """Whether a value can be compiled into a kernel."""
    return value is None or isinstance(value, (bool, int, float, str, enum.Enum, DType))


@public("cudacore.tile.compilation")
@dataclass(frozen=True)
class ScalarConstraint:
    """A number.

    Parameters
    ----------
    dtype : DType
        Its type.

    Raises
    ------
    TypeError
        `dtype` is not a DType.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> from cudacore.tile.compilation import ScalarConstraint
    >>> ScalarConstraint(ct.float32)
    ScalarConstraint(dtype=<DType 'float32'>)
    """

    dtype: DType

    def __init__(self, dtype: DType) -> None:
        require_dtype(dtype)
        self.__dict__.update(dtype=dtype)


@public("cudacore.tile.compilation")
@dataclass(frozen=True)
class TupleConstraint:
    """A tuple.

    Parameters
    ----------
    items : sequence
        A constraint, or a constant, for each item.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> from cudacore.tile.compilation import ScalarConstraint, TupleConstraint
    >>> len(TupleConstraint([ScalarConstraint(ct.float32), 16]).items)
    2
    """

    items: tuple[ParameterConstraint, ...]

    def __init__(self, items: Sequence[ParameterConstraintLike]) -> None:
        self.__dict__.update(items=tuple(to_constraint(item) for item in items))


@public("cudacore.tile.compilation")
@dataclass(frozen=True)
class DataclassConstraint:
    """An instance of a frozen dataclass.

    Parameters
    ----------
    cls : type
        The dataclass.
    fields : sequence
        A constraint, or a constant, for each field, in order.

    Raises
    ------
    TypeError
        `cls` is not a dataclass, or has another number of fields.

    Examples
    --------
    >>> import dataclasses
    >>> import cudacore.tile as ct
    >>> from cudacore.tile.compilation import DataclassConstraint, ScalarConstraint
    >>> @dataclasses.dataclass(frozen=True)
    ... class Line:
    ...     slope: float
    ...     offset: float
    >>> number = ScalarConstraint(ct.float32)
    >>> DataclassConstraint(Line, [number, number]).cls is Line
    True
    """

    cls: type
    fields: tuple[ParameterConstraint, ...]

    def __init__(self, cls: type, fields: Sequence[ParameterConstraintLike]) -> None:
        names = field_names(cls, "DataclassConstraint.cls")
        if len(fields) != len(names):
            raise TypeError(
                "Number of fields in DataclassConstraint doesn't match the number of fields of "
                f"dataclass '{cls.__qualname__}' ({len(fields)} vs {len(names)})"
            )
        self.__dict__.update(cls=cls, fields=tuple(to_constraint(field) for field in fields))

    @staticmethod
    def create(dataclass_type: type, /, **fields: ParameterConstraintLike) -> DataclassConstraint:
        """Make one from the fields' names.

        Raises
        ------
        TypeError
            The class is not a dataclass, or a field is missing or unknown.

        Examples
        --------
        >>> import dataclasses
        >>> import cudacore.tile as ct
        >>> from cudacore.tile.compilation import DataclassConstraint, ScalarConstraint
        >>> @dataclasses.dataclass(frozen=True)
        ... class Line:
        ...     slope: float
        ...     offset: float
        >>> number = ScalarConstraint(ct.float32)
        >>> len(DataclassConstraint.create(Line, slope=number, offset=number).fields)
        2
        """
        names = field_names(dataclass_type, "`cls`")
        for name in names:
            if name not in fields:
                raise TypeError(
                    f"Missing field '{name}' of dataclass '{dataclass_type.__qualname__}'"
                )
        for name in fields:
            if name not in names:
                raise TypeError(
                    f"No such field '{name}' in dataclass '{dataclass_type.__qualname__}'"
                )
        return DataclassConstraint(dataclass_type, [fields[name] for name in names])


def _exact(value: Any) -> object:
    """Return what a constant is, whatever its own class says that it equals."""
    if isinstance(value, enum.Enum):
        return id(value)
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return struct.pack("=d", value)
    return str.__str__(value) if isinstance(value, str) else value


@public("cudacore.tile.compilation")
@dataclass(frozen=True)
class ConstantConstraint:
    """A value that is compiled in, for a parameter annotated with ``ct.Constant``.

    Values of different types differ, so ``1``, ``1.0`` and ``True`` do; NaN equals itself.

    Parameters
    ----------
    value : bool, int, float, str, Enum, DType or None
        The value.

    Raises
    ------
    TypeError
        The value is of another type.

    Examples
    --------
    >>> from cudacore.tile.compilation import ConstantConstraint
    >>> ConstantConstraint(16) == ConstantConstraint(16.0)
    False
    """

    value: Any

    def __init__(self, value: Any) -> None:
        if not is_constant(value):
            raise TypeError(f"Unexpected constant value type {type(value)}")
        self.__dict__.update(value=value)

    def _key(self) -> tuple[type, object]:
        return type(self.value), _exact(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantConstraint):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


ParameterConstraint: TypeAlias = (
    ScalarConstraint
    | ArrayConstraint
    | ListConstraint
    | TupleConstraint
    | DataclassConstraint
    | ConstantConstraint
)
"""What a kernel may assume of one argument."""

ParameterConstraintLike: TypeAlias = Any
"""A `ParameterConstraint`, or a constant, tuple or dataclass instance that stands for one."""

_CONSTRAINTS = (
    ScalarConstraint,
    ArrayConstraint,
    ListConstraint,
    TupleConstraint,
    DataclassConstraint,
    ConstantConstraint,
)


def to_constraint(value: ParameterConstraintLike) -> ParameterConstraint:
    """Return the constraint that a constant, a tuple or a dataclass instance stands for."""
    if isinstance(value, _CONSTRAINTS):
        return value
    if is_constant(value):
        return ConstantConstraint(value)
    if isinstance(value, tuple):
        return TupleConstraint(value)
    if not isinstance(value, type) and hasattr(type(value), "__dataclass_fields__"):
        fields = [getattr(value, name) for name in field_names(type(value))]
        return DataclassConstraint(type(value), fields)
    raise TypeError(f"Can't interpret {value!r} as a parameter constraint")


def field_names(cls: type, what: str = "the type") -> list[str]:
    """Return the names of the fields of a dataclass; `what` is what it is called in errors."""
    if not isinstance(cls, type) or not hasattr(cls, "__dataclass_fields__"):
        raise TypeError(f"{what} must be a dataclass type")
    import dataclasses  # noqa: PLC0415 - there is one, so it is loaded

    return [field.name for field in dataclasses.fields(cls)]
