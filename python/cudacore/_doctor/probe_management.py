# SPDX-License-Identifier: Apache-2.0
"""In a process of its own: asks NVML for the driver and its devices."""

import ctypes
from typing import Any

from cudacore._doctor.probe_copy import path_of

SONAME = "libnvidia-ml.so.1"


def answer() -> dict[str, Any]:
    """Return what NVML says, or why it says nothing."""
    try:
        nvml = ctypes.CDLL(SONAME)
    except OSError as error:
        return {"failure": {"text": str(error), "name": "", "kind": "OSError"}}
    found: dict[str, Any] = {"path": path_of(SONAME)}
    if result := nvml.nvmlInit_v2():
        nvml.nvmlErrorString.restype = ctypes.c_char_p
        text = nvml.nvmlErrorString(result).decode(errors="replace")
        found["failure"] = {"text": f"nvmlInit: {text}", "name": str(result), "kind": "NVML"}
        return found
    found["driver_version"] = _text(nvml.nvmlSystemGetDriverVersion)
    found["devices"] = _number(nvml.nvmlDeviceGetCount_v2)
    found["mig_devices"] = found["mig_instances"] = 0
    for index in range(found["devices"]):
        split, instances = _mig(nvml, index)
        found["mig_devices"] += split
        found["mig_instances"] += instances
    return found


def _text(function: Any) -> str:
    buffer = ctypes.create_string_buffer(96)
    return "" if function(buffer, 96) else buffer.value.decode(errors="replace")


def _number(function: Any, *arguments: Any) -> int:
    value = ctypes.c_uint()
    return 0 if function(*arguments, ctypes.byref(value)) else value.value


def _mig(nvml: Any, index: int) -> tuple[int, int]:
    """Return whether a device is split, and into how many instances."""
    device = ctypes.c_void_p()
    if not hasattr(nvml, "nvmlDeviceGetMigMode"):
        return 0, 0
    if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
        return 0, 0
    now, later = ctypes.c_uint(), ctypes.c_uint()
    if nvml.nvmlDeviceGetMigMode(device, ctypes.byref(now), ctypes.byref(later)) or not now.value:
        return 0, 0
    instances = 0
    for number in range(_number(nvml.nvmlDeviceGetMaxMigDeviceCount, device)):
        part = ctypes.c_void_p()
        found = nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, number, ctypes.byref(part)) == 0
        instances += found
    return 1, instances
