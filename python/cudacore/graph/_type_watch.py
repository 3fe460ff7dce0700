# SPDX-License-Identifier: Apache-2.0
"""Whether code asks for the type of a number, which shows what stands for it in a recording."""

from __future__ import annotations

import builtins
import sys
import types

from cudacore.graph._recorded_number import is_number_stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_OWN_CODE = __file__.removesuffix("graph/_type_watch.py")


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
        self._mentions: dict[types.CodeType, bool] = {}

    @staticmethod
    def is_possible() -> bool:
        """Tell whether no profiler is in the way that Python code can't call."""
        before = sys.getprofile()
        return before is None or callable(before)

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        self._hook = self._look  # the same object until the end
        sys.setprofile(self._hook)

    def __exit__(self, *_: object) -> None:
        if sys.getprofile() is self._hook:
            sys.setprofile(self._before)
        self._hook = self._before = None

    def _look(self, frame: types.FrameType, event: str, arg: object) -> None:
        if self._before is not None:
            self._before(frame, event, arg)
        # At the end, too: it may have found the number elsewhere than among its arguments.
        if self.has_noticed or event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_filename.startswith(_OWN_CODE):
            return
        mentions = self._mentions.get(code)
        if mentions is None:
            mentions = self._mentions[code] = mentions_type(code, frame.f_globals)
        values = list(frame.f_locals.values())
        if mentions or any(one is type for one in values):
            self.has_noticed = any(_has_stand_in(one, 3) for one in values)


def _has_stand_in(found: object, depth: int) -> bool:
    """Look into containers and objects, but run no code of theirs."""
    kind = type(found)
    if is_number_stand_in(found):
        return True
    if depth == 0:
        return False
    parts: list[Any] = []
    if issubclass(kind, tuple):
        parts = list(tuple.__iter__(found))  # type: ignore[arg-type]
    elif issubclass(kind, list):
        parts = list(list.__iter__(found))  # type: ignore[arg-type]
    elif issubclass(kind, dict):
        parts = list(dict.values(found))  # type: ignore[arg-type]
    elif not issubclass(kind, (type, types.ModuleType, types.FunctionType)):
        try:
            parts = list(dict.values(object.__getattribute__(found, "__dict__")))
        except (AttributeError, TypeError):
            return False
    return any(_has_stand_in(one, depth - 1) for one in parts)
