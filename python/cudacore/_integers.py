# SPDX-License-Identifier: Apache-2.0
"""How Python code reads the integers that it is given: as the extension does, in the same words."""

from __future__ import annotations

import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsIndex

    from typing_extensions import TypeIs

INT32 = -(2**31), 2**31 - 1
INT64 = -(2**63), 2**63 - 1
UINT64 = 0, 2**64 - 1

_MOST_IN_DIGITS = 0xFFFF
_MOST_BITS = 132  # some 40 digits


def is_int(value: object) -> TypeIs[SupportsIndex]:
    """Tell whether a value is an int or stands for one; a bool doesn't."""
    return hasattr(type(value), "__index__") and not isinstance(value, bool)


def to_int(
    value: object,
    what: str,
    kind: tuple[int, int] = INT64,
    *,
    least: int | None = None,
    most: int | None = None,
) -> int:
    """Return an int that a type can hold, and that lies within narrower bounds if there are any.

    ``what`` begins the messages: ``"Process: pid"``.

    Raises
    ------
    TypeError
        It is not an int.
    OverflowError
        The type can't hold it.
    ValueError
        It exceeds a narrower bound.
    """
    if not is_int(value):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    number = operator.index(value)
    low = kind[0] if least is None else least
    high = kind[1] if most is None else most
    if low <= number <= high:
        return number
    text = f"{what} must lie in {_shown_bound(low)} .. {_shown_bound(high)}, not {_shown(number)}"
    is_of_type = least is None if number < low else most is None
    raise OverflowError(text) if is_of_type else ValueError(text)


def _shown_bound(bound: int) -> str:
    size = bound if bound >= 0 else -bound - 1
    if size <= _MOST_IN_DIGITS or size & (size + 1):
        return str(bound)
    power = f"2**{size.bit_length()}"
    return f"{power} - 1" if bound >= 0 else f"-{power}"


def _shown(number: int) -> str:
    bits = number.bit_length()
    return str(number) if bits <= _MOST_BITS else f"an int of {bits} bits"
