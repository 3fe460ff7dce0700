# SPDX-License-Identifier: Apache-2.0
"""Waiting until something happens to a device, or to the devices of the machine."""

from __future__ import annotations

import os
import time
import weakref
from typing import TYPE_CHECKING, Any

from cudacore._public import public
from cudacore.system._exceptions import NotFoundError, NvmlError, TimeoutError  # noqa: A004
from cudacore.system._nvml import ask, bits_of, member_of, number, small
from cudacore.system.typing import EventType, SystemEventType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cudacore.system._device import Device

DEVICE_EVENTS = {
    EventType.SINGLE_BIT_ECC_ERROR: 0x1,
    EventType.DOUBLE_BIT_ECC_ERROR: 0x2,
    EventType.PSTATE: 0x4,
    EventType.XID_CRITICAL_ERROR: 0x8,
    EventType.CLOCK: 0x10,
    EventType.POWER_SOURCE_CHANGE: 0x80,
    EventType.MIG_CONFIG_CHANGE: 0x100,
    EventType.SINGLE_BIT_ECC_ERROR_STORM: 0x200,
    EventType.DRAM_RETIREMENT_EVENT: 0x400,
    EventType.DRAM_RETIREMENT_FAILURE: 0x800,
    EventType.NON_FATAL_POISON_ERROR: 0x1000,
    EventType.FATAL_POISON_ERROR: 0x2000,
    EventType.GPU_UNAVAILABLE_ERROR: 0x4000,
    EventType.GPU_RECOVERY_ACTION: 0x8000,
}
_SYSTEM_EVENTS = {SystemEventType.UNBIND: 1, SystemEventType.BIND: 2}
#: How long one call of NVML waits, which Ctrl-C can't end.
_SLICE_MS = 50
_MOST_MS = 2**31


def _wait(wait: Callable[[int], Any], timeout_ms: int, what: str) -> Any:
    """Wait in slices, so that Ctrl-C is answered."""
    timeout = small(timeout_ms, f"{what}: timeout_ms", _MOST_MS)
    end = time.monotonic() + timeout / 1000
    while True:
        left = round((end - time.monotonic()) * 1000) if timeout else _SLICE_MS
        try:
            return wait(min(max(left, 1), _SLICE_MS))
        except TimeoutError:
            if timeout and time.monotonic() >= end:
                raise


def _free(function: str, handle: int, process: int) -> None:
    """Give a set of events back; a forked child has none."""
    if os.getpid() == process:
        try:
            ask(function, handle)
        except NvmlError:  # the device is gone, and the set with it
            return


def _free_with(owner: object, function: str, handle: int) -> None:
    weakref.finalize(owner, _free, function, handle, os.getpid()).atexit = False


@public("cudacore.system")
class EventData:
    """What happened to a device; `DeviceEvents.wait` returns it."""

    __slots__ = ("_compute_instance", "_data", "_gpu_instance", "device", "event_type")

    device: Device
    """Device: The device."""
    event_type: EventType
    """EventType: What happened."""

    def __init__(self, device: Device, kind: int, data: int, gpu: int, compute: int) -> None:
        self.device = device
        self.event_type = member_of(DEVICE_EVENTS, kind, EventType.NONE)
        self._data = data
        self._gpu_instance = gpu
        self._compute_instance = compute

    def __repr__(self) -> str:
        return f"<EventData {self.event_type} on {self.device.uuid}>"

    def _of_xid(self, value: int, name: str) -> int:
        if self.event_type is not EventType.XID_CRITICAL_ERROR:
            raise ValueError(f"EventData.{name}: only an Xid error has it, not {self.event_type}")
        return value

    @property
    def event_data(self) -> int:
        """int: The number of the Xid error. ValueError for other events."""
        return self._of_xid(self._data, "event_data")

    @property
    def gpu_instance_id(self) -> int:
        """int: The MIG instance that had the error. ValueError for other events."""
        return self._of_xid(self._gpu_instance, "gpu_instance_id")

    @property
    def compute_instance_id(self) -> int:
        """int: The compute instance that had the error. ValueError for other events."""
        return self._of_xid(self._compute_instance, "compute_instance_id")


@public("cudacore.system")
class DeviceEvents:
    """Events of a device that are recorded; `Device.register_events` makes it."""

    def __init__(self, device: Device, events: EventType | str | Iterable[EventType | str]) -> None:
        bits = bits_of(DEVICE_EVENTS, events, "Device.register_events: events")
        self._kind = type(device)
        self._set = number("nvmlEventSetCreate")
        _free_with(self, "nvmlEventSetFree", self._set)
        ask("nvmlDeviceRegisterEvents", device.handle, bits, self._set)

    def wait(self, timeout_ms: int = 0) -> EventData:
        """Wait for an event (nvmlEventSetWait_v2). Ctrl-C ends the wait.

        Parameters
        ----------
        timeout_ms : int
            The most milliseconds to wait; 0 waits forever.

        Returns
        -------
        EventData

        Raises
        ------
        cudacore.system.TimeoutError
            None came in time.
        """
        handle, *rest = _wait(
            lambda ms: ask("nvmlEventSetWait_v2", self._set, ms), timeout_ms, "DeviceEvents.wait"
        )
        return EventData(self._kind.from_handle(handle), *rest)


@public("cudacore.system")
class SystemEvent:
    """What happened to a device of the machine."""

    __slots__ = ("event_type", "gpu_id")

    event_type: SystemEventType
    """SystemEventType: What happened."""
    gpu_id: int
    """int: The place of the device on the PCI bus, as a number."""

    def __init__(self, kind: int, gpu_id: int) -> None:
        self.event_type = member_of(_SYSTEM_EVENTS, kind, SystemEventType.UNBIND)
        self.gpu_id = gpu_id

    @property
    def device(self) -> Device:
        """Device: The device. NotFoundError: the driver doesn't have it now."""
        from cudacore.system._device import Device  # noqa: PLC0415

        for device in Device.get_all_devices():
            place = device.pci_info
            if place.domain << 16 | place.bus << 8 | place.device == self.gpu_id:
                return device
        raise NotFoundError(f"SystemEvent.device: the driver has no device {self.gpu_id:#x} now")


@public("cudacore.system")
class SystemEvents(tuple[SystemEvent, ...]):
    """The events that `RegisteredSystemEvents.wait` returns."""

    __slots__ = ()


@public("cudacore.system")
class RegisteredSystemEvents:
    """Events of the machine's devices that are recorded; `register_events` makes it."""

    def __init__(self, events: SystemEventType | str | Iterable[SystemEventType | str]) -> None:
        bits = bits_of(_SYSTEM_EVENTS, events, "register_events: events")
        self._set = number("nvmlSystemEventSetCreate", 0)
        _free_with(self, "nvmlSystemEventSetFree", self._set)
        ask("nvmlSystemRegisterEvents", self._set, bits)

    def wait(self, timeout_ms: int = 0, buffer_size: int = 1) -> SystemEvents:
        """Wait for events (nvmlSystemEventSetWait). Ctrl-C ends the wait.

        Parameters
        ----------
        timeout_ms : int
            The most milliseconds to wait; 0 waits forever.
        buffer_size : int
            The most events to return.

        Returns
        -------
        SystemEvents
            A tuple of at least one `SystemEvent`.

        Raises
        ------
        cudacore.system.TimeoutError
            None came in time.
        """
        most = small(buffer_size, "RegisteredSystemEvents.wait: buffer_size", 2**16)
        if most == 0:
            raise ValueError("RegisteredSystemEvents.wait: buffer_size is 0: give at least 1")
        found = _wait(
            lambda ms: ask("nvmlSystemEventSetWait", self._set, ms, most),
            timeout_ms,
            "RegisteredSystemEvents.wait",
        )
        return SystemEvents(SystemEvent(*each) for each in found)


@public("cudacore.system")
def register_events(
    events: SystemEventType | str | Iterable[SystemEventType | str],
) -> RegisteredSystemEvents:
    """Record what happens to the devices of the machine, from now on (nvmlSystemRegisterEvents).

    Parameters
    ----------
    events : SystemEventType, str or iterable of these
        What to record.

    Returns
    -------
    RegisteredSystemEvents
        Its ``wait`` returns the events.
    """
    return RegisteredSystemEvents(events)
