# SPDX-License-Identifier: Apache-2.0
"""How functions of the language are registered, and how what they refuse becomes an error."""

from __future__ import annotations

import functools
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
    name: str, function: Implementation, error: ArgumentError, args: Any, kwargs: Any
) -> str:
    names = function.__code__.co_varnames[1:]
    pairs = [*zip(names, args, strict=False), *kwargs.items()]
    for key, value in pairs:
        if value is error.argument:
            return f'Invalid argument "{key}" of {name}(): '
    return ""


def guard(name: str, function: Implementation) -> Implementation:
    """Have a function raise the errors of kernels, which name the place.

    Parameters
    ----------
    name : str
        Its name in messages.
    function : callable
        It takes a scope first, and may raise ``MismatchError`` and ``RangeError``.
    """

    @functools.wraps(function)
    def guarded(scope: Scope, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(scope, *args, **kwargs)
        except ArgumentError as error:
            where = _place(name, function, error, args, kwargs)
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
            _scope.implements(function)(guard(function.__name__, implementation))
        return implementation

    return register
