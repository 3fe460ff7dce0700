# SPDX-License-Identifier: Apache-2.0
"""Tile kernels compiled ahead of time, for given signatures."""

from cudacore.tile.compilation._calling_convention import CallingConvention
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    ConstantConstraint,
    ConstantValue,
    DataclassConstraint,
    ListConstraint,
    ParameterConstraint,
    ScalarConstraint,
    TupleConstraint,
)
from cudacore.tile.compilation._demangling import demangle_kernel_name
from cudacore.tile.compilation._export import export_kernel
from cudacore.tile.compilation._mangling import mangle_kernel_name
from cudacore.tile.compilation._signature import KernelSignature

__all__ = [
    "ArrayConstraint",
    "CallingConvention",
    "ConstantConstraint",
    "ConstantValue",
    "DataclassConstraint",
    "KernelSignature",
    "ListConstraint",
    "ParameterConstraint",
    "ScalarConstraint",
    "TupleConstraint",
    "demangle_kernel_name",
    "export_kernel",
    "mangle_kernel_name",
]
