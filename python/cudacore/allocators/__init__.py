# SPDX-License-Identifier: Apache-2.0
"""One pool for several libraries: PyTorch, CuPy and RMM.

Memory resources become their allocators, or their allocators become memory resources. A library is
imported when something that needs it is called.
"""

from cudacore.allocators._cupy import CupyMemoryResource, cupy_allocator
from cudacore.allocators._rmm import RmmMemoryResource, rmm_resource
from cudacore.allocators._torch import TorchMemoryResource, torch_allocator, torch_pool

__all__ = [
    "CupyMemoryResource",
    "RmmMemoryResource",
    "TorchMemoryResource",
    "cupy_allocator",
    "rmm_resource",
    "torch_allocator",
    "torch_pool",
]


def __dir__() -> list[str]:
    return __all__
