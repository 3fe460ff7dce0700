# SPDX-License-Identifier: Apache-2.0
"""Events that other processes open."""

from __future__ import annotations

from cudacore._core import Event
from cudacore._ipc._files import is_share
from cudacore._public import public


@public("cudacore")
class IPCEventDescriptor:
    """What another process needs to open an event: see `Event.ipc_descriptor`.

    Examples
    --------
    >>> event = cudacore.Device().create_event(cudacore.EventOptions(ipc_enabled=True))
    >>> event.ipc_descriptor == event.ipc_descriptor
    True
    """

    __slots__ = ("_handle", "_is_blocking_sync")
    _handle: bytes
    _is_blocking_sync: bool

    def __init__(self) -> None:
        message = "IPCEventDescriptor can't be made: use event.ipc_descriptor"
        raise RuntimeError(message)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IPCEventDescriptor):
            return NotImplemented
        return self._handle == other._handle

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        return "<IPCEventDescriptor>"

    def __reduce__(self) -> tuple[object, ...]:
        return descriptor_from, (self._handle, self._is_blocking_sync)


def descriptor_from(handle: object, is_blocking_sync: object) -> IPCEventDescriptor:
    """Make a descriptor of what may come from another process, and is not trusted."""
    if not isinstance(handle, bytes) or not is_share(handle) or type(is_blocking_sync) is not bool:
        message = "a damaged descriptor of an event"
        raise ValueError(message)
    made = object.__new__(IPCEventDescriptor)
    made._handle = handle
    made._is_blocking_sync = is_blocking_sync
    return made


def descriptor_of_event(event: Event) -> IPCEventDescriptor:
    """Return the descriptor of an event."""
    return descriptor_from(*event._share())  # noqa: SLF001


def event_from(descriptor: IPCEventDescriptor) -> Event:
    """Open the event that a descriptor stands for."""
    if type(descriptor) is not IPCEventDescriptor:
        message = (
            "Event.from_ipc_descriptor: ipc_descriptor must be an IPCEventDescriptor, not "
            f"{type(descriptor).__name__}"
        )
        raise TypeError(message)
    return Event._open_shared(descriptor._handle, descriptor._is_blocking_sync)  # noqa: SLF001


def reduce_event(event: Event) -> tuple[object, ...]:
    """Return how to open an event in another process."""
    if event.is_closed or not event.is_ipc_enabled:
        message = (
            "an Event can be neither pickled nor copied, unless other processes may open it: "
            "create it with EventOptions(ipc_enabled=True)"
        )
        raise TypeError(message)
    return event_from, (descriptor_of_event(event),)
