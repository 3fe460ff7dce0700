# SPDX-License-Identifier: Apache-2.0
"""Signatures read back from the names of compiled kernels."""

from __future__ import annotations

import re
import struct
import sys
from typing import TYPE_CHECKING, Any

from cudacore.tile import _dtype
from cudacore.tile.compilation._calling_convention import CallingConvention
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    ConstantConstraint,
    DataclassConstraint,
    ListConstraint,
    ParameterConstraint,
    ScalarConstraint,
    TupleConstraint,
)
from cudacore.tile.compilation._mangling import AXIS_FACTS, DTYPE_CODES
from cudacore.tile.compilation._signature import KernelSignature

if TYPE_CHECKING:
    import enum
    from collections.abc import Callable, Iterable

    from cudacore.tile._dtype import DType

_DTYPES = {code: dtype for dtype, code in DTYPE_CODES.items()}
_DEEPEST = 64


def demangle_kernel_name(
    symbol: str,
    *,
    dataclasses: Iterable[type] = (),
    enums: Iterable[type[enum.Enum]] = (),
) -> tuple[str, KernelSignature]:
    """Return the function's name and the signature that a compiled kernel's name was made from.

    The names of alias groups are lost; they are ``group0``, ``group1`` and so on.

    Parameters
    ----------
    symbol : str
        The name.
    dataclasses, enums : iterable of type
        The classes that the name may refer to. Nothing else is looked up or imported.

    Raises
    ------
    ValueError
        The name was not made by `mangle_kernel_name`, or refers to another class.

    Examples
    --------
    >>> from cudacore.tile.compilation import demangle_kernel_name
    >>> name, signature = demangle_kernel_name("f_Kt1_I3_B1")
    >>> name, [parameter.value for parameter in signature.parameters]
    ('f', [3, True])
    """
    if not isinstance(symbol, str):
        raise TypeError(f"symbol must be a str, not {type(symbol).__name__}")
    function_name, mark, rest = symbol.rpartition("_K")
    if not mark:
        raise ValueError(f"`{symbol}` is not a mangled kernel name")
    reader = _Reader(symbol, len(symbol) - len(rest), tuple(dataclasses), tuple(enums))
    convention = CallingConvention.from_code(reader.take("[^_]+", "a calling convention"))
    parameters = []
    while not reader.at_end():
        reader.take("_", "an underscore")
        parameters.append(reader.constraint())
    return function_name, KernelSignature(parameters, convention, symbol)


class _Reader:
    """Reads a mangled name from left to right."""

    def __init__(
        self,
        symbol: str,
        position: int,
        dataclasses: tuple[type, ...],
        enums: tuple[type[enum.Enum], ...],
    ) -> None:
        self._symbol = symbol
        self._position = position
        self._dataclasses = dataclasses
        self._enums = enums
        self._groups = 0
        self._depth = 0

    def at_end(self) -> bool:
        return self._position == len(self._symbol)

    def error(self, what: str) -> ValueError:
        near = self._symbol[self._position : self._position + 20]
        return ValueError(
            f"Invalid mangled name '{self._symbol}'. At offset #{self._position}, near '{near}': "
            f"{what}"
        )

    def get(self, pattern: str) -> str | None:
        """Take what matches, if anything does."""
        match = re.compile(pattern).match(self._symbol, self._position)
        if match is None:
            return None
        self._position = match.end()
        return match.group()

    def take(self, pattern: str, what: str) -> str:
        text = self.get(pattern)
        if text is None:
            raise self.error(f"Expected {what}")
        return text

    def constraint(self) -> ParameterConstraint:
        readers: dict[str, Callable[[], ParameterConstraint]] = {
            "A": self._array,
            "L": self._list,
            "T": lambda: TupleConstraint(self._items(self._number())),
            "D": self._dataclass,
            "S": lambda: ScalarConstraint(self._dtype()),
            "B": lambda: ConstantConstraint(self.take("[01]", "0 or 1") == "1"),
            "I": lambda: ConstantConstraint(self._int()),
            "F": lambda: ConstantConstraint(self._float()),
            "Cn_": lambda: ConstantConstraint(None),
            "Cs_": lambda: ConstantConstraint(self._string()),
            "Ce_": self._enum,
            "Cd_": lambda: ConstantConstraint(self._dtype()),
        }
        code = self.take("[A-BD-Z]|C[a-z0-9]+_", "a constraint starting with a capital letter")
        if code not in readers:
            raise self.error(f"Unexpected constraint code '{code}'")
        if self._depth == _DEEPEST:
            raise self.error("Nested too deeply")
        self._depth += 1
        try:
            return readers[code]()
        finally:
            self._depth -= 1

    def _items(self, count: int) -> list[ParameterConstraint]:
        if count > len(self._symbol):
            raise self.error(f"{count} items are more than the name has")
        return [self.constraint() for _ in range(count)]

    def _number(self) -> int:
        return int(self.take("[0-9]{1,9}", "a number"))

    def _int(self) -> int:
        return int(self.take("_?[0-9]{1,4000}", "an integer").replace("_", "-"))

    def _float(self) -> float:
        value: float = struct.unpack(">d", bytes.fromhex(self.take("[0-9a-f]{16}", "16 digits")))[0]
        return value

    def _dtype(self) -> DType:
        code = self.take("[a-z0-9]+?(?=[A-Z_]|$)", "a dtype")
        if code not in _DTYPES:
            raise self.error(f"Unknown dtype name `{code}`")
        return _DTYPES[code]

    def _string(self) -> str:
        characters = []
        while True:
            characters.append(self.get("[a-zA-JL-Z0-9]+") or "")
            escape = self.take(
                "_(?:[_kz]|[0-9a-f]{2}|u[0-9a-f]{4}|w[0-9a-f]{8})", "an escaped character"
            )[1:]
            if escape == "z":
                return "".join(characters)
            if escape in {"_", "k"}:
                characters.append(escape.upper())
            else:
                code = int(escape.lstrip("uw"), 16)
                if code > sys.maxunicode:
                    raise self.error("No such character")
                characters.append(chr(code))

    def _class(self, allowed: tuple[type, ...], what: str) -> type:
        module, name = self._string(), self._string()
        for cls in allowed:
            if (cls.__module__, cls.__qualname__) == (module, name):
                return cls
        raise ValueError(
            f"Global '{module}.{name}' not found in the '{what}' list; refusing to demangle the "
            "name."
        )

    def _dataclass(self) -> DataclassConstraint:
        cls = self._class(self._dataclasses, "allowed_dataclasses")
        return DataclassConstraint(cls, self._items(self._number()))

    def _enum(self) -> ConstantConstraint:
        cls: Any = self._class(self._enums, "allowed_enums")
        name = self._string()
        if name not in cls.__members__:
            raise self.error(f"{cls.__qualname__} has no member {name!r}")
        return ConstantConstraint(cls.__members__[name])

    def _list(self) -> ListConstraint:
        groups = self._alias_groups()
        may_alias = self.get("i") is not None
        element = self.constraint()
        if not isinstance(element, ArrayConstraint):
            raise self.error("Expected an ArrayConstraint")
        return ListConstraint(element, alias_groups=groups, elements_may_alias=may_alias)

    def _array(self) -> ArrayConstraint:
        ndim = self._number()
        if ndim > len(self._symbol):
            raise self.error(f"{ndim} dimensions are too many")
        dtype = self._dtype()
        facts: dict[str, Any] = {field: [none] * ndim for _, field, none in AXIS_FACTS}
        while mask_text := self.get("_[0-9a-f]+(?=[sitvl])"):
            self._axis_facts(int(mask_text[1:], 16), facts, ndim)
        extras: dict[str, Any] = {"alias_groups": [], "may_alias_internally": False}
        index_dtype = _dtype.int32
        if self.get("_(?=[pgiuw])"):
            if self.get("p"):
                extras["base_addr_divisible_by"] = self._int()
            extras["alias_groups"] = self._alias_groups()
            extras["may_alias_internally"] = self.get("i") is not None
            if letter := self.get("[uw]"):
                index_dtype = _dtype.uint32 if letter == "u" else _dtype.int64
        return ArrayConstraint(dtype, ndim, index_dtype=index_dtype, **(facts | extras))

    def _axis_facts(self, mask: int, facts: dict[str, Any], ndim: int) -> None:
        if not 0 < mask < 1 << ndim:
            raise self.error(f"Axis mask {mask:x} doesn't fit an array of {ndim} dimensions")
        for letter, field, nothing in AXIS_FACTS:
            if not self.get(letter):
                continue
            value = self._int()
            for axis in range(ndim):
                if mask >> axis & 1:
                    if facts[field][axis] != nothing:
                        raise self.error(f"{field} is given more than once for axis #{axis}")
                    facts[field][axis] = value

    def _alias_groups(self) -> list[str]:
        numbers: list[int] = []
        while self.get("g"):
            number = int(self.take("0|[1-9a-f][0-9a-f]{0,8}", "the number of an alias group"), 16)
            if number > self._groups or (numbers and number <= numbers[-1]):
                raise self.error("Invalid alias group ID")
            self._groups = max(self._groups, number + 1)
            numbers.append(number)
        return [f"group{number}" for number in numbers]
