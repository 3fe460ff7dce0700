# SPDX-License-Identifier: Apache-2.0
"""What is known about the arguments of a kernel while it is compiled.

A parameter of the Python function becomes parameters of the device's kernel, in this order:

- `ScalarParameter`: the scalar;
- `ArrayParameter`: the address, each extent, each stride (in elements), also those that are static,
  which the kernel doesn't read;
- `ListParameter`: the address of the table of int64, then the length as int32;
- `ConstantParameter`: none;
- `TupleParameter`, `RecordParameter`: those of their items, one after another.
"""

from typing import TYPE_CHECKING, Any

from cudacore.tile import _convert
from cudacore.tile._dataclass import dataclass
from cudacore.tile._text import Builder, Type
from cudacore.tile._value import Array, Constant, List, Record, Tile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cudacore.tile._dtype import DType


@dataclass(frozen=True)
class ScalarParameter:
    """A number that the device is given.

    Attributes
    ----------
    divisor
        What divides it.
    """

    dtype: "DType"
    divisor: int = 1


@dataclass(frozen=True)
class ArrayParameter:
    """An array in global memory.

    Attributes
    ----------
    ndim
        How many dimensions it has.
    index_dtype
        What indices are computed in, int32 or int64; also the type of extents and strides.
    shape, strides
        What is known of extents and strides, in elements: a number, or None. Empty: nothing.
    shape_divisors, stride_divisors
        What divides each. Empty: nothing is known.
    alignment
        What divides the address, in bytes.
    alias_groups
        Names; arrays that have one in common may overlap.
    """

    dtype: "DType"
    ndim: int
    index_dtype: "DType"
    shape: tuple[int | None, ...] = ()
    strides: tuple[int | None, ...] = ()
    shape_divisors: tuple[int, ...] = ()
    stride_divisors: tuple[int, ...] = ()
    alignment: int = 1
    alias_groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class ListParameter:
    """A list of arrays; see `List` for how it stands in memory.

    Its `alias_groups` are those of its arrays.
    """

    dtype: "DType"
    ndim: int
    index_dtype: "DType"
    shape: tuple[int | None, ...] = ()
    strides: tuple[int | None, ...] = ()
    alignment: int = 1
    alias_groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConstantParameter:
    """A value known while compiling."""

    value: Any


@dataclass(frozen=True)
class TupleParameter:
    """A tuple."""

    items: "tuple[Parameter, ...]"


@dataclass(frozen=True)
class RecordParameter:
    """An instance of a frozen dataclass."""

    type: type
    fields: "Mapping[str, Parameter]"


Parameter = (
    ScalarParameter
    | ArrayParameter
    | ListParameter
    | ConstantParameter
    | TupleParameter
    | RecordParameter
)


def parameter_value(builder: Builder, parameter: Parameter) -> object:
    """Add the parameters that the device's kernel has for one of the function's."""
    if isinstance(parameter, ConstantParameter):
        return _convert.value(parameter.value)
    if isinstance(parameter, ScalarParameter):
        attributes = {"div": parameter.divisor} if parameter.divisor > 1 else {}
        value = builder.parameter(Type(parameter.dtype.element), attributes)
        return Tile(value, parameter.dtype)
    if isinstance(parameter, TupleParameter):
        return tuple(parameter_value(builder, each) for each in parameter.items)
    if isinstance(parameter, RecordParameter):
        fields = {key: parameter_value(builder, each) for key, each in parameter.fields.items()}
        return Record(parameter.type, fields)
    if isinstance(parameter, ListParameter):
        return _list(builder, parameter)
    return _array(builder, parameter)


def _address(alignment: int, alias_groups: tuple[str, ...]) -> dict[str, object]:
    aligned: dict[str, object] = {"align": alignment} if alignment > 1 else {}
    return {**aligned, "alias": alias_groups} if alias_groups else aligned


def _array(builder: Builder, parameter: ArrayParameter) -> Array:
    element = parameter.dtype.element
    attributes = _address(parameter.alignment, parameter.alias_groups)
    pointer = builder.parameter(Type(element, is_pointer=True), attributes)
    extents = [
        _extents(builder, parameter, known, divisors)
        for known, divisors in (
            (parameter.shape, parameter.shape_divisors),
            (parameter.strides, parameter.stride_divisors),
        )
    ]
    return Array(pointer, parameter.dtype, extents[0], extents[1], parameter.index_dtype)


def _extents(
    builder: Builder,
    parameter: ArrayParameter,
    known: tuple[int | None, ...],
    divisors: tuple[int, ...],
) -> tuple[Tile | Constant, ...]:
    made: list[Tile | Constant] = []
    for axis in range(parameter.ndim):
        divisor = divisors[axis] if divisors else 1
        attributes = {"div": divisor} if divisor > 1 else {}
        value = builder.parameter(Type(parameter.index_dtype.element), attributes)
        static = known[axis] if known else None
        made.append(
            Tile(value, parameter.index_dtype)
            if static is None
            else Constant(static, parameter.index_dtype)
        )
    return tuple(made)


def _list(builder: Builder, parameter: ListParameter) -> List:
    from cudacore.tile._dtype import int32  # noqa: PLC0415 - used here alone

    attributes = _address(8, parameter.alias_groups)
    table = builder.parameter(Type("i64", is_pointer=True), attributes)
    length = builder.parameter(Type("i32"))
    return List(
        table,
        Tile(length, int32),
        parameter.dtype,
        parameter.ndim,
        parameter.index_dtype,
        parameter.shape or (None,) * parameter.ndim,
        parameter.strides or (None,) * parameter.ndim,
        parameter.alignment,
    )
