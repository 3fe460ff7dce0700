# SPDX-License-Identifier: Apache-2.0
"""Evaluates functions of the tile language without an evaluator, for tests."""

import inspect
import operator
from typing import Any

from cudacore.tile import _dtype, _operations  # noqa: F401 - it registers what functions mean
from cudacore.tile._exception import Loc
from cudacore.tile._operand import lift
from cudacore.tile._scope import IMPLEMENTATIONS, Scope
from cudacore.tile._text import Builder, Type
from cudacore.tile._value import Array, BoundMethod, Constant, Tile


class Kernel:
    """A kernel in the making: parameters, calls of functions of the language, and the text."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.scope = Scope(self.builder, Loc(7, 4, "kernel.py"), self._call)

    def _call(self, function: Any, args: Any, kwargs: Any) -> Any:
        python = function.value if isinstance(function, Constant) else function
        if python is str:
            return Constant(str(args[0].value))
        return python(*args, **kwargs)

    def tile(self, dtype: Any, shape: tuple[int, ...] = ()) -> Tile:
        """Give a tile from nowhere; a parameter stands for it."""
        return Tile(self.builder.parameter(Type(dtype.element, shape)), dtype)

    def array(
        self,
        dtype: Any,
        rank: int,
        *,
        index: Any = _dtype.int32,
        shape: tuple[int, ...] | None = None,
    ) -> Array:
        """Give an array whose last stride is 1."""
        pointer = self.builder.parameter(Type(dtype.element, is_pointer=True))
        extents = tuple(
            self.tile(index) if shape is None else Constant(shape[i], index) for i in range(rank)
        )
        strides = tuple(self.tile(index) for _ in range(rank - 1))
        last = (Constant(1, index),) if rank else ()
        return Array(pointer, dtype, extents, (*strides, *last), index)

    def __call__(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Evaluate a call of a function of the language."""
        implementation = IMPLEMENTATIONS[function]
        unwrapped = getattr(function, "__wrapped__", function)
        if unwrapped is function and function.__module__ != "cudacore.tile._language_arithmetic":
            return implementation(self.scope, *map(self._value, args), **kwargs)
        bound = inspect.signature(unwrapped).bind(*args, **kwargs)
        bound.apply_defaults()
        values = [self._value(each) for each in bound.args]
        named = {key: self._value(each) for key, each in bound.kwargs.items()}
        return implementation(self.scope, *values, **named)

    def _value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._value, value))
        if isinstance(value, _dtype.DType) or value is Ellipsis:
            return Constant(value)
        return lift(value)

    def method(self, value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """Evaluate a call of a method."""
        bound = IMPLEMENTATIONS[getattr](self.scope, value, Constant(name))
        assert isinstance(bound, BoundMethod)
        return self(bound.function, bound.bound, *args, **kwargs)

    def attribute(self, value: Any, name: str) -> Any:
        """Evaluate an attribute."""
        return IMPLEMENTATIONS[getattr](self.scope, value, Constant(name))

    def item(self, value: Any, key: Any) -> Any:
        """Evaluate a subscript."""
        return IMPLEMENTATIONS[operator.getitem](self.scope, value, self._value(key))

    @property
    def lines(self) -> list[str]:
        """The operations so far, one a line, without places."""
        text = self.builder.text("kernel")
        lines = [line.strip().rpartition(" @0:")[0] or line.strip() for line in text.splitlines()]
        first = next(i for i, line in enumerate(lines) if line.startswith("kernel"))
        return [line for line in lines[first + 1 : -1] if not line.startswith("param")]
