# SPDX-License-Identifier: Apache-2.0
"""What a recorded function reads besides its arguments."""

from __future__ import annotations

import builtins
import functools
import itertools
import types

from cudacore._core import Buffer
from cudacore.graph._type_watch import mentions_type, names_of
from cudacore.utils import StridedMemoryView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    #: A kind, what holds the object, the name of a variable, and the object, if there is one.
    Guard = tuple[Any, ...]

_VARIABLE, _CELL, _CODE, _LIST, _DICT, _BUFFER = range(6)
#: Of the parts of a guard, if there is an object.
_COMPLETE = 4


def find_guards(function: types.FunctionType, arguments: tuple[object, ...]) -> list[Guard]:
    """List the objects that a function finds in variables around it, and in its defaults.

    Functions and classes of the same module that it uses count as part of it, as do the items of
    lists and dicts, and functions among its arguments. A function under a decorator is of two
    modules. A Buffer must stay open.
    """
    guards: list[Guard] = []
    seen: set[int] = set()
    called = (function, *map(_callee, arguments))
    layers = itertools.chain.from_iterable(map(_layers, called))
    spaces = {id(one.__globals__): one.__globals__.get("__name__", "") for one in layers}
    modules = set(spaces.values())
    waiting: list[tuple[str, Any]] = [
        ("its argument", one) for one in arguments if not isinstance(one, Buffer)
    ]
    waiting.append(("", function))
    while waiting:
        name, found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        # Not isinstance, which asks objects that stand for others.
        kind = type(found)
        waiting += [(name, one) for one in _own_code(found, kind, modules)]
        if kind is types.FunctionType:
            if id(found.__globals__) in spaces:
                waiting += _parts_of_function(found, guards)
        elif issubclass(kind, list):
            items = tuple(list.__iter__(found))
            guards.append((_LIST, found, name, items))
            waiting += [(name, one) for one in items]
        elif issubclass(kind, dict):
            items = tuple(itertools.chain.from_iterable(dict.items(found)))
            guards.append((_DICT, found, name, items))
            waiting += [(name, one) for one in items]
        elif issubclass(kind, tuple):
            waiting += [(name, one) for one in tuple.__iter__(found)]
        elif issubclass(kind, StridedMemoryView):
            waiting.append((name, found.exporting_obj))
        elif issubclass(kind, Buffer) and not found.is_closed:
            guards.append((_BUFFER, found, name))
    return guards


def _callee(found: Any) -> object:
    """Return the function that a partial or a method calls, or the object itself."""
    while type(found) is functools.partial:
        found = found.func
    return found.__func__ if type(found) is types.MethodType else found


def _layers(function: Any) -> list[Any]:
    """List a function, and what it is around, as functools.wraps notes that."""
    layers = [function]
    while (inner := _wrapped(layers[-1])) is not None and all(inner is not one for one in layers):
        layers.append(inner)
    return [one for one in layers if type(one) is types.FunctionType]


def _wrapped(found: object) -> object:
    try:
        return object.__getattribute__(found, "__dict__").get("__wrapped__")
    except AttributeError:
        return None


def _parts_of_function(
    function: types.FunctionType, guards: list[Guard]
) -> Iterator[tuple[str, object]]:
    own = (function.__code__, function.__defaults__, function.__kwdefaults__)
    guards.append((_CODE, function, function.__qualname__, own))
    yield "__kwdefaults__", function.__kwdefaults__
    yield "__defaults__", function.__defaults__
    for guard in _variables(function):
        guards.append(guard)
        if len(guard) == _COMPLETE:
            yield guard[2], guard[3]


def _own_code(found: Any, kind: type, modules: set[str]) -> Iterator[object]:
    """List the functions that an object is around, or that its class has."""
    yield _wrapped(found)
    if kind is functools.partial:
        yield from (found.func, found.args, found.keywords)
    elif kind is types.MethodType:
        yield from (found.__func__, found.__self__)
    for one in (found if issubclass(kind, type) else kind).__mro__:
        if one.__module__ not in modules:
            continue
        for member in vars(one).values():
            if isinstance(member, types.FunctionType):
                yield member
            elif isinstance(member, (staticmethod, classmethod)):
                yield member.__func__
            elif isinstance(member, property):
                yield from (member.fget, member.fset)


def uses_type(guards: list[Guard]) -> bool:
    """Tell whether a function may call type(), which shows what stands for a number."""
    for kind, holder, _, *found in guards:
        if kind == _CODE and mentions_type(holder.__code__, holder.__globals__):
            return True
        if kind == _CELL and found and found[0] is type:
            return True
    return False


def _variables(function: types.FunctionType) -> Iterator[Guard]:
    space = function.__globals__
    for name in dict.fromkeys(names_of(function.__code__)):
        if name in space:
            yield (_VARIABLE, space, name, space[name])
        elif hasattr(builtins, name):
            yield (_VARIABLE, space, name)
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        yield (_CELL, cell, name, *_contents(cell))


def _contents(cell: types.CellType) -> tuple[()] | tuple[object]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # it is empty
        return ()


def require_unchanged(name: str, before: list[Guard], after: list[Guard]) -> None:
    """Refuse a function that changed what it reads, since a replay would not."""
    known = {(kind, id(holder), at): tuple(value) for kind, holder, at, *value in after}
    for kind, holder, at, *value in before:
        now = known.get((kind, id(holder), at))
        is_container = kind in (_LIST, _DICT, _CODE)
        same = now is not None and (
            _are_same(now[0], value[0]) if is_container and now and value else _are_same(now, value)
        )
        if same:
            continue
        msg = (
            f"{name} cannot be recorded: it changes {at!r}, which it finds around it, and a replay "
            "would not; pass what changes as an argument, or change it outside"
        )
        raise RuntimeError(msg)


def _are_same(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(one is other for one, other in zip(a, b, strict=True))
