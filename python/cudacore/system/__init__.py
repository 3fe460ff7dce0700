# SPDX-License-Identifier: Apache-2.0
"""Versions of the driver and the compilers, the available devices, and what NVML says about them.

`Device` is a device as seen by NVML, the driver's management library: its memory, load,
power, temperature, clocks and processes. NVML is opened when it is first asked.
"""

from cudacore import _core, _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.system import typing as typing
    from cudacore.system._clock import (
        ClockInfo,
    )
    from cudacore.system._device import (
        Device,
    )
    from cudacore.system._events import (
        DeviceEvents,
        EventData,
        RegisteredSystemEvents,
        SystemEvent,
        SystemEvents,
        register_events,
    )
    from cudacore.system._exceptions import (
        AlreadyInitializedError,
        ArgumentVersionMismatchError,
        CorruptedInforomError,
        DeprecatedError,
        DriverNotLoadedError,
        FreqNotSupportedError,
        FunctionNotFoundError,
        GpuIsLostError,
        GpuNotFoundError,
        InsufficientPowerError,
        InsufficientResourcesError,
        InsufficientSizeError,
        InUseError,
        InvalidArgumentError,
        InvalidStateError,
        IrqIssueError,
        LibraryNotFoundError,
        LibRmVersionMismatchError,
        MemoryError,  # noqa: A004
        NoDataError,
        NoPermissionError,
        NotFoundError,
        NotReadyError,
        NotSupportedError,
        NvmlError,
        OperatingSystemError,
        ResetRequiredError,
        ResetTypeNotSupportedError,
        TimeoutError,  # noqa: A004
        UninitializedError,
        UnknownError,
        VgpuEccNotSupportedError,
    )
    from cudacore.system._fan import (
        FanInfo,
    )
    from cudacore.system._fields import (
        FieldValue,
        FieldValues,
    )
    from cudacore.system._links import (
        InforomInfo,
        MigInfo,
        NvlinkInfo,
    )
    from cudacore.system._pci import (
        PciInfo,
    )
    from cudacore.system._readings import (
        BAR1MemoryInfo,
        ClockOffsets,
        CoolerInfo,
        DeviceAttributes,
        EccInfo,
        GpuDynamicPstatesUtilization,
        MemoryInfo,
        PowerInfo,
        ProcessInfo,
        RepairStatus,
        ThermalSensor,
        Utilization,
    )
    from cudacore.system._temperature import (
        Temperature,
        ThermalSettings,
    )
    from cudacore.system._topology import (
        get_p2p_status,
        get_topology_common_ancestor,
    )

__all__ = [
    "AlreadyInitializedError",
    "ArgumentVersionMismatchError",
    "BAR1MemoryInfo",
    "ClockInfo",
    "ClockOffsets",
    "CoolerInfo",
    "CorruptedInforomError",
    "DeprecatedError",
    "Device",
    "DeviceAttributes",
    "DeviceEvents",
    "DriverNotLoadedError",
    "EccInfo",
    "EventData",
    "FanInfo",
    "FieldValue",
    "FieldValues",
    "FreqNotSupportedError",
    "FunctionNotFoundError",
    "GpuDynamicPstatesUtilization",
    "GpuIsLostError",
    "GpuNotFoundError",
    "InUseError",
    "InforomInfo",
    "InsufficientPowerError",
    "InsufficientResourcesError",
    "InsufficientSizeError",
    "InvalidArgumentError",
    "InvalidStateError",
    "IrqIssueError",
    "LibRmVersionMismatchError",
    "LibraryNotFoundError",
    "MemoryError",
    "MemoryInfo",
    "MigInfo",
    "NoDataError",
    "NoPermissionError",
    "NotFoundError",
    "NotReadyError",
    "NotSupportedError",
    "NvlinkInfo",
    "NvmlError",
    "OperatingSystemError",
    "PciInfo",
    "PowerInfo",
    "ProcessInfo",
    "RegisteredSystemEvents",
    "RepairStatus",
    "ResetRequiredError",
    "ResetTypeNotSupportedError",
    "SystemEvent",
    "SystemEvents",
    "Temperature",
    "ThermalSensor",
    "ThermalSettings",
    "TimeoutError",
    "UninitializedError",
    "UnknownError",
    "Utilization",
    "VgpuEccNotSupportedError",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvjitlink_version",
    "get_nvml_version",
    "get_nvrtc_version",
    "get_p2p_status",
    "get_process_name",
    "get_topology_common_ancestor",
    "get_user_mode_driver_version",
    "register_events",
]

_LATER = {
    "AlreadyInitializedError": "_exceptions",
    "ArgumentVersionMismatchError": "_exceptions",
    "BAR1MemoryInfo": "_readings",
    "ClockInfo": "_clock",
    "ClockOffsets": "_readings",
    "CoolerInfo": "_readings",
    "CorruptedInforomError": "_exceptions",
    "DeprecatedError": "_exceptions",
    "Device": "_device",
    "DeviceAttributes": "_readings",
    "DeviceEvents": "_events",
    "DriverNotLoadedError": "_exceptions",
    "EccInfo": "_readings",
    "EventData": "_events",
    "FanInfo": "_fan",
    "FieldValue": "_fields",
    "FieldValues": "_fields",
    "FreqNotSupportedError": "_exceptions",
    "FunctionNotFoundError": "_exceptions",
    "GpuDynamicPstatesUtilization": "_readings",
    "GpuIsLostError": "_exceptions",
    "GpuNotFoundError": "_exceptions",
    "InUseError": "_exceptions",
    "InforomInfo": "_links",
    "InsufficientPowerError": "_exceptions",
    "InsufficientResourcesError": "_exceptions",
    "InsufficientSizeError": "_exceptions",
    "InvalidArgumentError": "_exceptions",
    "InvalidStateError": "_exceptions",
    "IrqIssueError": "_exceptions",
    "LibRmVersionMismatchError": "_exceptions",
    "LibraryNotFoundError": "_exceptions",
    "MemoryError": "_exceptions",
    "MemoryInfo": "_readings",
    "MigInfo": "_links",
    "NoDataError": "_exceptions",
    "NoPermissionError": "_exceptions",
    "NotFoundError": "_exceptions",
    "NotReadyError": "_exceptions",
    "NotSupportedError": "_exceptions",
    "NvlinkInfo": "_links",
    "NvmlError": "_exceptions",
    "OperatingSystemError": "_exceptions",
    "PciInfo": "_pci",
    "PowerInfo": "_readings",
    "ProcessInfo": "_readings",
    "RegisteredSystemEvents": "_events",
    "RepairStatus": "_readings",
    "ResetRequiredError": "_exceptions",
    "ResetTypeNotSupportedError": "_exceptions",
    "SystemEvent": "_events",
    "SystemEvents": "_events",
    "Temperature": "_temperature",
    "ThermalSensor": "_readings",
    "ThermalSettings": "_temperature",
    "TimeoutError": "_exceptions",
    "UninitializedError": "_exceptions",
    "UnknownError": "_exceptions",
    "Utilization": "_readings",
    "VgpuEccNotSupportedError": "_exceptions",
    "get_p2p_status": "_topology",
    "get_topology_common_ancestor": "_topology",
    "register_events": "_events",
    "typing": "typing",
}

if not TYPE_CHECKING:
    __getattr__ = _later.loader(__name__, _LATER)


def __dir__() -> list[str]:
    return __all__


_KERNEL_DRIVER = "/proc/driver/nvidia/version"


def get_user_mode_driver_version() -> tuple[int, int]:
    """Return the CUDA version that the installed driver supports (cuDriverGetVersion).

    Returns
    -------
    tuple of int
        ``(major, minor)``, such as ``(13, 0)``.

    Raises
    ------
    DriverNotFoundError
        There is no driver.

    Examples
    --------
    >>> cudacore.system.get_user_mode_driver_version()
    (13, 0)
    """
    return _core.driver_library()[0]


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """Return the version of NVIDIA's kernel module, read from ``/proc/driver/nvidia/version``.

    Returns
    -------
    tuple of int
        Such as ``(580, 65, 6)``.

    Raises
    ------
    NotSupportedError
        The file doesn't exist, as on WSL or if no driver is loaded, or contains no version.

    Examples
    --------
    >>> cudacore.system.get_kernel_mode_driver_version()
    (580, 65, 6)
    """
    try:
        with open(_KERNEL_DRIVER, encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
    except OSError as error:
        raise _core.NotSupportedError(
            f"get_kernel_mode_driver_version: cannot read {_KERNEL_DRIVER} ({error.strerror}). The "
            "kernel module of NVIDIA's driver is not loaded, or this system does not show it "
            "there. get_user_mode_driver_version() tells what version of CUDA the driver speaks."
        ) from error
    return _parse_kernel_driver(text)


def _parse_kernel_driver(text: str) -> tuple[int, ...]:
    """Find the version in ``NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ...``."""
    line = text.partition("\n")[0]
    for word in line.split():
        parts = word.split(".")
        if len(parts) > 1 and all(part.isdigit() for part in parts):
            return tuple(int(part) for part in parts)
    raise _core.NotSupportedError(
        "get_kernel_mode_driver_version: the first line of "
        f"{_KERNEL_DRIVER} names no version: {line!r}"
    )


def get_nvrtc_version() -> tuple[int, int]:
    """Return the version of NVRTC, which compiles CUDA C++ (nvrtcVersion).

    Returns
    -------
    tuple of int
        ``(major, minor)``.

    Raises
    ------
    LibraryNotFoundError
        NVRTC is not installed; the message says how to install it.

    Examples
    --------
    >>> cudacore.system.get_nvrtc_version()
    (13, 5)
    """
    return _core.nvrtc_library()[0]


def get_nvjitlink_version() -> tuple[int, int]:
    """Return the version of nvJitLink, which links object codes (nvJitLinkVersion).

    Returns
    -------
    tuple of int
        ``(major, minor)``.

    Raises
    ------
    LibraryNotFoundError
        nvJitLink is not installed; the message says how to install it.

    Examples
    --------
    >>> cudacore.system.get_nvjitlink_version()
    (13, 5)
    """
    return _core.nvjitlink_library()[0]


def get_num_devices() -> int:
    """Return the number of devices that the driver shows (cuDeviceGetCount).

    Returns
    -------
    int
        0 if the driver finds none.

    Raises
    ------
    DriverNotFoundError
        There is no driver.

    Examples
    --------
    >>> cudacore.system.get_num_devices()
    1
    """
    return _core.num_devices()


def get_nvml_version() -> tuple[int, ...]:
    """Return the version of NVML, the driver's library for managing devices.

    Calls nvmlSystemGetNVMLVersion.

    Returns
    -------
    tuple of int
        Such as ``(13, 580, 65, 6)``.

    Raises
    ------
    cudacore.system.LibraryNotFoundError
        There is no NVML.
    """
    return tuple(map(int, _core.nvml("nvmlSystemGetNVMLVersion").split(".")))


def get_driver_branch() -> str:
    """Return the branch of the installed driver (nvmlSystemGetDriverBranch).

    Returns
    -------
    str
        Such as ``r580_00``.

    Raises
    ------
    cudacore.system.LibraryNotFoundError
        There is no NVML.
    cudacore.system.NotSupportedError
        The driver is too old to tell.
    """
    most_bytes = 80
    return str(_core.nvml("nvmlSystemGetDriverBranch", most_bytes))


def get_process_name(pid: int) -> str:
    """Return the name of a process that uses a device (nvmlSystemGetProcessName).

    Parameters
    ----------
    pid : int
        The id of the process.

    Returns
    -------
    str

    Raises
    ------
    cudacore.system.LibraryNotFoundError
        There is no NVML.
    cudacore.system.NotFoundError
        There is no such process, or it uses no device.
    """
    from cudacore.system._nvml import small  # noqa: PLC0415

    return str(_core.nvml("nvmlSystemGetProcessName", small(pid, "get_process_name: pid", 2**31)))
