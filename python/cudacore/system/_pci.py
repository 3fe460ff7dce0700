# SPDX-License-Identifier: Apache-2.0
"""A device's place on the PCI bus, and its link."""

from __future__ import annotations

from cudacore._public import public
from cudacore.system._nvml import ask, number

_SENT = 0
_RECEIVED = 1


@public("cudacore.system")
class PciInfo:
    """A device's place on the PCI bus (nvmlDeviceGetPciInfoExt), and its link.

    `Device.pci_info` makes it.
    """

    __slots__ = (
        "base_class",
        "bus",
        "bus_id",
        "device",
        "device_id",
        "domain",
        "handle",
        "sub_class",
        "subsystem_id",
        "vendor_id",
    )

    domain: int
    """int: The domain of the bus."""
    bus: int
    """int: The bus, from 0 to 255."""
    device: int
    """int: The number of the device on the bus, from 0 to 31."""
    vendor_id: int
    """int: The vendor: 0x10de is NVIDIA."""
    device_id: int
    """int: The vendor's number for the model."""
    subsystem_id: int
    """int: The number of the board."""
    base_class: int
    """int: The class of the device: 3 is a display controller."""
    sub_class: int
    """int: The class within that class."""
    bus_id: str
    """str: All of the place, such as ``00000000:41:00.0``."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        (
            self.domain,
            self.bus,
            self.device,
            ids,
            self.subsystem_id,
            self.base_class,
            self.sub_class,
            self.bus_id,
        ) = ask("nvmlDeviceGetPciInfoExt", handle)
        self.vendor_id = ids & 0xFFFF
        self.device_id = ids >> 16

    def __repr__(self) -> str:
        return f"<PciInfo {self.bus_id}>"

    @property
    def link_generation(self) -> int:
        """int: The highest generation of the link that device and machine can have.

        Calls nvmlDeviceGetMaxPcieLinkGeneration.
        """
        return number("nvmlDeviceGetMaxPcieLinkGeneration", self.handle)

    @property
    def max_link_generation(self) -> int:
        """int: The highest generation of the link that the device can have.

        Calls nvmlDeviceGetGpuMaxPcieLinkGeneration.
        """
        return number("nvmlDeviceGetGpuMaxPcieLinkGeneration", self.handle)

    @property
    def max_link_width(self) -> int:
        """int: The most lanes that device and machine can have (nvmlDeviceGetMaxPcieLinkWidth)."""
        return number("nvmlDeviceGetMaxPcieLinkWidth", self.handle)

    @property
    def current_link_generation(self) -> int:
        """int: The generation of the link now; idle devices lower it.

        Calls nvmlDeviceGetCurrPcieLinkGeneration.
        """
        return number("nvmlDeviceGetCurrPcieLinkGeneration", self.handle)

    @property
    def current_link_width(self) -> int:
        """int: The lanes of the link now (nvmlDeviceGetCurrPcieLinkWidth)."""
        return number("nvmlDeviceGetCurrPcieLinkWidth", self.handle)

    @property
    def rx_throughput(self) -> int:
        """int: What the device receives, in KB/s, over 20 ms (nvmlDeviceGetPcieThroughput)."""
        return number("nvmlDeviceGetPcieThroughput", self.handle, _RECEIVED)

    @property
    def tx_throughput(self) -> int:
        """int: What the device sends, in KB/s, over 20 ms (nvmlDeviceGetPcieThroughput)."""
        return number("nvmlDeviceGetPcieThroughput", self.handle, _SENT)

    @property
    def replay_counter(self) -> int:
        """int: How often the link repeated something (nvmlDeviceGetPcieReplayCounter)."""
        return number("nvmlDeviceGetPcieReplayCounter", self.handle)
