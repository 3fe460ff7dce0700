# SPDX-License-Identifier: Apache-2.0
"""Options that are given as an object, or as a mapping of its fields."""

from __future__ import annotations

from dataclasses import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Options = TypeVar("Options")


def to_bool(value: object, what: str) -> bool:
    """Return a bool; nothing else stands for one."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be a bool, not {type(value).__name__}")
    return value


def _from_fields(kind: type[Options], given: dict[Any, Any]) -> Options:
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


def read_options(
    kind: type[Options], given: Any, what: str, *, is_required: bool = False
) -> Options:
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
