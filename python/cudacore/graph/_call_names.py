# SPDX-License-Identifier: Apache-2.0
"""What Python's messages about wrong calls say was called."""

from __future__ import annotations

import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., object])


def named(name: str) -> Callable[[Function], Function]:
    """Make a decorator that names what a caller sees, not the helper that does it."""

    def name_function(function: Function) -> Function:
        function.__qualname__ = name
        return function

    return name_function


def name_methods(cls: type, base: type) -> None:
    """Give a class methods of its own, which a base that nobody knows defines."""
    for name, method in vars(base).items():
        if isinstance(method, types.FunctionType) and not name.startswith("_"):
            own = types.FunctionType(
                method.__code__,
                method.__globals__,
                name,
                method.__defaults__,
                method.__closure__,
            )
            own.__kwdefaults__ = method.__kwdefaults__
            own.__annotations__ = method.__annotations__
            own.__doc__ = method.__doc__
            own.__module__ = method.__module__
            own.__qualname__ = f"{cls.__name__}.{name}"
            setattr(cls, name, own)
