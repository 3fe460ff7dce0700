# SPDX-License-Identifier: Apache-2.0
"""Checks the resources of cudacore that another library is to allocate from."""

from __future__ import annotations

from cudacore import MemoryResource


def by_device_of(user: str, resources: tuple[MemoryResource, ...]) -> dict[int, MemoryResource]:
    """Return the resource of each device; -1 is any device."""
    if not resources:
        raise TypeError(f"{user} needs a MemoryResource, such as DeviceMemoryResource(0)")
    found: dict[int, MemoryResource] = {}
    for resource in resources:
        if not isinstance(resource, MemoryResource):
            raise TypeError(f"{user}: expected a MemoryResource, not {type(resource).__name__}")
        if getattr(resource, "is_closed", False) is True:
            raise ValueError(f"{user}: {resource!r} is closed")
        if not resource.is_device_accessible:
            raise ValueError(f"{user}: kernels can't reach the memory of {resource!r}")
        device = resource.device_id
        if found and (device in found or -1 in (device, *found)):
            raise ValueError(f"{user}: several resources are for the same device")
        found[device] = resource
    return found
