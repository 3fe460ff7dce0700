# SPDX-License-Identifier: Apache-2.0
"""Whether code asks for the type of a number, which shows what stands for it in a recording."""

from __future__ import annotations

import builtins
import collections
import contextlib
import itertools
import sys
import types

from cudacore._core import _set_profiler
from cudacore.graph._recorded_number import is_number_stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_OWN_CODE = __file__.removesuffix("graph/_type_watch.py")

#: How many values are looked at in a recording. Who has more is taken to ask.
_MOST_VALUES = 10_000

#: Kinds of containers, and what lists their values without code of theirs.
_CONTAINERS: tuple[tuple[type, Any], ...] = (
    (tuple, tuple.__iter__),
    (list, list.__iter__),
    (dict, lambda found: iter(dict.values(found))),
    (set, set.__iter__),
    (frozenset, frozenset.__iter__),
    (collections.deque, collections.deque.__iter__),
    *((type(view), iter) for view in ({}.keys(), {}.values(), {}.items())),  # type: ignore[var-annotated]
)

#: What can't be looked into without changing it.
_ITERATORS: tuple[type, ...] = (
    type(iter(())),
    type(iter([])),
    type(iter({})),
    type(iter({}.values())),
    type(iter({}.items())),
    type(iter(set())),
    enumerate,
    filter,
    map,
    reversed,
    zip,
)


def mentions_type(code: types.CodeType, space: dict[str, Any]) -> bool:
    """Tell whether a name that code of a module uses is the builtin type(), also by another name.

    An attribute counts if it may be a module's.
    """
    names = tuple(dict.fromkeys(names_of(code)))
    found = [space.get(name, vars(builtins).get(name)) for name in names]
    modules = [vars(one) for one in found if type(one) is types.ModuleType]
    return any(one is type for one in found) or any(
        module.get(name) is type for module in modules for name in names
    )


def names_of(code: types.CodeType) -> Iterator[str]:
    """List the global variables and attributes that code uses, with the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


class TypeWatch:
    """Looks at every Python function that the thread runs, whichever module it is from.

    One that has what stands for a number, and mentions type(), is taken to ask.
    """

    def __init__(self) -> None:
        self.has_noticed = False
        self._hook: Any = None
        self._before: Any = None
        self._left = _MOST_VALUES
        # With what keeps their identities theirs: equal code may be of two modules.
        self._mentions: dict[tuple[int, int], tuple[bool, types.CodeType, dict[str, Any]]] = {}

    @staticmethod
    def is_possible() -> bool:
        """Tell whether no profiler is in the way that Python code can't call."""
        before = sys.getprofile()
        return before is None or callable(before)

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        self._hook = self._look  # the same object until the end
        _set_profiler(self._hook)

    def __exit__(self, *_: object) -> None:
        if sys.getprofile() is self._hook:
            sys.setprofile(self._before)
        else:  # somebody took it away, so it has not seen everything
            self.has_noticed = True
        self._hook = self._before = None

    def _look(self, frame: types.FrameType, event: str, arg: object) -> None:
        if self._before is not None:
            self._before(frame, event, arg)
        # At the end, too: it may have found the number elsewhere than among its arguments.
        if self.has_noticed or event not in ("call", "return"):
            return
        # A kernel's code depends on the type of a number, which is known, and never on the value.
        tiles = sys.modules.get("cudacore.tile._kernel")
        if tiles is not None and tiles.is_compiling():
            return
        if not frame.f_code.co_filename.startswith(_OWN_CODE):
            try:
                self.has_noticed = self._asks(frame)
            except Exception:  # noqa: BLE001 - must not reach the function, which is none of its
                self.has_noticed = True

    def _asks(self, frame: types.FrameType) -> bool:
        code, space = frame.f_code, frame.f_globals
        known = self._mentions.get((id(code), id(space)))
        if known is None:
            known = mentions_type(code, space), code, space
            self._mentions[id(code), id(space)] = known
        values = list(frame.f_locals.values())
        return (known[0] or any(one is type for one in values)) and any(
            self._has_stand_in(one, 3) for one in values
        )

    def _has_stand_in(self, found: object, depth: int) -> bool:
        """Look into containers and objects, but run no code of theirs."""
        self._left -= 1
        if self._left < 0 or is_number_stand_in(found) or issubclass(type(found), _ITERATORS):
            return True
        if depth == 0:
            return False
        return any(self._has_stand_in(one, depth - 1) for one in _parts_of(found, self._left))


def _parts_of(found: Any, most: int) -> Iterator[object]:
    """List what a container or an object holds: a little more than the most, if it has more."""
    kind = type(found)
    items: Any = None
    for base, items_of in _CONTAINERS:
        if issubclass(kind, base):
            items = items_of(found)
            break
    if items is None and not issubclass(kind, (type, types.ModuleType, types.FunctionType)):
        items = _attributes_of(found)
    return itertools.islice(items or (), most + 1)


def _attributes_of(found: object) -> Iterator[object]:
    for base in type(found).__mro__:
        for field in tuple(vars(base).values()):
            if type(field) is types.MemberDescriptorType:
                with contextlib.suppress(AttributeError):  # not assigned yet
                    yield field.__get__(found)
        own = vars(base).get("__dict__")
        if type(own) is types.GetSetDescriptorType:
            yield from list(own.__get__(found).values())
