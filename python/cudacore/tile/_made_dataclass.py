# SPDX-License-Identifier: Apache-2.0
"""How dataclasses are made without compiling functions: see ``_dataclass``."""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn


class _Factory:
    """What makes the default of a field."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


_MISSING = object()


def field(*, default_factory: Callable[[], object]) -> Any:
    """Say how the default of a field is made."""
    return _Factory(default_factory)


def replace(thing: Any, /, **changes: object) -> Any:
    """Make an object that differs from another one in some fields."""
    kind = type(thing)
    return kind(**{name: getattr(thing, name) for name in kind.__match_args__} | changes)


def dataclass(
    cls: Any = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
) -> Any:
    """Make a class one of objects with the fields that it annotates itself.

    An ``__init__`` of its own gives the fields their values by ``self.__dict__.update()``, so that
    it can check and change what it is given.
    """
    if cls is None:
        return lambda cls: dataclass(cls, frozen=frozen, slots=slots, eq=eq)
    names = tuple(cls.__annotations__)
    members = {**cls.__dict__, "__match_args__": names}
    defaults = {name: members.pop(name) for name in names if name in members}
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    if slots:
        members["__slots__"] = names
    if frozen:
        members.update(__setattr__=_refuse, __delattr__=_refuse_to_delete)
    if eq and "__eq__" not in members:
        members["__eq__"] = _equal
        members["__hash__"] = _hashed if frozen else None
    members.setdefault("__repr__", _shown)
    made: Any = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    if "__init__" not in members:
        made.__init__ = _initializer(made, defaults, slots=slots)
        if frozen:
            made.__reduce__ = _reduced
    made.held_values = _values(names)
    return made


def _values(names: Sequence[str]) -> Any:
    """Return the property that holds the values of all fields."""
    if len(names) == 1:
        return property(lambda self: (getattr(self, names[0]),))
    return property(attrgetter(*names))


def _initializer(cls: Any, defaults: Mapping[str, object], *, slots: bool) -> Any:
    names = cls.__match_args__
    count = len(names)
    setters = [cls.__dict__[name].__set__ for name in names] if slots else None

    def __init__(self: Any, *args: object, **kwargs: object) -> None:  # noqa: N807 - it becomes one
        if kwargs or len(args) != count:
            args = _complete(cls, defaults, args, kwargs)
        if setters is None:
            self.__dict__.update(zip(names, args, strict=True))
        else:
            for set_, value in zip(setters, args, strict=True):
                set_(self, value)

    return __init__


def _complete(
    cls: Any, defaults: Mapping[str, object], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[object, ...]:
    """Return the values of all fields, in order."""
    names = cls.__match_args__
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or not kwargs.keys() <= set(names[len(args) :]):
        raise TypeError(f"{cls.__name__}() takes {', '.join(names)}, each once")
    values = []
    for name, value in ({**dict.fromkeys(names, _MISSING), **defaults, **given, **kwargs}).items():
        if value is _MISSING:
            raise TypeError(f"{cls.__name__}() misses {name}")
        is_made = type(value) is _Factory
        values.append(value.make() if is_made else value)
    return tuple(values)


def _equal(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return self.held_values == other.held_values


def _hashed(self: Any) -> int:
    return hash(self.held_values)


def _refuse(_: object, name: str, __: object) -> NoReturn:
    raise AttributeError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> NoReturn:
    raise AttributeError(f"cannot delete field {name!r}")


def _reduced(self: Any) -> tuple[Any, tuple[object, ...]]:
    return type(self), self.held_values


def _shown(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({fields})"
