# SPDX-License-Identifier: Apache-2.0
"""How functions of the language are registered, and how what they refuse becomes an error."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from cudacore.tile._dtype import MismatchError, RangeError
from cudacore.tile._exception import TileTypeError, TileValueError
from cudacore.tile._operand import ArgumentError
from cudacore.tile._scope import IMPLEMENTATIONS

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
    """Say that a function tells what others mean in a kernel.

    It is called with the scope and with all arguments of the other function, bound by that one's
    signature: positional ones by position, the rest by name, defaults as constants. What it refuses
    becomes an error of the kernel.

    The operators of Python are looked up by the functions of `operator`: `add` for ``a + b``,
    `getitem` for ``a[b]``, `matmul`, `neg`, `lt`, ...; and ``x.name`` by `getattr`. Where all
    operands are loosely typed constants, Python itself has computed the result before that.

    Parameters
    ----------
    *functions : callable
        Functions of the language, builtin functions, or those of ``operator``.
    """

    def register(implementation: Implementation) -> Implementation:
        for function in functions:
            IMPLEMENTATIONS[function] = guard(function, implementation)
        return implementation

    return register
