# SPDX-License-Identifier: Apache-2.0
"""Memory that other processes share: its descriptor, and how multiprocessing sends it."""

from __future__ import annotations

import os
from multiprocessing import reduction

from cudacore._core import Buffer, MemoryResource, NotSupportedError, VirtualMemoryResource
from cudacore._public import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from cudacore._core import Stream

__all__ = ["IPCBufferDescriptor"]

_MOST_PARTS = 1 << 16
_LARGEST = 1 << 62


def __dir__() -> list[str]:
    return __all__


class _SharedFile:
    """Owns a file descriptor. Only multiprocessing can send it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self.number)

    def __reduce__(self) -> NoReturn:
        message = (
            "shared memory can be neither pickled nor copied, because a file descriptor stands for "
            "it; send it with multiprocessing: to a Process, or through a Queue or Pipe"
        )
        raise TypeError(message)


def _send(file: _SharedFile) -> tuple[Callable[[object], _SharedFile], tuple[object]]:
    return _receive, (reduction.DupFd(file.number),)


def _receive(sent: object) -> _SharedFile:
    number = sent.detach()  # type: ignore[attr-defined]
    if type(number) is not int:
        message = f"a damaged descriptor of shared memory: {number!r} is not a file descriptor"
        raise TypeError(message)
    return _SharedFile(number)


reduction.register(_SharedFile, _send)


@public("cudacore")
class IPCBufferDescriptor:
    """What another process needs to map the memory of a buffer: see `Buffer.ipc_descriptor`.

    It keeps the memory alive, and can be sent to processes by multiprocessing alone.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> buffer = cudacore.VirtualMemoryResource(dev).allocate(1)
    >>> descriptor = buffer.ipc_descriptor
    >>> descriptor.size == buffer.size
    True
    """

    __slots__ = ("_parts",)
    _parts: tuple[tuple[_SharedFile, int], ...]

    def __init__(self) -> None:
        message = "IPCBufferDescriptor can't be made: use buffer.ipc_descriptor"
        raise RuntimeError(message)

    @property
    def size(self) -> int:
        """int: The size of the buffer in bytes."""
        return sum(size for _, size in self._parts)

    def __repr__(self) -> str:
        return f"<IPCBufferDescriptor of {self.size} bytes>"

    def __reduce__(self) -> tuple[object, ...]:
        return _descriptor_of, (self._parts,)


def _is_part(part: object) -> bool:
    if not isinstance(part, tuple) or len(part) != 2:  # noqa: PLR2004
        return False
    file, size = part
    return type(file) is _SharedFile and type(size) is int and 0 < size <= _LARGEST


def _descriptor_of(parts: object) -> IPCBufferDescriptor:
    """Make a descriptor of what may come from another process, and is not trusted."""
    if not isinstance(parts, tuple) or not 0 < len(parts) <= _MOST_PARTS:
        message = "a damaged descriptor of shared memory: it has no list of parts"
        raise ValueError(message)
    if not all(map(_is_part, parts)):
        message = "a damaged descriptor of shared memory: a part is not a file and its size"
        raise ValueError(message)
    made = object.__new__(IPCBufferDescriptor)
    made._parts = parts
    return made


def _require_sharing(resource: VirtualMemoryResource) -> None:
    if not resource.is_ipc_enabled:
        message = (
            "this VirtualMemoryResource is not IPC-enabled: its memory can be shared if "
            'handle_type is "posix_fd"'
        )
        raise NotSupportedError(message)


def descriptor_of(buffer: Buffer) -> IPCBufferDescriptor:
    """Return the descriptor of a buffer."""
    if buffer.is_closed:
        message = "this Buffer is closed"
        raise ValueError(message)
    resource = buffer.memory_resource
    if not isinstance(resource, VirtualMemoryResource):
        message = (
            "only memory of a VirtualMemoryResource can be shared with other processes (IPC), so "
            "far; see docs/cuda_core.md"
        )
        raise NotSupportedError(message)
    _require_sharing(resource)
    if buffer.size == 0:
        message = "an empty Buffer has no memory to share"
        raise ValueError(message)
    return _descriptor_of(
        tuple((_SharedFile(number), size) for number, size in resource._share(buffer))  # noqa: SLF001
    )


def buffer_from(
    resource: MemoryResource, descriptor: IPCBufferDescriptor, stream: Stream | None = None
) -> Buffer:
    """Map the memory that a descriptor stands for."""
    if type(descriptor) is not IPCBufferDescriptor:
        message = (
            "Buffer.from_ipc_descriptor: ipc_descriptor must be an IPCBufferDescriptor, not "
            f"{type(descriptor).__name__}"
        )
        raise TypeError(message)
    if not isinstance(resource, VirtualMemoryResource):
        message = (
            "Buffer.from_ipc_descriptor: mr must be a VirtualMemoryResource, not "
            f"{type(resource).__name__}"
        )
        raise TypeError(message)
    _require_sharing(resource)
    parts = [(file.number, size) for file, size in descriptor._parts]  # noqa: SLF001
    return resource._map_shared(parts, stream)  # noqa: SLF001


def reduce_buffer(buffer: Buffer) -> NoReturn:
    """Refuse to pickle a buffer."""
    message = (
        f"a {type(buffer).__name__} can be neither pickled nor copied; memory of a "
        "VirtualMemoryResource can be sent with multiprocessing as buffer.ipc_descriptor"
    )
    raise TypeError(message)
