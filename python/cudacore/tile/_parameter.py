# SPDX-License-Identifier: Apache-2.0
"""The parameters of a kernel while it is compiled, made of what their constraints say.

A parameter of the Python function becomes parameters of the device's kernel, in this order:

- `ScalarConstraint`: the scalar;
- `ArrayConstraint`: the address, each extent, each stride (in elements), also those that are
  static, which the kernel doesn't read;
- `ListConstraint`: the address of the table of int64, then the length as int32;
- `ConstantConstraint`: none;
- `TupleConstraint`, `DataclassConstraint`: those of their items, one after another.
"""

from __future__ import annotations

from cudacore.tile import _convert
from cudacore.tile._dtype import int32
from cudacore.tile._text import Builder, Type
from cudacore.tile._value import Array, Constant, List, Record, Tile
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    ConstantConstraint,
    DataclassConstraint,
    ListConstraint,
    ParameterConstraint,
    ScalarConstraint,
    TupleConstraint,
    field_names,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._dtype import DType


def parameter_value(builder: Builder, constraint: ParameterConstraint) -> object:
    """Add the parameters that the device's kernel has for one of the function's."""
    if isinstance(constraint, ConstantConstraint):
        return _convert.value(constraint.value)
    if isinstance(constraint, ScalarConstraint):
        return Tile(builder.parameter(Type(constraint.dtype.element), {}), constraint.dtype)
    if isinstance(constraint, TupleConstraint):
        return tuple(parameter_value(builder, each) for each in constraint.items)
    if isinstance(constraint, DataclassConstraint):
        values = [parameter_value(builder, each) for each in constraint.fields]
        return Record(constraint.cls, dict(zip(field_names(constraint.cls), values, strict=True)))
    if isinstance(constraint, ListConstraint):
        return _list(builder, constraint.element)
    return _array(builder, constraint)


def _address(alignment: int, alias_groups: tuple[str, ...]) -> dict[str, object]:
    aligned: dict[str, object] = {"align": alignment} if alignment > 1 else {}
    return {**aligned, "alias": alias_groups} if alias_groups else aligned


def _array(builder: Builder, constraint: ArrayConstraint) -> Array:
    attributes = _address(constraint.base_addr_divisible_by, constraint.alias_groups)
    pointer = builder.parameter(Type(constraint.dtype.element, is_pointer=True), attributes)
    index = constraint.index_dtype
    shape = _extents(builder, index, constraint.shape_constant, constraint.shape_divisible_by)
    strides = _extents(builder, index, constraint.stride_constant, constraint.stride_divisible_by)
    return Array(pointer, constraint.dtype, shape, strides, index)


def _extents(
    builder: Builder, index: DType, constants: tuple[int | None, ...], divisors: tuple[int, ...]
) -> tuple[Tile | Constant, ...]:
    made: list[Tile | Constant] = []
    for constant, divisor in zip(constants, divisors, strict=True):
        attributes = {"div": divisor} if divisor > 1 else {}
        value = builder.parameter(Type(index.element), attributes)
        made.append(Tile(value, index) if constant is None else Constant(constant, index))
    return tuple(made)


def _list(builder: Builder, element: ArrayConstraint) -> List:
    attributes = _address(8, element.alias_groups)
    table = builder.parameter(Type("i64", is_pointer=True), attributes)
    length = builder.parameter(Type("i32"))
    return List(
        table,
        Tile(length, int32),
        element.dtype,
        element.ndim,
        element.index_dtype,
        element.shape_constant,
        element.stride_constant,
        element.base_addr_divisible_by,
    )
