# SPDX-License-Identifier: Apache-2.0
"""The errors of NVML, the driver's library for managing devices."""

import builtins

from cudacore import _core
from cudacore._public import public

__all__ = [
    "AlreadyInitializedError",
    "ArgumentVersionMismatchError",
    "CorruptedInforomError",
    "DeprecatedError",
    "DriverNotLoadedError",
    "FreqNotSupportedError",
    "FunctionNotFoundError",
    "GpuIsLostError",
    "GpuNotFoundError",
    "InUseError",
    "InsufficientPowerError",
    "InsufficientResourcesError",
    "InsufficientSizeError",
    "InvalidArgumentError",
    "InvalidStateError",
    "IrqIssueError",
    "LibRmVersionMismatchError",
    "LibraryNotFoundError",
    "MemoryError",
    "NoDataError",
    "NoPermissionError",
    "NotFoundError",
    "NotReadyError",
    "NotSupportedError",
    "NvmlError",
    "OperatingSystemError",
    "ResetRequiredError",
    "ResetTypeNotSupportedError",
    "TimeoutError",
    "UninitializedError",
    "UnknownError",
    "VgpuEccNotSupportedError",
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


@public("cudacore.system")
class UninitializedError(NvmlError):
    """NVML was used before it was initialized, or after it was shut down."""


@public("cudacore.system")
class AlreadyInitializedError(NvmlError):
    """NVML was initialized already."""


@public("cudacore.system")
class InsufficientSizeError(NvmlError):
    """The answer is longer than the memory that was given for it."""


@public("cudacore.system")
class InsufficientPowerError(NvmlError):
    """A power cable of the device is not attached."""


@public("cudacore.system")
class IrqIssueError(NvmlError):
    """The kernel has a problem with the device's interrupts."""


@public("cudacore.system")
class LibraryNotFoundError(NvmlError, _core.LibraryNotFoundError):
    """There is no NVML; ``tried`` lists the places that were searched."""


@public("cudacore.system")
class FunctionNotFoundError(NotSupportedError):
    """The installed driver is too old to have the function."""


@public("cudacore.system")
class ResetRequiredError(NvmlError):
    """The device must be reset before it can be used again."""


@public("cudacore.system")
class OperatingSystemError(NvmlError, OSError):
    """The operating system or a control group blocked the device."""


@public("cudacore.system")
class LibRmVersionMismatchError(NvmlError):
    """The library and the kernel module belong to different versions of the driver."""


@public("cudacore.system")
class MemoryError(NvmlError, builtins.MemoryError):  # noqa: A001
    """NVML has too little memory."""


@public("cudacore.system")
class NoDataError(NvmlError):
    """There are no data."""


@public("cudacore.system")
class VgpuEccNotSupportedError(NotSupportedError):
    """The virtual device can't be used while ECC is on."""


@public("cudacore.system")
class InsufficientResourcesError(NvmlError):
    """The device has too little of what was asked for, other than memory."""


@public("cudacore.system")
class FreqNotSupportedError(NotSupportedError):
    """The device doesn't know this frequency."""


@public("cudacore.system")
class ArgumentVersionMismatchError(NvmlError):
    """The installed driver doesn't know this version of an argument."""


@public("cudacore.system")
class DeprecatedError(NvmlError):
    """The function is no longer supported."""


@public("cudacore.system")
class NotReadyError(NvmlError):
    """The system is not ready for the request."""


@public("cudacore.system")
class GpuNotFoundError(NotFoundError):
    """There is no such device."""


@public("cudacore.system")
class InvalidStateError(NvmlError):
    """The device is in the wrong state for the request."""


@public("cudacore.system")
class ResetTypeNotSupportedError(NotSupportedError):
    """The device can't be reset in this way."""


@public("cudacore.system")
class UnknownError(NvmlError):
    """NVML doesn't say what failed."""


#: By nvmlReturn_t.
_CLASSES = {
    1: UninitializedError,
    2: InvalidArgumentError,
    3: NotSupportedError,
    4: NoPermissionError,
    5: AlreadyInitializedError,
    6: NotFoundError,
    7: InsufficientSizeError,
    8: InsufficientPowerError,
    9: DriverNotLoadedError,
    10: TimeoutError,
    11: IrqIssueError,
    12: LibraryNotFoundError,
    13: FunctionNotFoundError,
    14: CorruptedInforomError,
    15: GpuIsLostError,
    16: ResetRequiredError,
    17: OperatingSystemError,
    18: LibRmVersionMismatchError,
    19: InUseError,
    20: MemoryError,
    21: NoDataError,
    22: VgpuEccNotSupportedError,
    23: InsufficientResourcesError,
    24: FreqNotSupportedError,
    25: ArgumentVersionMismatchError,
    26: DeprecatedError,
    27: NotReadyError,
    28: GpuNotFoundError,
    29: InvalidStateError,
    30: ResetTypeNotSupportedError,
    999: UnknownError,
}


def class_of(code: int) -> type[NvmlError]:
    """Return the class for a result code."""
    return _CLASSES.get(code, NvmlError)
