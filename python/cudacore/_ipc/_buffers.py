# SPDX-License-Identifier: Apache-2.0
"""Memory of a buffer that other processes share."""

from __future__ import annotations

from cudacore._core import (
    Buffer,
    MemoryResource,
    NotSupportedError,
    VirtualMemoryResource,
    _PoolMemoryResource,
)
from cudacore._ipc._files import SharedFile, is_share
from cudacore._public import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore._core import Stream

_MOST_PARTS = 1 << 16
_LARGEST = 1 << 62


@public("cudacore")
class IPCBufferDescriptor:
    """What another process needs to map the memory of a buffer: see `Buffer.ipc_descriptor`.

    That of virtual memory keeps the memory alive, and can be sent to processes by multiprocessing
    alone. That of a pool's memory holds a few bytes, which can be pickled.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> buffer = cudacore.VirtualMemoryResource(dev).allocate(1)
    >>> descriptor = buffer.ipc_descriptor
    >>> descriptor.size == buffer.size
    True
    """

    __slots__ = ("_parts",)
    _parts: tuple[tuple[SharedFile | bytes, int], ...]

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
        return descriptor_from, (self._parts,)


def _is_part(part: object) -> bool:
    if not isinstance(part, tuple) or len(part) != 2:  # noqa: PLR2004
        return False
    place, size = part
    is_place = type(place) is SharedFile or is_share(place)
    return is_place and type(size) is int and 0 < size <= _LARGEST


def descriptor_from(parts: object) -> IPCBufferDescriptor:
    """Make a descriptor of what may come from another process, and is not trusted."""
    if not isinstance(parts, tuple) or not 0 < len(parts) <= _MOST_PARTS:
        message = "a damaged descriptor of shared memory: it has no list of parts"
        raise ValueError(message)
    if not all(map(_is_part, parts)):
        message = "a damaged descriptor of shared memory: a part is not a file and its size"
        raise ValueError(message)
    if len(parts) > 1 and any(type(place) is bytes for place, _ in parts):
        message = "a damaged descriptor of shared memory: memory of a pool has one part"
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
    if isinstance(resource, _PoolMemoryResource):
        return descriptor_from((resource._share(buffer),))  # noqa: SLF001
    if not isinstance(resource, VirtualMemoryResource):
        message = (
            "this memory can't be shared with other processes (IPC): allocate it from a "
            'DeviceMemoryResource(device, {"ipc_enabled": True}), a PinnedMemoryResource('
            '{"ipc_enabled": True}), or a '
            "VirtualMemoryResource"
        )
        raise NotSupportedError(message)
    _require_sharing(resource)
    if buffer.size == 0:
        message = "an empty Buffer has no memory to share"
        raise ValueError(message)
    return descriptor_from(
        tuple((SharedFile(number), size) for number, size in resource._share(buffer))  # noqa: SLF001
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
    parts = descriptor._parts  # noqa: SLF001
    place, size = parts[0]
    if isinstance(resource, _PoolMemoryResource):
        if isinstance(place, bytes):
            return resource._map_shared(place, size, stream)  # noqa: SLF001
        message = "the descriptor is one of virtual memory: mr must be a VirtualMemoryResource"
        raise ValueError(message)
    if not isinstance(resource, VirtualMemoryResource):
        message = (
            "Buffer.from_ipc_descriptor: mr must be a DeviceMemoryResource, PinnedMemoryResource "
            f"or VirtualMemoryResource, not {type(resource).__name__}"
        )
        raise TypeError(message)
    _require_sharing(resource)
    files = [(file.number, size) for file, size in parts if isinstance(file, SharedFile)]
    if len(files) != len(parts):
        message = "the descriptor is one of a pool's memory: mr must be a resource of that pool"
        raise ValueError(message)
    return resource._map_shared(files, stream)  # noqa: SLF001


def reduce_buffer(buffer: Buffer) -> tuple[object, ...]:
    """Return how to map a buffer in another process."""
    resource = None if buffer.is_closed else buffer.memory_resource
    if not getattr(resource, "is_ipc_enabled", False):
        message = (
            f"a {type(buffer).__name__} can be neither pickled nor copied, unless its memory can "
            "be shared with other processes: allocate it from a DeviceMemoryResource(device, "
            '{"ipc_enabled": True}), a PinnedMemoryResource({"ipc_enabled": True}), or a '
            "VirtualMemoryResource, and send it with multiprocessing"
        )
        raise TypeError(message)
    return buffer_from, (resource, descriptor_of(buffer))
