# SPDX-License-Identifier: Apache-2.0
"""The errors of NVML, the driver's library for managing devices."""

import builtins

from cudacore import _core
from cudacore._public import public

__all__ = [
    "CorruptedInforomError",
    "DriverNotLoadedError",
    "GpuIsLostError",
    "InUseError",
    "InvalidArgumentError",
    "NoPermissionError",
    "NotFoundError",
    "NotSupportedError",
    "NvmlError",
    "TimeoutError",
]


@public("cudacore.system")
class NvmlError(_core.CUDAError):
    """NVML refused a call: ``code`` is its result, ``name`` its text, ``function`` the call."""


@public("cudacore.system")
class InvalidArgumentError(NvmlError, ValueError):
    """NVML refused an argument, such as the index of a device that doesn't exist."""


@public("cudacore.system")
class NotSupportedError(NvmlError, _core.NotSupportedError):
    """The device, or the installed driver, doesn't do this."""


@public("cudacore.system")
class NoPermissionError(NvmlError, PermissionError):
    """Only root may do this, or the driver's administrator has to allow it."""


@public("cudacore.system")
class NotFoundError(NvmlError, LookupError):
    """There is no such device, process or object."""


@public("cudacore.system")
class DriverNotLoadedError(NvmlError):
    """NVIDIA's kernel module isn't loaded."""


@public("cudacore.system")
class TimeoutError(NvmlError, builtins.TimeoutError):  # noqa: A001
    """No event came in time."""


@public("cudacore.system")
class CorruptedInforomError(NvmlError):
    """The device's InfoROM is damaged."""


@public("cudacore.system")
class GpuIsLostError(NvmlError):
    """The device has fallen off the bus, or can't be reached for another reason."""


@public("cudacore.system")
class InUseError(NvmlError):
    """The device is in use, so this can't be done now."""


#: By nvmlReturn_t.
_CLASSES = {
    2: InvalidArgumentError,
    3: NotSupportedError,
    4: NoPermissionError,
    6: NotFoundError,
    9: DriverNotLoadedError,
    10: TimeoutError,
    13: NotSupportedError,  # a function that the installed driver is too old to have
    14: CorruptedInforomError,
    15: GpuIsLostError,
    19: InUseError,
    28: NotFoundError,
}


def class_of(code: int) -> type[NvmlError]:
    """Return the class for a result code."""
    return _CLASSES.get(code, NvmlError)
