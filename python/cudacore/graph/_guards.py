# SPDX-License-Identifier: Apache-2.0
"""What a recorded function reads besides its arguments."""

from __future__ import annotations

import builtins
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    #: A kind, what holds the object, the name of a variable, and the object, if there is one.
    Guard = tuple[Any, ...]

_VARIABLE, _CELL, _CODE, _LIST, _DICT = range(5)
#: Of the parts of a guard, if there is an object.
_COMPLETE = 4


def find_guards(function: types.FunctionType) -> list[Guard]:
    """List the objects that a function finds in variables around it, and in its defaults.

    Functions of the same module that it calls count as part of it, as do the items of lists and
    dicts.
    """
    guards: list[Guard] = []
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        own = (one.__code__, one.__defaults__, one.__kwdefaults__)
        guards.append((_CODE, one, one.__qualname__, own))
        for guard in _variables(one):
            guards.append(guard)
            *_, name, found = guard if len(guard) == _COMPLETE else (*guard, None)
            if id(found) in seen:
                continue
            value = getattr(found, "__wrapped__", found)
            if isinstance(value, types.FunctionType) and value.__globals__ is one.__globals__:
                waiting.append(value)
            elif type(value) is list:
                seen.add(id(value))
                guards.append((_LIST, value, name, tuple(value)))
            elif type(value) is dict:
                seen.add(id(value))
                items = tuple(part for item in value.items() for part in item)
                guards.append((_DICT, value, name, items))
    return guards


def _variables(function: types.FunctionType) -> Iterator[Guard]:
    space = function.__globals__
    for name in dict.fromkeys(_names(function.__code__)):
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


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


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
