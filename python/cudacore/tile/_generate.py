# SPDX-License-Identifier: Apache-2.0
"""From constraints to CUDA C++."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from cudacore import _tile
from cudacore.tile._compile import compile_to_text
from cudacore.tile._entry import entry_name
from cudacore.tile._exception import TileUnsupportedFeatureError
from cudacore.tile._parameter import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    RecordParameter,
    ScalarParameter,
    TupleParameter,
)
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    DataclassConstraint,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore._tile import Generated
    from cudacore.tile._kernel import kernel
    from cudacore.tile._parameter import Parameter
    from cudacore.tile.compilation._constraint import ParameterConstraint

_OLDEST = 75
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(cudacore/tile/[^>]+)>", re.MULTILINE)
#: What the text of a kernel calls the hints that its code depends on.
_HINTS = {"occupancy": "occupancy", "num_worker_warps": "warps"}


def generate(
    of: kernel, constraints: Sequence[ParameterConstraint], architecture: int, symbol: str = ""
) -> Generated:
    """Evaluate the kernel's function, and print CUDA C++.

    Raises
    ------
    TileError
        The kernel can't be compiled.
    """
    if architecture < _OLDEST:
        raise TileUnsupportedFeatureError(
            f"tile kernels need compute capability {_OLDEST // 10}.{_OLDEST % 10}, and this device "
            f"has {architecture // 10}.{architecture % 10}"
        )
    hints = of.hints.resolve(f"sm_{architecture}")
    parameters = [_parameter(constraint) for constraint in constraints]
    text = compile_to_text(
        of.function,
        parameters,
        {_HINTS[name]: hint for name, hint in hints.items() if name in _HINTS},
        symbol or entry_name(of.__name__),
    )
    try:
        return _tile.generate(text, arch=architecture)
    except _tile.Error as error:
        raise TileUnsupportedFeatureError(error.message, text.place(error.text_line)) from None


def _parameter(constraint: ParameterConstraint) -> Parameter:
    """Return what the evaluator is told about an argument."""
    if isinstance(constraint, ScalarConstraint):
        return ScalarParameter(constraint.dtype)
    if isinstance(constraint, ArrayConstraint):
        return ArrayParameter(
            constraint.dtype,
            constraint.ndim,
            constraint.index_dtype,
            constraint.shape_constant,
            constraint.stride_constant,
            constraint.shape_divisible_by,
            constraint.stride_divisible_by,
            constraint.base_addr_divisible_by,
            constraint.alias_groups,
        )
    if isinstance(constraint, ListConstraint):
        element = constraint.element
        return ListParameter(
            element.dtype,
            element.ndim,
            element.index_dtype,
            element.shape_constant,
            element.stride_constant,
            element.base_addr_divisible_by,
            element.alias_groups,
        )
    if isinstance(constraint, TupleConstraint):
        return TupleParameter(tuple(_parameter(item) for item in constraint.items))
    if isinstance(constraint, DataclassConstraint):
        names = [field.name for field in dataclasses.fields(constraint.cls)]
        fields = zip(names, map(_parameter, constraint.fields), strict=True)
        return RecordParameter(constraint.cls, dict(fields))
    return ConstantParameter(constraint.value)


def headers_of(source: str) -> dict[str, str]:
    """Return the headers of this package that a source includes, and that they include."""
    texts = _tile.headers()
    found: dict[str, str] = {}
    wanted = _INCLUDE.findall(source)
    while wanted:
        name = wanted.pop()
        if name in texts and name not in found:
            found[name] = texts[name]
            wanted += _INCLUDE.findall(texts[name])
    return dict(sorted(found.items()))
