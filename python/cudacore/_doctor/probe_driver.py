# SPDX-License-Identifier: Apache-2.0
"""In a process of its own: opens the driver and uses each device once."""

from typing import Any

from cudacore import _core


def answer() -> dict[str, Any]:
    """Return the driver's version and path, and what each device said; or what was raised."""
    try:
        simulated = _core.simulator_is_enabled()
        version, path = _core.driver_library()
        devices = [_look_at(device) for device in _core.Device.get_all_devices()]
    except _core.CUDAError as error:
        return {"failure": failure(error)}
    return {"version": version, "path": path, "simulated": simulated, "devices": devices}


def failure(error: Exception) -> dict[str, str]:
    """Describe an exception of cudacore."""
    name = getattr(error, "name", "") or ""
    return {"text": str(error), "name": str(name), "kind": type(error).__name__}


def _look_at(device: _core.Device) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ordinal": device.device_id,
        "name": device.name,
        "compute_capability": tuple(device.compute_capability),
        "compute_mode": device.properties.compute_mode,
    }
    try:
        device.set_current()
        found["memory_bytes"] = device.mem_info.total
        stream = device.create_stream()
        with _core.SynchronousMemoryResource(device).allocate(4, stream=stream) as buffer:
            buffer.fill(1, stream=stream)
            stream.sync()
    except (_core.CUDAError, MemoryError) as error:
        found["failure"] = failure(error)
    return found
