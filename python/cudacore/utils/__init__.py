# SPDX-License-Identifier: Apache-2.0
"""What `cuda.core.utils` has: program caches, views of arrays, and batches of work on memory.

Each part is loaded when it is first named.
"""

from cudacore import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.utils._batches import (
        CopyOptions,
        MemcpyOverlapMode,
        MemcpySrcAccessOrder,
        copy_batch,
        discard_batch,
        discard_prefetch_batch,
        prefetch_batch,
    )
    from cudacore.utils._cache_key import make_program_cache_key
    from cudacore.utils._file_cache import FileStreamProgramCache
    from cudacore.utils._program_cache import InMemoryProgramCache, ProgramCacheResource
    from cudacore.utils._views import StridedMemoryView, args_viewable_as_strided_memory

__all__ = [
    "CopyOptions",
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "ProgramCacheResource",
    "StridedMemoryView",
    "args_viewable_as_strided_memory",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "make_program_cache_key",
    "prefetch_batch",
]

_LATER = {
    "CopyOptions": "_batches",
    "FileStreamProgramCache": "_file_cache",
    "InMemoryProgramCache": "_program_cache",
    "MemcpyOverlapMode": "_batches",
    "MemcpySrcAccessOrder": "_batches",
    "ProgramCacheResource": "_program_cache",
    "StridedMemoryView": "_views",
    "args_viewable_as_strided_memory": "_views",
    "copy_batch": "_batches",
    "discard_batch": "_batches",
    "discard_prefetch_batch": "_batches",
    "make_program_cache_key": "_cache_key",
    "prefetch_batch": "_batches",
}

if not TYPE_CHECKING:
    __getattr__ = _later.loader(__name__, _LATER)


def __dir__() -> list[str]:
    return list(__all__)
