# SPDX-License-Identifier: Apache-2.0
"""Objects that don't change and compare by their fields.

The modules that each launch needs use this instead of ``dataclasses``, which takes milliseconds to
import, and one for each class that it makes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, NoReturn


class Frozen:
    """An object with the fields that its class names, which `set_fields` gives their values."""

    FIELDS: ClassVar[tuple[str, ...]] = ()

    def set_fields(self, **values: object) -> None:
        """Give the fields their values, in ``__init__``."""
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: the object doesn't change."""
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: the object doesn't change."""
        raise AttributeError(f"cannot delete field {name!r}")

    def values(self) -> tuple[object, ...]:
        """Return the values of the fields, in order."""
        return tuple(self.__dict__[name] for name in self.FIELDS)

    def __eq__(self, other: object) -> bool:
        """Compare all fields with those of an object of the same class."""
        if type(other) is not type(self):
            return NotImplemented
        return self.values() == other.values()

    def __hash__(self) -> int:
        """Hash all fields."""
        return hash(self.values())

    def __repr__(self) -> str:
        """Give the call that makes it."""
        fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.FIELDS)
        return f"{type(self).__qualname__}({fields})"
