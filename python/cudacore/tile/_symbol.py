# SPDX-License-Identifier: Apache-2.0
"""What Python sees of a kernel's values while it evaluates a static expression."""

import operator
from collections.abc import Callable
from typing import Any

from cudacore.tile._convert import Symbol, value, value_of
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_attribute import attribute
from cudacore.tile._evaluate_operator import binary, unary
from cudacore.tile._exception import TileStaticEvalError
from cudacore.tile._language_array import Array as LanguageArray
from cudacore.tile._language_tile import Tile as LanguageTile
from cudacore.tile._record import instance
from cudacore.tile._value import Array, BoundMethod, Constant, Function, Record, Slice, Tile


def symbol(evaluator: Evaluator, held: Any) -> Any:
    """Return what Python sees of a value: the value itself if it is known."""
    if isinstance(held, Constant):
        return held.value
    if isinstance(held, tuple):
        return tuple(symbol(evaluator, each) for each in held)
    if isinstance(held, dict):
        return {key: symbol(evaluator, each) for key, each in held.items()}
    if isinstance(held, Record):
        fields = {key: symbol(evaluator, each) for key, each in held.fields.items()}
        return instance(held.type, fields)
    if isinstance(held, Slice):
        return slice(*(symbol(evaluator, each) for each in (held.start, held.stop, held.step)))
    kind = {Tile: TileSymbol, Array: ArraySymbol}.get(type(held), ValueSymbol)
    return kind(evaluator, held)


class ValueSymbol(Symbol):
    """Stands for a value; its attributes are those that it has in the kernel."""

    __slots__ = ("_evaluator",)

    def __init__(self, evaluator: Evaluator, held: object) -> None:
        super().__init__(held)
        self._evaluator = evaluator

    def __getattr__(self, name: str) -> Any:
        """Give an attribute."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = attribute(self._evaluator, value_of(self), name)
        return symbol(self._evaluator, found)

    def __call__(self, *_: object, **__: object) -> Any:
        """Refuse: what belongs in kernels is not called while compiling."""
        held = value_of(self)
        name = "This"
        if isinstance(held, BoundMethod):
            name = f"{held.function.__name__}()"
        elif isinstance(held, Function):
            name = f"{held.name or '<lambda>'}()"
        raise TileStaticEvalError(f"{name} cannot be called inside static_eval().")

    def __repr__(self) -> str:
        return f"<{type(value_of(self)).__name__.lower()}>"


class ArraySymbol(ValueSymbol, LanguageArray):
    """Stands for an array."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        """Give an attribute of the array in the kernel, not one of the class."""
        if name.startswith("_"):
            return object.__getattribute__(self, name)
        return ValueSymbol.__getattr__(self, name)

    def __repr__(self) -> str:
        held: Any = value_of(self)
        extents = ", ".join(
            str(each.value) if isinstance(each, Constant) else "?" for each in held.shape
        )
        return f"<array[{held.dtype.name}, ({extents})]>"


def _unknown(kind: str) -> Callable[["TileSymbol"], Any]:
    def refuse(self: "TileSymbol") -> Any:  # noqa: ARG001 - the signature of the method
        raise ValueError(
            f"Symbolic tile has no concrete value and thus cannot be converted to {kind}"
        )

    return refuse


class TileSymbol(ValueSymbol, LanguageTile):
    """Stands for a tile or a scalar; arithmetic with it makes operations of the kernel."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        """Give an attribute of the tile in the kernel, not one of the class."""
        if name.startswith("_"):
            return object.__getattribute__(self, name)
        return ValueSymbol.__getattr__(self, name)

    __bool__ = _unknown("boolean")
    __int__ = _unknown("an integer")
    __index__ = _unknown("an integer")
    __float__ = _unknown("a float")
    __hash__ = None

    def __repr__(self) -> str:
        held: Any = value_of(self)
        return f"<tile[{held.dtype.name}, {held.shape}]>"


def _binary(function: Any, *, reflected: bool) -> Callable[[TileSymbol, object], Any]:
    def compute(self: TileSymbol, other: object) -> Any:
        evaluator = self._evaluator
        one, two = value(self), value(other)
        pair = (two, one) if reflected else (one, two)
        return symbol(evaluator, binary(evaluator, function, *pair))

    return compute


def _unary(function: Any) -> Callable[[TileSymbol], Any]:
    def compute(self: TileSymbol) -> Any:
        return symbol(self._evaluator, unary(self._evaluator, function, value(self)))

    return compute


_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
for _name in (*_ARITHMETIC, "and", "or", "xor", "lshift", "rshift"):
    _plain = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(TileSymbol, f"__{_name}__", _binary(_plain, reflected=False))
    setattr(TileSymbol, f"__r{_name}__", _binary(_plain, reflected=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(TileSymbol, f"__{_name}__", _binary(getattr(operator, _name), reflected=False))
for _name in ("neg", "pos", "invert"):
    setattr(TileSymbol, f"__{_name}__", _unary(getattr(operator, _name)))
