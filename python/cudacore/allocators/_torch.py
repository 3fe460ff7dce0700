# SPDX-License-Identifier: Apache-2.0
"""PyTorch's allocator."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from cudacore import Device, MemoryResource, OutOfMemoryError, _core
from cudacore._other_library import import_torch
from cudacore._public import public
from cudacore.allocators._foreign_resource import LEGACY, ForeignMemoryResource
from cudacore.allocators._own_resources import by_device_of

if TYPE_CHECKING:
    import torch

    from cudacore import Stream

#: PyTorch calls an allocator as long as the process lives.
_allocators: dict[int, torch.cuda.memory.CUDAPluggableAllocator] = {}


@public("cudacore.allocators")
def torch_allocator(*resources: MemoryResource) -> torch.cuda.memory.CUDAPluggableAllocator:
    """Make memory resources PyTorch's allocator, in place of its own.

    Pass the result to ``torch.cuda.memory.change_current_allocator`` before PyTorch first allocates
    memory on a GPU. `torch_pool` is for some of the memory, and keeps PyTorch's cache.

    Parameters
    ----------
    *resources : MemoryResource
        One for each device that PyTorch is to use. One that belongs to no device is for all.

    Returns
    -------
    torch.cuda.memory.CUDAPluggableAllocator

    Raises
    ------
    ImportError
        PyTorch is missing, is too old, or was built without CUDA.
    TypeError, ValueError
        There is no resource, two are for one device, one is closed or is PyTorch's own memory, or
        kernels can't reach the memory.

    Notes
    -----
    If memory is short, PyTorch raises a RuntimeError with the message of the resource. Memory is
    released on the stream that it was allocated on, after the work of the streams that
    ``tensor.record_stream`` named. PyTorch keeps no cache of its own, so use pools, such as
    `DeviceMemoryResource`. It offers no statistics with such an allocator, and in a CUDA graph
    that it captures, memory can't come from a pool: use `torch_pool`, or
    `SynchronousMemoryResource`.
    """
    allocator = _torch_allocator("torch_allocator", resources, is_pool=False)
    record = ctypes.cast(
        ctypes.CDLL(_core.__file__).cudacore_torch_record_stream, ctypes.c_void_p
    ).value
    allocator.allocator().set_record_stream_fn(record)
    return allocator


@public("cudacore.allocators")
def torch_pool(*resources: MemoryResource) -> torch.cuda.MemPool:
    """Make a pool of PyTorch's caching allocator that gets its memory from memory resources.

    Use it with ``with torch.cuda.use_mem_pool(pool):``.

    Parameters
    ----------
    *resources : MemoryResource
        As for `torch_allocator`, but none that is written in Python.

    Returns
    -------
    torch.cuda.MemPool

    Raises
    ------
    ImportError, TypeError, ValueError
        As for `torch_allocator`. TypeError, too, if a resource's class is written in Python.

    Notes
    -----
    PyTorch calls the resource with its allocator's lock held. A thread that frees a tensor waits
    for that lock with the GIL held, so Python code in the resource could wait for the GIL forever.
    """
    allocator = _torch_allocator("torch_pool", resources, is_pool=True)
    import torch  # noqa: PLC0415

    return torch.cuda.MemPool(allocator.allocator())


@public("cudacore.allocators")
class TorchMemoryResource(ForeignMemoryResource):
    """PyTorch's caching allocator as a memory resource, so that both use one cache.

    Parameters
    ----------
    device_id : Device or int, optional
        The current device by default.

    Raises
    ------
    ImportError
        PyTorch is missing, is too old, or was built without CUDA.
    """

    def __init__(self, device_id: Device | int | None = None) -> None:
        _import_cuda_torch("TorchMemoryResource").cuda.init()
        super().__init__(device_id)

    def _take(self, size: int, stream: Stream) -> tuple[int, Any]:
        import torch  # noqa: PLC0415

        handle = 0 if stream.handle == LEGACY else stream.handle
        try:
            pointer = torch.cuda.caching_allocator_alloc(size, self.device_id, handle)
        except torch.OutOfMemoryError as error:
            raise OutOfMemoryError(str(error)) from error
        return pointer, pointer

    def _give_back(self, memory: Any, *_: Any) -> None:
        import torch  # noqa: PLC0415

        torch.cuda.caching_allocator_delete(memory)


def _torch_allocator(
    user: str, resources: tuple[MemoryResource, ...], *, is_pool: bool
) -> torch.cuda.memory.CUDAPluggableAllocator:
    for resource in by_device_of(user, resources).values():
        if _is_pytorchs(resource):
            raise TypeError(
                f"{user}: {resource!r} is PyTorch's own memory, which PyTorch would ask itself for"
            )
    torch = _import_cuda_torch(user)
    slot = _core._torch_slot(list(resources), is_pool)  # noqa: SLF001
    if slot not in _allocators:
        _allocators[slot] = torch.cuda.memory.CUDAPluggableAllocator(
            _core.__file__, f"cudacore_torch_allocate_{slot}", "cudacore_torch_free"
        )
    return _allocators[slot]


def _is_pytorchs(resource: object) -> bool:
    """Tell whether memory is PyTorch's own, also behind resources that name their upstream."""
    seen: list[object] = []
    while isinstance(resource, MemoryResource) and not any(resource is one for one in seen):
        if isinstance(resource, TorchMemoryResource):
            return True
        seen.append(resource)
        resource = getattr(resource, "upstream", None)
    return False


def _import_cuda_torch(user: str) -> Any:
    torch = import_torch(f"cudacore.allocators.{user}")
    if not torch.backends.cuda.is_built():
        raise ImportError(
            f"cudacore.allocators.{user} needs a PyTorch that was built with CUDA, but this is "
            f"{torch.__version__}",
            name="torch",
        )
    return torch
