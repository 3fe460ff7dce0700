# SPDX-License-Identifier: Apache-2.0
"""How two devices reach each other."""

from __future__ import annotations

from cudacore._public import public
from cudacore.system._device import LEVELS, Device
from cudacore.system._nvml import code_of, member_of, number
from cudacore.system.typing import GpuP2PCapsIndex, GpuP2PStatus, GpuTopologyLevel

_CAPABILITIES = {
    GpuP2PCapsIndex.READ: 0,
    GpuP2PCapsIndex.WRITE: 1,
    GpuP2PCapsIndex.NVLINK: 2,
    GpuP2PCapsIndex.ATOMICS: 3,
    GpuP2PCapsIndex.PCI: 4,
    GpuP2PCapsIndex.PROP: 4,
    GpuP2PCapsIndex.UNKNOWN: 5,
}
_P2P_STATUSES = {member: code for code, member in enumerate(GpuP2PStatus)}


def _handles(one: Device, other: Device, what: str) -> tuple[int, int]:
    for device in (one, other):
        if not isinstance(device, Device):
            raise TypeError(
                f"{what} takes two cudacore.system.Device, not a {type(device).__name__}"
            )
    return one.handle, other.handle


@public("cudacore.system")
def get_topology_common_ancestor(device1: Device, device2: Device) -> GpuTopologyLevel:
    """Return what two devices have in common (nvmlDeviceGetTopologyCommonAncestor).

    Parameters
    ----------
    device1, device2 : Device
        The devices.

    Returns
    -------
    GpuTopologyLevel
    """
    handles = _handles(device1, device2, "get_topology_common_ancestor")
    code = number("nvmlDeviceGetTopologyCommonAncestor", *handles)
    return member_of(LEVELS, code, GpuTopologyLevel.SYSTEM)


@public("cudacore.system")
def get_p2p_status(device1: Device, device2: Device, index: GpuP2PCapsIndex | str) -> GpuP2PStatus:
    """Return whether one device can do something with another's memory (nvmlDeviceGetP2PStatus).

    Parameters
    ----------
    device1, device2 : Device
        The devices.
    index : GpuP2PCapsIndex or str
        What to do.

    Returns
    -------
    GpuP2PStatus
    """
    handles = _handles(device1, device2, "get_p2p_status")
    capability = code_of(_CAPABILITIES, index, "get_p2p_status: index")
    code = number("nvmlDeviceGetP2PStatus", *handles, capability)
    return member_of(_P2P_STATUSES, code, GpuP2PStatus.UNKNOWN)
