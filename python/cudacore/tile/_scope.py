# SPDX-License-Identifier: Apache-2.0
"""What the functions of the language are given besides their arguments."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from cudacore.tile._text import Builder, Type

if TYPE_CHECKING:
    from cudacore.tile._exception import Loc, TileError
    from cudacore.tile._text import Region, Value

#: What each function of the language and of Python means in a kernel; see `_operation.implements`.
IMPLEMENTATIONS: "dict[object, Callable[..., Any]]" = {}

#: Calls a function of the user's with values, and gives what it returns.
Caller = Callable[[object, Sequence[object], Mapping[str, object]], object]


class Scope:
    """Where a kernel is being evaluated: the operations so far, the place, and how to call back."""

    def __init__(self, builder: Builder, loc: "Loc", caller: Caller) -> None:
        self.builder = builder
        self.loc = loc
        self.combining: str | None = None  # "reduction" or "scan", within the body of one
        self._caller = caller

    def op(
        self,
        name: str,
        *operands: "Value | int",
        type: Type,  # noqa: A002 - the word of the text
        groups: "Mapping[str, Sequence[Value | int]] | None" = None,
        attributes: Mapping[str, object] | None = None,
    ) -> "Value":
        """Append an operation that gives one value, at the current place."""
        return self.builder.one(
            name, *operands, type=type, groups=groups, attributes=attributes, loc=self.loc
        )

    def ops(
        self,
        name: str,
        *operands: "Value | int",
        types: Sequence[Type] = (),
        groups: "Mapping[str, Sequence[Value | int]] | None" = None,
        attributes: Mapping[str, object] | None = None,
        regions: "Sequence[Region]" = (),
    ) -> "tuple[Value, ...]":
        """Append an operation that gives no or several values, at the current place."""
        return self.builder.operation(
            name,
            operands,
            groups=groups,
            attributes=attributes,
            types=types,
            regions=regions,
            loc=self.loc,
        ).results

    def constant(self, value: float, element: str, shape: tuple[int, ...] = ()) -> "Value":
        """Append a constant: a scalar, or a tile filled with it."""
        if not element.startswith(("i", "u")):
            value = float(value)
        elif element == "i1":
            value = bool(value)
        else:
            value = int(value)
        return self.op("const", type=Type(element, shape), attributes={"value": value})

    def error(self, kind: "type[TileError]", message: str) -> NoReturn:
        """Raise an error that names the current place and the calls that lead there."""
        raise kind(message, self.loc)

    def call(
        self,
        function: object,
        args: Sequence[object] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        """Evaluate a call of a function: of the user's, a closure, a type, or of the language."""
        return self._caller(function, args, kwargs or {})
