# SPDX-License-Identifier: Apache-2.0
"""The devices that may access the memory of a pool."""

from __future__ import annotations

from collections.abc import MutableSet
from operator import index

from cudacore._core import Device, DeviceMemoryResource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from typing_extensions import Self


def _ordinal(device: object) -> int | None:
    """Return which device something stands for; None if it stands for none."""
    if isinstance(device, Device):
        return device.device_id
    if isinstance(device, bool):
        return None
    try:
        return index(device)  # type: ignore[arg-type]
    except TypeError:
        return None


def _ordinals(devices: Iterable[object]) -> set[int]:
    if isinstance(devices, (Device, int, str, bytes)):
        message = (
            "DeviceMemoryResource.peer_accessible_by: give a sequence of devices, not "
            f"{type(devices).__name__}"
        )
        raise TypeError(message)
    found = set()
    for device in devices:
        ordinal = _ordinal(device)
        if ordinal is None:
            message = (
                "DeviceMemoryResource.peer_accessible_by: a Device or an int stands for a device, "
                f"not {type(device).__name__}"
            )
            raise TypeError(message)
        found.add(ordinal)
    return found


class Peers(MutableSet["Device | int"]):
    """A live view of the devices that may access the memory of a pool.

    It asks the driver each time. What changes several devices is one call of the driver.
    """

    __slots__ = ("_resource",)

    def __init__(self, resource: DeviceMemoryResource) -> None:
        self._resource = resource

    @classmethod
    def _from_iterable(cls, devices: Iterable[Device | int]) -> set[Device | int]:  # type: ignore[override]
        return set(devices)

    def _ids(self) -> list[int]:
        return self._resource._peers()  # noqa: SLF001

    def __contains__(self, device: object) -> bool:
        return _ordinal(device) in self._ids()

    def __iter__(self) -> Iterator[Device]:
        return iter([Device(ordinal) for ordinal in self._ids()])

    def __len__(self) -> int:
        return len(self._ids())

    def __eq__(self, other: object) -> bool:
        if not hasattr(other, "__iter__"):
            return NotImplemented
        ordinals = {_ordinal(device) for device in other}
        return ordinals == set(self._ids())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}"

    def add(self, value: Device | int) -> None:
        """Let a device access the memory."""
        self.update([value])

    def discard(self, value: Device | int) -> None:
        """Forbid a device to access the memory, if it may."""
        self.difference_update([value])

    def update(self, *others: Iterable[Device | int]) -> None:
        """Let devices access the memory."""
        self._resource._change_peers(  # noqa: SLF001
            sorted(set().union(*map(_ordinals, others))), []
        )

    def difference_update(self, *others: Iterable[Device | int]) -> None:
        """Forbid devices to access the memory."""
        ordinals = set().union(*map(_ordinals, others))
        self._resource._change_peers([], sorted(ordinals & set(self._ids())))  # noqa: SLF001

    def clear(self) -> None:
        """Forbid all other devices to access the memory."""
        self.difference_update(list(self))

    def __ior__(self, other: AbstractSet[Device | int]) -> Self:  # type: ignore[override,misc]
        self.update(other)
        return self

    def __isub__(self, other: AbstractSet[Device | int]) -> Self:  # type: ignore[misc]
        self.difference_update(other)
        return self

    def __iand__(self, other: AbstractSet[Device | int]) -> Self:  # type: ignore[misc]
        kept = _ordinals(other)
        self.difference_update([ordinal for ordinal in self._ids() if ordinal not in kept])
        return self


def set_peers(resource: DeviceMemoryResource, devices: Iterable[Device | int]) -> None:
    """Make these devices all that may access the memory, in one call of the driver."""
    if isinstance(devices, Peers) and devices._resource is resource:  # noqa: SLF001
        return  # what `peers |= others` assigns
    wanted = _ordinals(devices)
    present = set(resource._peers())  # noqa: SLF001
    resource._change_peers(sorted(wanted - present), sorted(present - wanted))  # noqa: SLF001
