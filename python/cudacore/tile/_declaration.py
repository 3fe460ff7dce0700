# SPDX-License-Identifier: Apache-2.0
"""The parameters of a compiled kernel, as C++ declares them."""

from __future__ import annotations

from cudacore.tile import _dtype
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    DataclassConstraint,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
    field_names,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cudacore.tile._kernel import kernel
    from cudacore.tile.compilation._constraint import ParameterConstraint

_TYPES = {
    _dtype.bool_: "bool",
    _dtype.int32: "int",
    _dtype.uint32: "unsigned",
    _dtype.int64: "long long",
    _dtype.float32: "float",
}

#: Of types in C++, as which a name would be read.
_WORDS = frozenset(
    (
        *("auto", "bool", "char", "class", "const", "double", "enum", "float", "half", "int"),
        *("long", "restrict", "short", "signed", "struct", "union", "unsigned", "void"),
        *("volatile", "operator", "char8_t", "char16_t", "char32_t", "wchar_t", "__int128"),
    )
)


def declaration(of: kernel, constraints: Sequence[ParameterConstraint]) -> str:
    """Return how a kernel is declared that is compiled for arguments of a launch.

    Its code says less: whether integers have a sign, and what parameters are called.
    """
    names = [name for name, _ in of.parameters]
    parts = [
        f"{kind} {name}" if name.isascii() and name not in _WORDS else kind
        for argument, constraint in zip(names, constraints, strict=True)
        for kind, name in _parameters(argument, constraint)
    ]
    return f"({', '.join(parts)})"


def _parameters(name: str, constraint: ParameterConstraint) -> Iterator[tuple[str, str]]:
    """Yield type and name of each parameter that an argument becomes, in order."""
    if isinstance(constraint, ScalarConstraint):
        yield _TYPES[constraint.dtype], name
    elif isinstance(constraint, ArrayConstraint):
        yield "void*", name
        index = _TYPES[constraint.index_dtype]
        for part in ("extent", "stride"):
            for axis in range(constraint.ndim):
                yield index, f"{name}_{part}_{axis}"
    elif isinstance(constraint, ListConstraint):
        yield "void*", name
        yield "int", f"{name}_length"
    elif isinstance(constraint, TupleConstraint):
        for place, item in enumerate(constraint.items):
            yield from _parameters(f"{name}_{place}", item)
    elif isinstance(constraint, DataclassConstraint):
        fields = field_names(constraint.cls)
        for field, item in zip(fields, constraint.fields, strict=True):
            yield from _parameters(f"{name}_{field}", item)
