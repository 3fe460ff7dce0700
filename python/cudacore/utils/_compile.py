# SPDX-License-Identifier: Apache-2.0
"""What `Program.compile` does with a program cache that it is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore.utils._cache_key import make_program_cache_key
from cudacore.utils._program_cache import ProgramCacheResource

if TYPE_CHECKING:
    from cudacore._core import ProgramOptions


def check(cache: object, has_names: bool) -> None:
    """Refuse what isn't a cache, and name expressions, which wouldn't be found again."""
    if not isinstance(cache, ProgramCacheResource):
        raise TypeError(
            f"cache must be a cudacore.utils.ProgramCacheResource, a bool or None, not "
            f"{type(cache).__name__}"
        )
    if has_names:
        raise ValueError(
            "name_expressions don't go with a cache of cudacore.utils, which stores code alone: "
            "an ObjectCode from there would not know its symbol_mapping. Leave the cache out: the "
            "default one keeps the names"
        )


def look_up(
    cache: ProgramCacheResource,
    code: str | bytes,
    code_type: str,
    options: ProgramOptions,
    target_type: str,
) -> tuple[bytes, bytes | None]:
    """Return the key of a compilation, and the code if it is in the cache."""
    key = make_program_cache_key(
        code=code, code_type=code_type, options=options, target_type=target_type
    )
    data = cache.get(key)
    if data is not None and not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"{type(cache).__name__}.get() returned {type(data).__name__}, not bytes")
    return key, bytes(data) if data else None  # an empty one is what a full disk leaves
