# SPDX-License-Identifier: Apache-2.0
"""Memory pools that processes share: their handles, and what they are called in all of them."""

from __future__ import annotations

from multiprocessing import reduction
from uuid import UUID, uuid4

from cudacore._core import (
    Device,
    DeviceMemoryResource,
    NotSupportedError,
    PinnedMemoryResource,
    _PoolMemoryResource,
)
from cudacore._integers import is_int, to_int
from cudacore._ipc._files import SharedFile
from cudacore._ipc._handle import IPCAllocationHandle, handle_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_LARGEST_DESCRIPTOR = (1 << 31) - 1


def _require_pool_sharing(pool: _PoolMemoryResource) -> None:
    if not pool.is_ipc_enabled:
        message = (
            f"this {type(pool).__name__} is not IPC-enabled: make it with the option "
            '{"ipc_enabled": True} to '
            "share it with other processes"
        )
        raise NotSupportedError(message)


def _require_uuid(uuid: object, function: str) -> bytes:
    if not isinstance(uuid, UUID):
        message = f"{function}: uuid must be a uuid.UUID, not {type(uuid).__name__}"
        raise TypeError(message)
    return uuid.bytes


def uuid_of(pool: _PoolMemoryResource) -> UUID | None:
    """Return what a pool is called in all processes."""
    if not pool.is_ipc_enabled:
        return None
    known = pool._uuid  # noqa: SLF001
    if known is None and not pool.is_mapped:
        pool._register(uuid4().bytes)  # noqa: SLF001
        known = pool._uuid  # noqa: SLF001
    return None if known is None else UUID(bytes=known)


def handle_of(pool: _PoolMemoryResource) -> IPCAllocationHandle:
    """Return a new handle of a pool."""
    _require_pool_sharing(pool)
    file = SharedFile(pool._share_pool())  # noqa: SLF001
    uuid = uuid_of(pool)
    return handle_from(file, None if uuid is None else uuid.bytes)


def register(pool: _PoolMemoryResource, uuid: UUID) -> _PoolMemoryResource:
    """Give a pool a name; return the pool that has it."""
    name = _require_uuid(uuid, "MemoryResource.register")
    _require_pool_sharing(pool)
    known = uuid_of(pool)
    if known is not None and known != uuid:
        message = f"this memory resource is registered as {known}, and can't be as {uuid}"
        raise ValueError(message)
    return pool._register(name)  # noqa: SLF001


def registered(uuid: UUID) -> _PoolMemoryResource:
    """Return the pool of a name."""
    name = _require_uuid(uuid, "MemoryResource.from_registry")
    pool = _PoolMemoryResource._registered(name)  # noqa: SLF001
    if pool is None:
        message = (
            f"Memory resource {uuid} was not found: send it to this process first, with "
            "multiprocessing, and keep it"
        )
        raise RuntimeError(message)
    return pool


def _descriptor_number(handle: object, function: str) -> int:
    if isinstance(handle, IPCAllocationHandle):
        return int(handle)
    if not is_int(handle):
        message = (
            f"{function}: alloc_handle must be an IPCAllocationHandle or an int, not "
            f"{type(handle).__name__}"
        )
        raise TypeError(message)
    return to_int(handle, f"{function}: alloc_handle", least=0, most=_LARGEST_DESCRIPTOR)


def _known_pool(handle: object) -> _PoolMemoryResource | None:
    name = handle._uuid if isinstance(handle, IPCAllocationHandle) else None  # noqa: SLF001
    return None if name is None else _PoolMemoryResource._registered(name)  # noqa: SLF001


def _register_as(pool: _PoolMemoryResource, handle: object) -> _PoolMemoryResource:
    name = handle._uuid if isinstance(handle, IPCAllocationHandle) else None  # noqa: SLF001
    return pool if name is None else pool._register(name)  # noqa: SLF001


def _refuse_other_pool(pool: _PoolMemoryResource, wanted: str) -> NoReturn:
    message = f"the handle is one of {pool!r}, not of {wanted}"
    raise ValueError(message)


def device_pool_from(
    device_id: int | Device, alloc_handle: int | IPCAllocationHandle
) -> DeviceMemoryResource:
    """Import a pool of device memory, or find it if this process has it already."""
    number = _descriptor_number(alloc_handle, "DeviceMemoryResource.from_allocation_handle")
    device = Device(device_id)
    pool = _known_pool(alloc_handle)
    if pool is None:
        made = DeviceMemoryResource._import(device, number)  # noqa: SLF001
        pool = _register_as(made, alloc_handle)
    if not isinstance(pool, DeviceMemoryResource) or pool.device_id != device.device_id:
        _refuse_other_pool(pool, f"a pool of device {device.device_id}")
    return pool


def pinned_pool_from(alloc_handle: int | IPCAllocationHandle) -> PinnedMemoryResource:
    """Import a pool of host memory, or find it if this process has it already."""
    number = _descriptor_number(alloc_handle, "PinnedMemoryResource.from_allocation_handle")
    pool = _known_pool(alloc_handle)
    if pool is None:
        made = PinnedMemoryResource._import(number)  # noqa: SLF001
        pool = _register_as(made, alloc_handle)
    if not isinstance(pool, PinnedMemoryResource):
        _refuse_other_pool(pool, "a pool of host memory")
    return pool


def reduce_pool(pool: _PoolMemoryResource) -> tuple[object, ...]:
    """Return how to find a pool in a process that has it."""
    uuid = uuid_of(pool)
    if uuid is None:
        message = "this memory resource has no UUID: register it, so that it can be pickled"
        raise TypeError(message)
    return registered, (uuid,)


def _send_device_pool(pool: DeviceMemoryResource) -> tuple[Any, ...]:
    if not pool.is_ipc_enabled or pool.is_mapped:
        return pool.__reduce__()
    return device_pool_from, (pool.device_id, handle_of(pool))


def _send_pinned_pool(pool: PinnedMemoryResource) -> tuple[Any, ...]:
    if not pool.is_ipc_enabled or pool.is_mapped:
        return pool.__reduce__()
    return pinned_pool_from, (handle_of(pool),)


reduction.register(DeviceMemoryResource, _send_device_pool)
reduction.register(PinnedMemoryResource, _send_pinned_pool)
