# SPDX-License-Identifier: Apache-2.0
"""Who accesses managed memory, as a set that is the driver's."""

from collections.abc import Iterable, Iterator, MutableSet
from typing import Any

from cudacore._core import Device, Host, ManagedBuffer


def _read(buffer: ManagedBuffer) -> list[Device | Host]:
    return buffer._accessed_by()  # noqa: SLF001


def _advise(buffer: ManagedBuffer, location: Device | Host, on: bool) -> None:
    buffer._set_accessed_by(location, on)  # noqa: SLF001


class AccessedBySetProxy(MutableSet[Device | Host]):
    """The devices, and maybe the host, for which the pages of a buffer stay mapped.

    Nothing is kept here: each use asks the driver, or tells it.
    """

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ManagedBuffer) -> None:
        self._buffer = buffer

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        """Make what ``&``, ``|`` and the like return: a plain set."""
        return set(it)

    def __contains__(self, location: object) -> bool:
        return location in _read(self._buffer)

    def __iter__(self) -> Iterator[Device | Host]:
        return iter(_read(self._buffer))

    def __len__(self) -> int:
        return len(_read(self._buffer))

    def add(self, value: Device | Host) -> None:
        """Keep the pages mapped for a device, or for the host (``cuMemAdvise``)."""
        _advise(self._buffer, value, True)

    def discard(self, value: Device | Host) -> None:
        """Stop that, if it was so. Like any set, it takes objects that it can't hold."""
        if value in self:
            _advise(self._buffer, value, False)

    def __repr__(self) -> str:
        return f"AccessedBySetProxy({set(self)!r})"


def assign(buffer: ManagedBuffer, locations: Iterable[Device | Host]) -> None:
    """Make a set the one of a buffer; checks all of it before anything changes."""
    wanted = list(locations)
    for location in wanted:
        if not isinstance(location, (Device, Host)):
            raise TypeError(
                "ManagedBuffer.accessed_by must be a set of Devices and Hosts, but has a "
                f"{type(location).__name__}"
            )
        if isinstance(location, Host) and location is not Host():
            raise ValueError(f"ManagedBuffer.accessed_by takes Host(), not {location!r}")
    now = _read(buffer)
    for location in now:
        if location not in wanted:
            _advise(buffer, location, False)
    for location in wanted:
        if location not in now:
            _advise(buffer, location, True)
