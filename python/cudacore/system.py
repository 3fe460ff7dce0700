# SPDX-License-Identifier: Apache-2.0
"""Versions of the driver and the compilers, and the available devices."""

from cudacore import _core

__all__ = [
    "get_devices",
    "get_driver_version",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvjitlink_version",
    "get_nvrtc_version",
    "get_user_mode_driver_version",
]


def __dir__() -> list[str]:
    return __all__


_KERNEL_DRIVER = "/proc/driver/nvidia/version"


def get_driver_version() -> tuple[int, int]:
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
    >>> cudacore.system.get_driver_version()
    (13, 0)
    """
    return _core.driver_library()[0]


get_user_mode_driver_version = get_driver_version


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
            "there. get_driver_version() tells the version of CUDA that the driver speaks."
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


def get_devices() -> tuple[_core.Device, ...]:
    """Return all devices, in the order of their ordinals.

    Returns
    -------
    tuple of Device

    Raises
    ------
    DriverNotFoundError
        There is no driver.

    Examples
    --------
    >>> [device.name for device in cudacore.system.get_devices()]
    ['NVIDIA H200']
    """
    return _core.Device.get_all_devices()
