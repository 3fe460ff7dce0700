# SPDX-License-Identifier: Apache-2.0
"""Functions of Python as kernels see them: the decorator, and where their source is."""

import ast
import functools
import inspect
import linecache
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar, overload

from cudacore.tile._dataclass import dataclass
from cudacore.tile._exception import Loc, TileSyntaxError
from cudacore.tile._globals import Globals
from cudacore.tile._language_function import host_callers
from cudacore.tile._names import local_names, parameters

_Function = TypeVar("_Function", bound=Callable[..., Any])


@overload
def function(func: _Function, /, *, host: bool = False, tile: bool = True) -> _Function: ...


@overload
def function(
    func: None = None, /, *, host: bool = False, tile: bool = True
) -> Callable[[_Function], _Function]: ...


def function(func: Any = None, /, *, host: bool = False, tile: bool = True) -> Any:
    """Say where a function may be called from.

    Parameters
    ----------
    func : callable, optional
        The function; without it, the decorator is returned.
    host : bool
        Whether the host may call it: by default a call from there is an error.
    tile : bool
        Whether kernels may call it.

    Raises
    ------
    RuntimeError
        When the host calls a function that is for kernels alone.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> @ct.function
    ... def twice(x):
    ...     return x + x
    >>> twice(2)
    Traceback (most recent call last):
        ...
    RuntimeError: Device functions can only be called from device code.
    """

    def decorate(func: Any) -> Any:
        if not tile:
            func._cudacore_host_only = True  # noqa: SLF001 - a mark of this module
        if host or not tile:
            return func

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if host_callers:
                return host_callers[-1](wrapped, args, kwargs)
            raise RuntimeError("Device functions can only be called from device code.")

        wrapped._cudacore_tile_function = wrapped  # type: ignore[attr-defined]  # noqa: SLF001
        return wrapped

    return decorate if func is None else decorate(func)


def static_def(func: _Function, /) -> _Function:
    """Have Python itself run a function when a kernel calls it, as it runs static_eval()."""
    func._cudacore_static = True  # type: ignore[attr-defined]  # noqa: SLF001 - a mark
    return func


def is_static(func: Any) -> bool:
    """Return whether `static_def` decorated a function."""
    return getattr(func, "_cudacore_static", False) is True


def is_host_only(func: Any) -> bool:
    """Return whether kernels must not call a function."""
    return getattr(func, "_cudacore_host_only", False) is True


def unwrapped(func: Any) -> Any:
    """Return the function that `function` decorated."""
    # The mark is the function itself: functools.wraps copies marks to other functions.
    while id(getattr(func, "_cudacore_tile_function", None)) == id(func):
        func = func.__wrapped__
    return func


@dataclass(frozen=True)
class Code:
    """The source of a function, with what it sees around it."""

    name: str
    node: ast.FunctionDef | ast.Lambda
    filename: str
    names: frozenset[str]
    declared: frozenset[str]
    globals: Globals
    signature: inspect.Signature


def _parse(lines: list[str], first_line: int) -> ast.FunctionDef | None:
    """Parse the lines of a function that may be indented.

    Dedenting would be wrong: continuation lines and strings need not be indented.
    """
    tree = ast.parse("if True:\n " + " ".join(lines))
    outer = tree.body[0]
    node = outer.body[0] if isinstance(outer, ast.If) and outer.body else None
    if not isinstance(node, ast.FunctionDef):
        return None
    for each in ast.walk(node):
        if hasattr(each, "lineno"):
            place: Any = each
            # One line and one column are those of the "if True" around it.
            place.lineno += first_line - 2
            place.end_lineno += first_line - 2
            place.col_offset -= 1
            place.end_col_offset -= 1
    return node


@functools.lru_cache(maxsize=1024)
def _source(code: CodeType, filename: str) -> ast.FunctionDef | ast.Lambda | str:
    """Return the syntax tree of a function's code, or what is wrong."""
    first, name = code.co_firstlineno, code.co_name
    linecache.checkcache(filename)
    # From CPython 3.13 on, there is source by this name: what `python -c` was given.
    lines = [] if filename == "<string>" else linecache.getlines(filename)
    if first > len(lines):
        return (
            f"the source of {name}() was not found in {filename}: a kernel, and what it "
            "calls, must be defined in a file or a notebook"
        )
    try:
        if name == "<lambda>":
            node: ast.FunctionDef | ast.Lambda | None = _lambda(code, "".join(lines))
        else:
            node = _parse(inspect.getblock(lines[first - 1 :]), first)
    except SyntaxError as error:
        return f"the source of {name}() in {filename} cannot be parsed: {error.msg}"
    if node is None:
        return f"{name}() in line {first} of {filename} is not defined by a 'def' statement"
    return node


def _lambda(code: CodeType, text: str) -> ast.Lambda | None:
    """Find a lambda by the line and the names of its parameters; None unless there is one."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    found = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and {each.arg for each in parameters(node.args)} == set(code.co_varnames[:count])
    ]
    return found[0] if len(found) == 1 else None


def code_of(func: Any) -> Code:
    """Find the source of a function.

    Raises
    ------
    TileSyntaxError
        It has none that can be found, or shares a line with another lambda like it.
    """
    func = unwrapped(func)
    filename = func.__code__.co_filename
    node = _source(func.__code__, filename)
    if isinstance(node, str):
        line = func.__code__.co_firstlineno
        raise TileSyntaxError(node, Loc(line, 0, filename, function=func.__name__))
    names, declared = local_names(node)
    signature = inspect.signature(func, follow_wrapped=False)
    name = func.__name__
    return Code(
        name,
        node,
        filename,
        frozenset(names),
        frozenset(declared),
        Globals(func),
        signature,
    )
