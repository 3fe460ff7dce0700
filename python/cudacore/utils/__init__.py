# SPDX-License-Identifier: Apache-2.0
"""What `cuda.core.utils` has: program caches for :meth:`cudacore.Program.compile`, and views.

Each part is loaded when it is first named.
"""

from cudacore import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.utils._cache_key import make_program_cache_key
    from cudacore.utils._file_cache import FileStreamProgramCache
    from cudacore.utils._program_cache import InMemoryProgramCache, ProgramCacheResource
    from cudacore.utils._views import StridedMemoryView, args_viewable_as_strided_memory

__all__ = [
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "ProgramCacheResource",
    "StridedMemoryView",
    "args_viewable_as_strided_memory",
    "make_program_cache_key",
]

_LATER = {
    "FileStreamProgramCache": "_file_cache",
    "InMemoryProgramCache": "_program_cache",
    "ProgramCacheResource": "_program_cache",
    "StridedMemoryView": "_views",
    "args_viewable_as_strided_memory": "_views",
    "make_program_cache_key": "_cache_key",
}

if not TYPE_CHECKING:
    __getattr__ = _later.loader(__name__, _LATER)


def __dir__() -> list[str]:
    return list(__all__)
