# SPDX-License-Identifier: Apache-2.0
"""What stands for a memory pool in other processes."""

from __future__ import annotations

from uuid import UUID

from cudacore._ipc._files import SharedFile
from cudacore._public import public

_UUID_BYTES = 16


@public("cudacore")
class IPCAllocationHandle:
    """A file descriptor that stands for a memory pool in other processes.

    Made by ``DeviceMemoryResource.allocation_handle``. It owns the descriptor, and can be sent to
    processes by multiprocessing alone.

    Examples
    --------
    >>> pool = cudacore.DeviceMemoryResource(0, {"ipc_enabled": True})
    >>> handle = pool.allocation_handle
    >>> handle.uuid == pool.uuid
    True
    >>> handle.close()
    """

    __slots__ = ("_file", "_uuid")
    _file: SharedFile
    _uuid: bytes | None

    def __init__(self) -> None:
        message = "IPCAllocationHandle can't be made: use memory_resource.allocation_handle"
        raise RuntimeError(message)

    @property
    def handle(self) -> int:
        """int: The file descriptor, which stays this object's; -1 once closed."""
        return self._file.number

    @property
    def uuid(self) -> UUID | None:
        """uuid.UUID or None: What the pool is called in all processes."""
        return None if self._uuid is None else UUID(bytes=self._uuid)

    def close(self) -> None:
        """Close the file descriptor; closing it again does nothing."""
        self._file.close()

    def __int__(self) -> int:
        """Return the file descriptor.

        Raises
        ------
        ValueError
            It is closed.
        """
        if self._file.number < 0:
            message = "this IPCAllocationHandle is closed"
            raise ValueError(message)
        return self._file.number

    def __repr__(self) -> str:
        if self._file.number < 0:
            return "<IPCAllocationHandle, closed>"
        return f"<IPCAllocationHandle {self._file.number}>"

    def __reduce__(self) -> tuple[object, ...]:
        int(self)
        return handle_from, (self._file, self._uuid)


def handle_from(file: object, uuid: object) -> IPCAllocationHandle:
    """Make a handle of what may come from another process, and is not trusted."""
    if type(file) is not SharedFile:
        message = "a damaged handle of a memory pool: it has no file"
        raise ValueError(message)
    if uuid is not None and not (type(uuid) is bytes and len(uuid) == _UUID_BYTES):
        message = "a damaged handle of a memory pool: it has no UUID"
        raise ValueError(message)
    made = object.__new__(IPCAllocationHandle)
    made._file = file
    made._uuid = uuid
    return made
