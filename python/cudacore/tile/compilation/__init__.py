# SPDX-License-Identifier: Apache-2.0
"""Tile kernels compiled ahead of time, for given signatures."""

from __future__ import annotations

from cudacore import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile.compilation._array_constraint import ArrayConstraint as ArrayConstraint
    from cudacore.tile.compilation._array_constraint import ListConstraint as ListConstraint
    from cudacore.tile.compilation._calling_convention import CallingConvention as CallingConvention
    from cudacore.tile.compilation._constraint import ConstantConstraint as ConstantConstraint
    from cudacore.tile.compilation._constraint import ConstantValue as ConstantValue
    from cudacore.tile.compilation._constraint import DataclassConstraint as DataclassConstraint
    from cudacore.tile.compilation._constraint import ParameterConstraint as ParameterConstraint
    from cudacore.tile.compilation._constraint import ScalarConstraint as ScalarConstraint
    from cudacore.tile.compilation._constraint import TupleConstraint as TupleConstraint
    from cudacore.tile.compilation._demangling import demangle_kernel_name as demangle_kernel_name
    from cudacore.tile.compilation._export import export_kernel as export_kernel
    from cudacore.tile.compilation._mangling import mangle_kernel_name as mangle_kernel_name
    from cudacore.tile.compilation._signature import KernelSignature as KernelSignature

_MODULES = {
    "_array_constraint": "ArrayConstraint ListConstraint",
    "_calling_convention": "CallingConvention",
    "_constraint": (
        "ConstantConstraint ConstantValue DataclassConstraint ParameterConstraint "
        "ScalarConstraint TupleConstraint"
    ),
    "_demangling": "demangle_kernel_name",
    "_export": "export_kernel",
    "_mangling": "mangle_kernel_name",
    "_signature": "KernelSignature",
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_NAMES)  # noqa: PLE0605
__getattr__ = _later.loader(__name__, _NAMES)


def __dir__() -> list[str]:
    return sorted(_NAMES)
