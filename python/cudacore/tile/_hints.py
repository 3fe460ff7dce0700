# SPDX-License-Identifier: Apache-2.0
"""What a kernel may tell its compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from cudacore.tile._by_target import ByTarget
from cudacore.tile._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

Hint: TypeAlias = "int | ByTarget[int] | ByTarget[int | None] | None"


_MOST_CTAS = 16
_MOST_BLOCKS = 32
_HIGHEST_LEVEL = 3


def _check_ctas(value: int) -> None:
    if not 1 <= value <= _MOST_CTAS:
        raise ValueError(f"num_ctas should be [1, {_MOST_CTAS}], got {value}")
    if value & (value - 1):
        raise ValueError(f"num_ctas should be power of 2, got {value}")


def _check_occupancy(value: int) -> None:
    if not 1 <= value <= _MOST_BLOCKS:
        raise ValueError(f"occupancy should be [1, {_MOST_BLOCKS}], got {value}")


def _check_opt_level(value: int) -> None:
    if not 0 <= value <= _HIGHEST_LEVEL:
        raise ValueError(f"opt_level should be [0, {_HIGHEST_LEVEL}], got {value}")


def _check_worker_warps(value: int) -> None:
    if value not in {4, 8}:
        raise ValueError(f"num_worker_warps should be either 4 or 8, got {value}")


_CHECKS: dict[str, Callable[[int], None]] = {
    "num_ctas": _check_ctas,
    "occupancy": _check_occupancy,
    "opt_level": _check_opt_level,
    "num_worker_warps": _check_worker_warps,
}


#: Each hint, with what it is if it isn't given.
_DEFAULTS: dict[str, int | None] = {
    "num_ctas": None,
    "occupancy": None,
    "opt_level": 3,
    "num_worker_warps": None,
}


@dataclass(frozen=True)
class Hints:
    """The hints of a `kernel`, checked; None leaves the choice to the compiler."""

    num_ctas: Hint
    occupancy: Hint
    opt_level: Hint
    num_worker_warps: Hint

    def __init__(self, **given: Any) -> None:
        unknown = given.keys() - _DEFAULTS.keys()
        if unknown:
            name = min(unknown)
            advice = "; did you mean 'num_worker_warps'?" if name == "num_warps" else ""
            raise TypeError(f"kernel() got an unexpected keyword argument {name!r}{advice}")
        hints = {**_DEFAULTS, **given}
        for name, hint in hints.items():
            _check(name, hint)
        self.__dict__.update(**hints)

    def given(self) -> dict[str, Any]:
        """Return all hints by name, as `kernel` takes them."""
        return {name: self.__dict__[name] for name in _DEFAULTS}

    def resolve(self, target: str) -> dict[str, int]:
        """Return the hints for an architecture, such as ``"sm_90"``, without those left open."""
        resolved = {}
        for name, value in self.given().items():
            if isinstance(value, ByTarget):
                value = value.resolve(target, _DEFAULTS[name])  # noqa: PLW2901 - what it means
            if value is not None:
                resolved[name] = value
        return resolved


def _check(name: str, given: Any) -> None:
    for value in given.values() if isinstance(given, ByTarget) else [given]:
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, a ByTarget or None, not {value!r}")
        _CHECKS[name](value)
