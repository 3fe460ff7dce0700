# SPDX-License-Identifier: Apache-2.0
"""Options that are given as an object, or as a mapping of its fields."""

from __future__ import annotations

from dataclasses import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    import enum
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, ClassVar, TypeVar

    Check = Callable[[Any, str], object]
    Given = TypeVar("Given")
    Member = TypeVar("Member", bound=enum.Enum)


def to_bool(value: object, what: str) -> bool:
    """Return a bool; nothing else stands for one."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be a bool, not {type(value).__name__}")
    return value


def any_of(names: Iterable[str]) -> str:
    """Return what a message says is expected: ``"'a', 'b' or 'c'"``."""
    *most, last = map(repr, names)
    return f"{', '.join(most)} or {last}" if most else last


def to_member(value: object, what: str, kind: type[Member]) -> Member:
    """Return the member of an enumeration of strings that a value is, or names."""
    try:
        return kind(value)
    except ValueError:
        article = "an" if kind.__name__.startswith("A") else "a"
        names = any_of(member.value for member in kind)
        text = f"{what} must be {article} {kind.__name__}, {names}, not {value!r}"
        raise ValueError(text) from None


def optional(check: Check) -> Check:
    """Make a check that lets None pass."""
    return lambda value, what: None if value is None else check(value, what)


class Options:
    """What classes of options derive from, which are dataclasses: it checks a field when it is set.

    A check takes the value, and what messages call it; it returns the value to store. A field of
    type bool needs none.
    """

    _checks: ClassVar[Mapping[str, Check]] = {}

    def __init_subclass__(cls, checks: Mapping[str, Check] | None = None) -> None:
        flags = (name for name, kind in cls.__annotations__.items() if kind == "bool")
        cls._checks = {**cls._checks, **dict.fromkeys(flags, to_bool), **(checks or {})}

    def __setattr__(self, name: str, value: object) -> None:
        """Check a field and set it."""
        check = self._checks.get(name)
        if check is not None:
            value = check(value, f"{type(self).__name__}.{name}")
        elif not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no option {name!r}")
        super().__setattr__(name, value)


def _from_fields(kind: type[Given], given: dict[Any, Any]) -> Given:
    """Make options of a mapping of their fields."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if not isinstance(name, str):
            text = f"the fields of {kind.__name__} are named by str, not {type(name).__name__}"
            raise TypeError(text)
        if name not in known:
            import difflib  # noqa: PLC0415 - takes long

            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{kind.__name__} has no field {name!r}{hint}")
    return kind(**given)


def read_options(kind: type[Given], given: Any, what: str, *, is_required: bool = False) -> Given:
    """Return options that are given as an object, a mapping of its fields, or perhaps None."""
    if given is None and not is_required:
        return kind()
    if isinstance(given, kind):
        return given
    if hasattr(given, "keys"):
        return _from_fields(kind, dict(given))
    forms = " or a mapping of its fields" if is_required else ", a mapping of its fields, or None"
    text = f"{what}: options must be {kind.__name__}{forms}"
    raise TypeError(f"{text}, not {type(given).__name__}")
