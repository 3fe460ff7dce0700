# SPDX-License-Identifier: Apache-2.0
"""What a kernel may tell its compiler."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeAlias

from cudacore.tile._by_target import ByTarget

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


@dataclass(frozen=True)
class Hints:
    """The hints of a `kernel`, checked; None leaves the choice to the compiler."""

    num_ctas: Hint = None
    occupancy: Hint = None
    opt_level: Hint = 3
    num_worker_warps: Hint = None

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            for value in given.values() if isinstance(given, ByTarget) else [given]:
                if value is None:
                    continue
                if isinstance(value, bool) or not isinstance(value, int):
                    raise TypeError(
                        f"{field.name} must be an int, a ByTarget or None, not {value!r}"
                    )
                _CHECKS[field.name](value)

    def resolve(self, target: str) -> dict[str, int]:
        """Return the hints for an architecture, such as ``"sm_90"``, without those left open."""
        resolved = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, ByTarget):
                value = value.resolve(target, field.default)
            if value is not None:
                resolved[field.name] = value
        return resolved
