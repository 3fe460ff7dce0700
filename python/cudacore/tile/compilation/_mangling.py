# SPDX-License-Identifier: Apache-2.0
"""Names of compiled kernels, made from the function's name and the signature."""

from __future__ import annotations

import enum
import re
import struct
from collections import defaultdict
from typing import TYPE_CHECKING

from cudacore.tile import _dtype
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    ConstantConstraint,
    DataclassConstraint,
    ListConstraint,
    ParameterConstraint,
    ScalarConstraint,
    TupleConstraint,
)
from cudacore.tile.compilation._signature import KernelSignature, alias_groups_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._dtype import DType

DTYPE_CODES: dict[DType, str] = {
    _dtype.bool_: "b8",
    _dtype.uint8: "u8",
    _dtype.uint16: "u16",
    _dtype.uint32: "u32",
    _dtype.uint64: "u64",
    _dtype.int8: "i8",
    _dtype.int16: "i16",
    _dtype.int32: "i32",
    _dtype.int64: "i64",
    _dtype.float16: "f16",
    _dtype.float32: "f32",
    _dtype.float64: "f64",
    _dtype.bfloat16: "bf16",
    _dtype.tfloat32: "tf32",
    _dtype.float8_e4m3fn: "f8m3fn",
    _dtype.float8_e5m2: "f8m2",
    _dtype.float8_e8m0fnu: "f8m0fnu",
}

# What an array's dimensions may be known to be: the letter, the field, and the value that says
# nothing. Dimensions that share a value share an entry, which begins with their set as a bit mask.
AXIS_FACTS = (
    ("s", "shape_constant", None),
    ("i", "shape_divisible_by", 1),
    ("t", "stride_constant", None),
    ("v", "stride_divisible_by", 1),
    ("l", "stride_lower_bound_incl", None),
)


def mangle_kernel_name(function_name: str, kernel_signature: KernelSignature) -> str:
    """Return the name of a kernel that is compiled for a signature.

    Parameters
    ----------
    function_name : str
        The name of the Python function.
    kernel_signature : KernelSignature
        The signature.

    Raises
    ------
    ValueError
        A constant or a dtype has no name.

    Examples
    --------
    >>> from cudacore.tile.compilation import CallingConvention, KernelSignature
    >>> from cudacore.tile.compilation import mangle_kernel_name
    >>> mangle_kernel_name("f", KernelSignature([3, True], CallingConvention.cutile_python_v1()))
    'f_Kt1_I3_B1'
    """
    groups: dict[str, int] = {}
    for _, names in alias_groups_of(kernel_signature.parameters):
        for name in names:
            groups.setdefault(name, len(groups))
    parts = [_mangle(parameter, groups) for parameter in kernel_signature.parameters]
    return "_".join([f"{function_name}_K{kernel_signature.calling_convention.code}", *parts])


def mangle_string(text: str) -> str:
    """Return text as letters, digits and underscores, without the ``_K`` that ends functions."""

    def escape(match: re.Match[str]) -> str:
        character = match.group()
        code = ord(character)
        if character in "_K":
            return "__" if character == "_" else "_k"
        if code < 1 << 8:
            return f"_{code:02x}"
        return f"_u{code:04x}" if code < 1 << 16 else f"_w{code:08x}"

    return re.sub("[^a-zA-JL-Z0-9]", escape, text) + "_z"


def mangle_int(value: int) -> str:
    """Return an integer with an underscore for its sign."""
    return str(value).replace("-", "_")


def _mangle(constraint: ParameterConstraint, groups: dict[str, int]) -> str:
    if isinstance(constraint, ScalarConstraint):
        return "S" + _mangle_dtype(constraint.dtype)
    if isinstance(constraint, ArrayConstraint):
        return "A" + _mangle_array(constraint, groups)
    if isinstance(constraint, ListConstraint):
        extras = _mangle_groups(constraint.alias_groups, groups)
        extras += "i" if constraint.elements_may_alias else ""
        return "L" + extras + _mangle(constraint.element, groups)
    if isinstance(constraint, TupleConstraint):
        return f"T{len(constraint.items)}" + _mangle_each(constraint.items, groups)
    if isinstance(constraint, DataclassConstraint):
        name = _mangle_global(constraint.cls)
        fields = _mangle_each(constraint.fields, groups)
        return f"D{name}{len(constraint.fields)}{fields}"
    return _mangle_constant(constraint)


def _mangle_each(constraints: Sequence[ParameterConstraint], groups: dict[str, int]) -> str:
    return "".join(_mangle(constraint, groups) for constraint in constraints)


def _mangle_constant(constraint: ConstantConstraint) -> str:
    value = constraint.value
    if isinstance(value, enum.Enum):
        return "Ce_" + _mangle_global(type(value)) + mangle_string(value.name)
    if isinstance(value, bool):
        return f"B{int(value)}"
    if isinstance(value, int):
        return "I" + mangle_int(value)
    if isinstance(value, float):
        return "F" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return "Cs_" + mangle_string(value)
    return "Cn_" if value is None else "Cd_" + _mangle_dtype(value)


def _mangle_array(array: ArrayConstraint, groups: dict[str, int]) -> str:
    facts: dict[int, str] = defaultdict(str)
    for letter, field, nothing in AXIS_FACTS:
        masks: dict[int, int] = defaultdict(int)
        for axis, value in enumerate(getattr(array, field)):
            if value != nothing:
                masks[value] |= 1 << axis
        for value, mask in masks.items():
            facts[mask] += letter + mangle_int(value)
    extras = ""
    if array.base_addr_divisible_by != 1:
        extras += "p" + mangle_int(array.base_addr_divisible_by)
    extras += _mangle_groups(array.alias_groups, groups)
    extras += "i" if array.may_alias_internally else ""
    extras += {_dtype.uint32: "u", _dtype.int64: "w"}.get(array.index_dtype, "")
    text = f"{array.ndim}{_mangle_dtype(array.dtype)}"
    text += "".join(f"_{mask:x}{facts[mask]}" for mask in sorted(facts))
    return f"{text}_{extras}" if extras else text


def _mangle_groups(names: Sequence[str], groups: dict[str, int]) -> str:
    return "".join(f"g{number:x}" for number in sorted(groups[name] for name in names))


def _mangle_global(cls: type) -> str:
    return mangle_string(cls.__module__) + mangle_string(cls.__qualname__)


def _mangle_dtype(dtype: DType) -> str:
    if dtype not in DTYPE_CODES:
        raise ValueError(f"Unexpected dtype {dtype}")
    return DTYPE_CODES[dtype]
