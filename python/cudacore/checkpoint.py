# SPDX-License-Identifier: Apache-2.0
"""Taking a process off its devices, and putting it back: checkpoint and restore by the driver.

It needs a driver of CUDA 12.8 or later, under Linux. To save the process itself as well, combine it
with a tool such as CRIU.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudacore import _core
from cudacore._integers import INT32, to_int
from cudacore.typing import ProcessStateType

if TYPE_CHECKING:
    from typing import SupportsIndex, TypeAlias

    from cudacore import system

    DeviceName: TypeAlias = "str | uuid.UUID | _core.Device | system.Device"

__all__ = ["Process"]

_STATES = tuple(ProcessStateType)
_MOST_MS = 2**32 - 1
_PREFIX = "GPU-"


def __dir__() -> list[str]:
    return __all__


class Process:
    """A process that uses CUDA; another one, or this one.

    Parameters
    ----------
    pid : int
        Its id.

    Raises
    ------
    TypeError, ValueError
        ``pid`` is not an int, or not positive.

    Notes
    -----
    All methods raise `cudacore.NotSupportedError` if the driver is older than CUDA 12.8, and on the
    simulated device. If the driver refuses a call, they raise `cudacore.CUDAError`, whose message
    says which state the process is in.

    Examples
    --------
    >>> process = cudacore.checkpoint.Process(4711)
    >>> process.pid
    4711
    """

    __slots__ = ("_pid",)

    def __init__(self, pid: SupportsIndex) -> None:
        self._pid = to_int(pid, "Process: pid", least=1, most=INT32[1])

    def __repr__(self) -> str:  # noqa: D105
        return f"Process({self._pid})"

    @property
    def pid(self) -> int:
        """int: The id of the process."""
        return self._pid

    @property
    def state(self) -> ProcessStateType:
        """ProcessStateType: What has been done to the process (cuCheckpointProcessGetState)."""
        return _STATES[_core.checkpoint_state(self._pid)]

    @property
    def restore_thread_id(self) -> int:
        """int: The thread that restores the process (cuCheckpointProcessGetRestoreThreadId)."""
        return _core.checkpoint_restore_thread_id(self._pid)

    def lock(self, timeout_ms: SupportsIndex = 0) -> None:
        """Make CUDA calls of the process wait from now on (cuCheckpointProcessLock).

        Waits until the work that it has queued is done.

        Parameters
        ----------
        timeout_ms : int
            The most milliseconds to wait; 0 waits forever.

        Raises
        ------
        CUDAError
            It took longer, or the process is not running.
        """
        _core.checkpoint_lock(
            self._pid, to_int(timeout_ms, "Process.lock: timeout_ms", least=0, most=_MOST_MS)
        )

    def checkpoint(self) -> None:
        """Copy the device memory of the process to the host, and give its devices back.

        Calls cuCheckpointProcessCheckpoint.

        Raises
        ------
        CUDAError
            The process is not locked.
        """
        _core.checkpoint_checkpoint(self._pid)

    def restore(self, gpu_mapping: Mapping[DeviceName, DeviceName] | None = None) -> None:
        """Undo `checkpoint`; the process stays locked (cuCheckpointProcessRestore).

        Parameters
        ----------
        gpu_mapping : mapping, optional
            Which device replaces which: from the ones that it had to those that it gets. Give their
            uuids, or `cudacore.Device` or `cudacore.system.Device` objects. If given, every device
            of the machine must be named, also those that ``CUDA_VISIBLE_DEVICES`` hides.

        Raises
        ------
        TypeError, ValueError
            The mapping is none, or something in it is no uuid.
        CUDAError
            The process is not checkpointed.
        """
        if gpu_mapping is not None and not isinstance(gpu_mapping, Mapping):
            raise TypeError(
                f"Process.restore: gpu_mapping is a {type(gpu_mapping).__name__}: give a mapping "
                "from devices to devices"
            )
        pairs = gpu_mapping.items() if gpu_mapping is not None else ()
        _core.checkpoint_restore(
            self._pid, b"".join(_uuid_bytes(had) + _uuid_bytes(gets) for had, gets in pairs)
        )

    def unlock(self) -> None:
        """Let CUDA calls of the process go on (cuCheckpointProcessUnlock).

        Raises
        ------
        CUDAError
            The process is not locked.
        """
        _core.checkpoint_unlock(self._pid)


def _uuid_bytes(device: object) -> bytes:
    if isinstance(device, uuid.UUID):
        return device.bytes
    name = device if isinstance(device, str) else getattr(device, "uuid", None)
    if not isinstance(name, str):
        raise TypeError(
            f"Process.restore: gpu_mapping has a {type(device).__name__}: give a device or its uuid"
        )
    try:
        return uuid.UUID(name.removeprefix(_PREFIX)).bytes
    except ValueError:
        raise ValueError(f"Process.restore: gpu_mapping has {name!r}, which is no uuid") from None
