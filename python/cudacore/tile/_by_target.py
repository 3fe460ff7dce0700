# SPDX-License-Identifier: Apache-2.0
"""Values that depend on the GPU architecture."""

from __future__ import annotations

import re
from typing import Generic, TypeVar

from cudacore._public import public

T = TypeVar("T")

_ARCHITECTURE = re.compile(r"sm_[0-9]+")


class _Unspecified:
    def __repr__(self) -> str:
        return "UNSPECIFIED"


_UNSPECIFIED = _Unspecified()


@public("cudacore.tile")
class ByTarget(Generic[T]):
    """A value for each GPU architecture, for the hints of a `kernel`.

    Parameters
    ----------
    default : object, optional
        The value for all architectures that aren't named. Without it, they get the hint's default.
    **value_by_target : object
        The values, by architecture: ``sm_80=2, sm_90=4``.

    Raises
    ------
    ValueError
        A keyword is not the name of an architecture.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> ct.ByTarget(sm_90=4, default=2)
    ByTarget(sm_90=4, default=2)
    """

    def __init__(self, *, default: T | _Unspecified = _UNSPECIFIED, **value_by_target: T) -> None:
        for name in value_by_target:
            if _ARCHITECTURE.fullmatch(name) is None:
                raise ValueError(
                    f"Invalid GPU architecture name: {name}, expected sm_<major><minor>"
                )
        self._default = default
        self._by_target = value_by_target

    def values(self) -> list[T]:
        """Every value that some architecture gets.

        Examples
        --------
        >>> import cudacore.tile as ct
        >>> ct.ByTarget(sm_90=4, default=2).values()
        [4, 2]
        """
        values = list(self._by_target.values())
        return values if isinstance(self._default, _Unspecified) else [*values, self._default]

    def resolve(self, target: str, fallback: T) -> T:
        """Return the value for an architecture, such as ``"sm_90"``.

        Examples
        --------
        >>> import cudacore.tile as ct
        >>> ct.ByTarget(sm_90=4).resolve("sm_80", 1)
        1
        """
        if target in self._by_target:
            return self._by_target[target]
        return fallback if isinstance(self._default, _Unspecified) else self._default

    def __repr__(self) -> str:
        entries = [f"{name}={value!r}" for name, value in self._by_target.items()]
        if not isinstance(self._default, _Unspecified):
            entries.append(f"default={self._default!r}")
        return f"ByTarget({', '.join(entries)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByTarget):
            return NotImplemented
        return self._default == other._default and self._by_target == other._by_target

    def __hash__(self) -> int:
        return hash(frozenset(self._by_target))
