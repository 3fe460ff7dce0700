# SPDX-License-Identifier: Apache-2.0
"""How functions of the language are registered, and how what they refuse becomes an error."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from cudacore.tile import _scope
from cudacore.tile._dtype import MismatchError, RangeError
from cudacore.tile._exception import TileTypeError, TileValueError
from cudacore.tile._operand import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._scope import Scope

Implementation = Callable[..., Any]


def _place(
    public: Callable[..., Any] | str,
    function: Implementation,
    error: ArgumentError,
    args: Any,
    kwargs: Any,
) -> str:
    name = public if isinstance(public, str) else public.__name__
    for place, key in enumerate(_positional(public), 1):
        given = args[place - 1] if place <= len(args) else kwargs.get(key)
        if given is error.argument:
            return f"Invalid argument #{place} of {name}(): "
    names = function.__code__.co_varnames[1:]
    pairs = [*zip(names, args, strict=False), *kwargs.items()]
    for key, value in pairs:
        if value is error.argument:
            return f'Invalid argument "{key}" of {name}(): '
    return ""


def _positional(public: Callable[..., Any] | str) -> list[str]:
    """Return the parameters of a function of the language that can't be named."""
    if isinstance(public, str) or not hasattr(public, "_cudacore_tile_function"):
        return []
    parameters = inspect.signature(public).parameters.values()
    return [each.name for each in parameters if each.kind is each.POSITIONAL_ONLY]


def guard(public: Callable[..., Any] | str, function: Implementation) -> Implementation:
    """Have a function raise the errors of kernels, which name the place.

    Parameters
    ----------
    public : callable or str
        What it implements, or its name in messages.
    function : callable
        It takes a scope first, and may raise ``MismatchError`` and ``RangeError``.
    """

    @functools.wraps(function)
    def guarded(scope: Scope, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(scope, *args, **kwargs)
        except ArgumentError as error:
            where = _place(public, function, error, args, kwargs)
            raise TileTypeError(where + str(error), scope.loc) from None
        except MismatchError as error:
            raise TileTypeError(str(error), scope.loc) from None
        except RangeError as error:
            raise TileValueError(str(error), scope.loc) from None

    return guarded


def implements(*functions: Callable[..., Any]) -> Callable[[Implementation], Implementation]:
    """Register what functions mean in a kernel; what that refuses becomes an error of the kernel.

    Parameters
    ----------
    *functions : callable
        Functions of the language, builtin functions, or those of ``operator``.
    """

    def register(implementation: Implementation) -> Implementation:
        for function in functions:
            _scope.implements(function)(guard(function, implementation))
        return implementation

    return register
