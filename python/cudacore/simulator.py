# SPDX-License-Identifier: Apache-2.0
"""The simulated device: real kernels run on the CPU, without a GPU or a driver.

It is a separate driver library, ``libcudacore_sim.so``, which runs the PTX that NVRTC makes. It is
used only if you request it, with `enable` or with ``CUDACORE_DRIVER=simulator`` in the
environment.
"""

import operator

from cudacore import _core
from cudacore._integers import to_int

__all__ = ["driver_folder", "enable", "is_enabled", "library", "reset"]

_MOST_DEVICES = 64
_COMPUTE_CAPABILITIES = (
    *((7, 5), (8, 0), (8, 6), (8, 7), (8, 8), (8, 9), (9, 0)),
    *((10, 0), (10, 1), (10, 3), (11, 0), (12, 0), (12, 1)),
)
_LEAST_MEMORY = 2**20
_MOST_MEMORY = 2**40
_UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE = r"\s*([0-9.]+)\s*([A-Za-z]*)\s*"


def __dir__() -> list[str]:
    return __all__


def enable(
    devices: int | None = None,
    compute_capability: tuple[int, int] | None = None,
    memory: int | str | None = None,
) -> None:
    """Make the simulated device this process's driver, before the first use of a device.

    Parameters
    ----------
    devices : int, optional
        The number of devices, each with its own memory; from 1 to 64. The default is
        ``CUDACORE_SIMULATOR_DEVICES``, or 1.
    compute_capability : tuple of int, optional
        The compute capability of all devices: an existing one, from (7, 5) to (12, 1). The default
        is ``CUDACORE_SIMULATOR_COMPUTE_CAPABILITY``, written as "9.0", or (9, 0).
    memory : int or str, optional
        The memory of each device: a number of bytes, or a number and one of B, KiB, MiB, GiB, TiB,
        as in "4GiB". Memory is taken from the host only when it is written. The default is
        ``CUDACORE_SIMULATOR_MEMORY``, in the same format, or 4 GiB.

    Raises
    ------
    TypeError, ValueError
        An argument has the wrong type or is out of range.
    CUDAError
        This process already uses another driver, or the simulated device with different settings.
    DriverNotFoundError
        The library is missing; the message lists every place that was searched.

    Notes
    -----
    Instead of calling this, you can set ``CUDACORE_DRIVER=simulator``. If the simulated device is
    already in use, a call does nothing if it has no arguments, or if all arguments are already
    in effect.

    Examples
    --------
    >>> cudacore.simulator.enable(devices=2, memory="1 GiB")
    >>> cudacore.Device(1).name
    'cudacore simulated device (sm_90)'
    """
    count = 0 if devices is None else to_int(devices, "devices", least=1, most=_MOST_DEVICES)
    major = minor = 0
    if compute_capability is not None:
        try:
            major, minor = map(operator.index, compute_capability)
        except (TypeError, ValueError):
            raise TypeError(
                f"compute_capability={compute_capability!r}: give two ints, as in (9, 0)"
            ) from None
        if (major, minor) not in _COMPUTE_CAPABILITIES:
            there_are = ", ".join(map(str, _COMPUTE_CAPABILITIES))
            raise ValueError(f"compute_capability={compute_capability!r}: there are {there_are}")
    size = 0 if memory is None else _bytes(memory)
    _core.simulator_enable(count, major, minor, size)


def _bytes(memory: int | str) -> int:
    size = memory
    if isinstance(size, str):
        import re  # noqa: PLC0415  # takes longer to import than all of cudacore

        try:
            number, unit = re.fullmatch(_SIZE, size, re.ASCII).groups()  # type: ignore[union-attr]
            size = (
                int(float(number) * _UNITS[unit]) if "." in number else int(number) * _UNITS[unit]
            )
        except (AttributeError, KeyError, ValueError, OverflowError):
            units = ", ".join(unit for unit in _UNITS if unit)
            raise ValueError(
                f'memory={memory!r}: give bytes, or a number and one of {units}, as in "4 GiB"'
            ) from None
    if not isinstance(size, int):
        raise TypeError(f'memory={memory!r}: give an int of bytes, or a str such as "4 GiB"')
    if not _LEAST_MEMORY <= size <= _MOST_MEMORY:
        raise ValueError(f"memory={memory!r}: give from 1 MiB to 1 TiB")
    return size


def reset() -> None:
    """Start afresh, for example after a fault.

    This destroys every context, with everything that runs in it, its streams, its events and its
    memory, and frees the memory of pools. Kernels, programs and pools remain. Older objects that
    belong to a context raise `ContextLostError` when you use them; drop them and make new ones. If
    nothing has been used yet, nothing happens.

    Raises
    ------
    CUDAError
        The driver in use is not the simulated device, or the call is made in a host callback.

    See Also
    --------
    cudacore.testing : a fixture for pytest that does this after each test.

    Examples
    --------
    >>> cudacore.simulator.enable()
    >>> cudacore.simulator.reset()
    >>> cudacore.Device(0).context.is_lost
    False
    """
    _core.simulator_reset()


def is_enabled() -> bool:
    """Tell whether the driver in use, or the one that would be opened, is the simulated device.

    Returns
    -------
    bool
        Whether it is. Finding out opens nothing.

    Raises
    ------
    DriverNotFoundError
        ``CUDACORE_DRIVER`` names an unknown driver.

    Examples
    --------
    >>> cudacore.simulator.is_enabled()
    True
    """
    return _core.simulator_is_enabled()


def library() -> str:
    """Return the path of ``libcudacore_sim.so``.

    Returns
    -------
    str
        The path. The library is loaded, but doesn't become this process's driver.

    Raises
    ------
    DriverNotFoundError
        The library is missing; the message lists every place that was searched.

    Examples
    --------
    >>> cudacore.simulator.library().endswith("libcudacore_sim.so")
    True
    """
    return _core.simulator_library()


def driver_folder() -> str:
    """Return a folder that contains the simulated device under the names of NVIDIA's driver.

    With this folder in ``LD_LIBRARY_PATH``, any program that uses the driver API and loads PTX runs
    on the simulated device. ``libcuda.so.1`` is the driver; ``libnvidia-ml.so.1`` only says which
    devices there are. ``libcudart.so.12`` and ``libcudart.so.13`` are the CUDA runtime for
    programs that nvcc built with ``-cudart shared`` and with PTX.

    Returns
    -------
    str
        The folder's path; ``python -m cudacore simulator-path`` prints it.

    Raises
    ------
    DriverNotFoundError
        The library is missing; the message lists every place that was searched.

    Examples
    --------
    >>> sorted(os.listdir(cudacore.simulator.driver_folder()))
    ['libcuda.so.1', 'libcudart.so.12', 'libcudart.so.13', 'libnvidia-ml.so.1']
    """
    return library().rpartition("/")[0] + "/driver"
