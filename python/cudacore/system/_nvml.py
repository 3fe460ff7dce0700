# SPDX-License-Identifier: Apache-2.0
"""Calls of NVML, and its numbers for the members of enumerations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from cudacore import _core
from cudacore._integers import to_int

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cudacore.typing import _StrEnum

    Member = TypeVar("Member", bound=_StrEnum)

ENABLED = 1


def ask(function: str, *arguments: int | str) -> Any:
    """Call a function of NVML and return its answer: a value, or a tuple."""
    return _core.nvml(function, *arguments)


def number(function: str, *arguments: int | str) -> int:
    """Call a function whose answer is a number."""
    return int(_core.nvml(function, *arguments))


def text(function: str, *arguments: int | str) -> str:
    """Call a function whose answer is a text."""
    return str(_core.nvml(function, *arguments))


def is_enabled(function: str, *arguments: int | str) -> bool:
    """Call a function whose answer is on or off."""
    return number(function, *arguments) == ENABLED


def code_of(codes: Mapping[Member, int], value: Member | str, what: str) -> int:
    """Return NVML's number for a member of an enumeration, or for its string."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a {type(value).__name__}: give a str")
    for member, code in codes.items():
        if member == value:
            return code
    raise ValueError(f"{what} {str(value)!r} is none of {', '.join(map(repr, map(str, codes)))}")


def member_of(codes: Mapping[Member, int], code: int, otherwise: Member) -> Member:
    """Return the member of an enumeration that NVML's number stands for."""
    return next((member for member, each in codes.items() if each == code), otherwise)


def members_of(codes: Mapping[Member, int], bits: int) -> list[Member]:
    """Return the members whose bits are set; those that a newer driver adds are left out."""
    return [member for member, bit in codes.items() if bits & bit]


def bits_of(codes: Mapping[Member, int], values: Iterable[Member | str] | str, what: str) -> int:
    """Return the bits of some members, or of one."""
    bits = 0
    for value in [values] if isinstance(values, str) else list(values):
        bits |= code_of(codes, value, what)
    return bits


def places_of(words: Iterable[int]) -> list[int]:
    """Return the places of the bits that are set in a row of 64-bit words."""
    return [
        64 * index + bit for index, word in enumerate(words) for bit in range(64) if word >> bit & 1
    ]


def small(value: object, what: str, end: int) -> int:
    """Return an int from 0 up to, but not including, an end."""
    return to_int(value, what, least=0, most=end - 1)
