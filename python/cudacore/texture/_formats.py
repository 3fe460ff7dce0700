# SPDX-License-Identifier: Apache-2.0
"""The elements of arrays and textures, as their options give them."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from cudacore._integers import to_int
from cudacore.typing import ArrayFormatType

if TYPE_CHECKING:
    import enum
    from typing import TypeVar

    Member = TypeVar("Member", bound=enum.Enum)

#: Bytes of a channel.
_SIZES = {
    ArrayFormatType.UINT8: 1,
    ArrayFormatType.UINT16: 2,
    ArrayFormatType.UINT32: 4,
    ArrayFormatType.INT8: 1,
    ArrayFormatType.INT16: 2,
    ArrayFormatType.INT32: 4,
    ArrayFormatType.FLOAT16: 2,
    ArrayFormatType.FLOAT32: 4,
}


#: As dtypes and array interfaces name them, without a byte order.
_CODES = {("f" if "float" in form else form[0]) + str(size): form for form, size in _SIZES.items()}


def to_member(name: str, value: object, kind: type[Member]) -> Member:
    """Return the member of an enumeration of strings that a value is, or names."""
    try:
        return kind(value)
    except ValueError:
        valid = ", ".join(repr(member.value) for member in kind)
        article = "an" if kind.__name__.startswith("A") else "a"
        raise ValueError(
            f"{name} must be {article} {kind.__name__} or one of {{{valid}}}, got {value!r}"
        ) from None


def index_of(member: enum.Enum) -> int:
    """Return the number of a member, which the extension module knows it by."""
    return list(type(member)).index(member)


def to_format(given: Any) -> ArrayFormatType:
    """Return the format that an ArrayFormatType, its name, or a dtype means."""
    if type(given).__module__ == "torch":
        given = str(given).removeprefix("torch.")
    if isinstance(given, str):
        return _CODES.get(given.lstrip("<=|")) or to_member("format", given, ArrayFormatType)
    numpy = sys.modules.get("numpy")  # whoever has a dtype has imported it
    dtype = None
    if numpy is not None and not isinstance(given, int):
        with contextlib.suppress(TypeError):
            dtype = numpy.dtype(given)
    if numpy is None or dtype is None:
        raise ValueError(f"format must be an ArrayFormatType, str, or NumPy dtype, got {given!r}")
    for member in ArrayFormatType:
        if dtype == numpy.dtype(member.value):
            return member
    valid = ", ".join(repr(member.value) for member in ArrayFormatType)
    raise ValueError(
        f"NumPy dtype {dtype!r} has no ArrayFormatType equivalent; supported formats: {{{valid}}}"
    )


def to_channels(given: object) -> int:
    """Return a number of channels, which is 1, 2 or 4."""
    channels = to_int(given, "num_channels")
    if channels not in {1, 2, 4}:
        raise ValueError(f"num_channels must be 1, 2, or 4, got {given!r}")
    return channels


def element_bytes(form: ArrayFormatType, channels: int) -> int:
    """Return the size of an element with all its channels."""
    return _SIZES[form] * channels
