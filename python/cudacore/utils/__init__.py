# SPDX-License-Identifier: Apache-2.0
"""What `cuda.core.utils` has: program caches that you hand to :meth:`cudacore.Program.compile`.

Each part is loaded when it is first named.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.utils._cache_key import make_program_cache_key
    from cudacore.utils._file_cache import FileStreamProgramCache
    from cudacore.utils._program_cache import InMemoryProgramCache, ProgramCacheResource

__all__ = [
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "ProgramCacheResource",
    "make_program_cache_key",
]

#: The module of each name.
_HOMES = {
    "FileStreamProgramCache": "_file_cache",
    "InMemoryProgramCache": "_program_cache",
    "ProgramCacheResource": "_program_cache",
    "make_program_cache_key": "_cache_key",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from cudacore import _missing  # noqa: PLC0415

        if name not in _HOMES:
            raise _missing.no_such(__name__, name)
        from importlib import import_module  # noqa: PLC0415

        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list(__all__)
