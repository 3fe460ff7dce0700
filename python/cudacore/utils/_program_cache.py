# SPDX-License-Identifier: Apache-2.0
"""The interface of program caches, and the cache in memory."""

from __future__ import annotations

import abc
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from cudacore._core import ObjectCode
from cudacore._integers import is_int
from cudacore._public import public

if TYPE_CHECKING:
    from typing_extensions import Self

Key: TypeAlias = bytes | str
Value: TypeAlias = bytes | bytearray | memoryview | ObjectCode


def key_bytes(key: object) -> bytes:
    """Return the bytes of a key; a str is encoded as UTF-8."""
    if isinstance(key, bytes | bytearray):
        return bytes(key)
    if isinstance(key, str):
        return key.encode()
    raise TypeError(f"cache keys must be bytes or str, got {type(key).__name__}")


def value_bytes(value: object) -> bytes:
    """Return the bytes to store."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, ObjectCode):
        return value.code
    raise TypeError(f"cache values must be bytes-like or ObjectCode, got {type(value).__name__}")


def read_max_size(max_size_bytes: int | None) -> int | None:
    """Return the bound; refuse one under which nothing could be stored."""
    if max_size_bytes is None:
        return None
    if not is_int(max_size_bytes):
        raise TypeError(f"max_size_bytes must be an int or None, not {max_size_bytes!r}")
    size = max_size_bytes.__index__()
    if size <= 0:
        raise ValueError("max_size_bytes must be positive or None (0 would evict every write)")
    return size


@public("cudacore.utils")
class ProgramCacheResource(abc.ABC):
    """The interface of program caches: compiled code, as bytes, by a key.

    Hand one to :meth:`cudacore.Program.compile` as ``cache``. It is also a mapping of its own: keys
    are bytes, as `make_program_cache_key` returns them, or str, which stands for its UTF-8. Values
    are bytes, or an `ObjectCode`, whose bytes are stored. What else an object code holds is not:
    `symbol_mapping`, `ptx`, what the source says of parameters. `Program.compile` therefore stores
    the PTX of a C++ program's cubin as an entry of its own, with the key for PTX, and compiles
    again unless both are there. There is no ``in``, because another process may remove an entry
    between the question and the look-up: use `get`.

    Examples
    --------
    >>> from cudacore.utils import ProgramCacheResource
    >>> class Cache(ProgramCacheResource):
    ...     def __init__(self):
    ...         self.entries = {}
    ...     def __getitem__(self, key):
    ...         return self.entries[key]
    ...     def __setitem__(self, key, value):
    ...         self.entries[key] = value.code
    ...     def __delitem__(self, key):
    ...         del self.entries[key]
    ...     def __len__(self):
    ...         return len(self.entries)
    ...     def clear(self):
    ...         self.entries.clear()
    >>> program = cudacore.Program("__global__ void f() {}", "c++", {"arch": "sm_90"})
    >>> cache = Cache()
    >>> code = program.compile("ptx", cache=cache)
    >>> len(cache)
    1
    """

    # Otherwise, `in` would ask for the keys 0, 1, 2.
    __iter__ = None

    @abc.abstractmethod
    def __getitem__(self, key: Key) -> bytes:
        """Return the code; KeyError if there is none."""

    @abc.abstractmethod
    def __setitem__(self, key: Key, value: Value) -> None:
        """Store code, in place of older code."""

    @abc.abstractmethod
    def __delitem__(self, key: Key) -> None:
        """Remove an entry; KeyError if there is none."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the entries."""

    @abc.abstractmethod
    def clear(self) -> None:
        """Remove all entries."""

    def get(self, key: Key, default: bytes | None = None) -> bytes | None:
        """Return the code, or the default if there is none."""
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, items: Mapping[Key, Value] | Iterable[tuple[Key, Value]], /) -> None:
        """Store several; those before one that fails stay.

        Parameters
        ----------
        items : mapping or iterable of (key, value)
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        for key, value in pairs:
            self[key] = value

    def close(self) -> None:  # noqa: B027
        """Give back what the cache holds, which ``with cache:`` does. Nothing by default."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@public("cudacore.utils")
class InMemoryProgramCache(ProgramCacheResource):
    """A program cache that lives as long as the object. Threads may share it.

    Parameters
    ----------
    max_size_bytes : int, optional
        The most that all values may take; beyond it, those that were read least recently are
        removed. By default, there is no bound.

    Raises
    ------
    TypeError, ValueError
        The bound is not an int, or not positive.

    Examples
    --------
    >>> from cudacore.utils import InMemoryProgramCache
    >>> program = cudacore.Program("__global__ void f() {}", "c++", {"arch": "sm_90"})
    >>> with InMemoryProgramCache(max_size_bytes=2**20) as cache:
    ...     first = program.compile("cubin", cache=cache)
    ...     again = program.compile("cubin", cache=cache)
    >>> first.code == again.code
    True
    """

    def __init__(self, *, max_size_bytes: int | None = None) -> None:
        self._max_size = read_max_size(max_size_bytes)
        self._total_bytes = 0
        self._entries: OrderedDict[bytes, bytes] = OrderedDict()  # the least recently read first
        self._lock = threading.RLock()

    def __getitem__(self, key: Key) -> bytes:
        """Return the code; KeyError if there is none."""
        name = key_bytes(key)
        with self._lock:
            if name not in self._entries:
                raise KeyError(key)
            self._entries.move_to_end(name)
            return self._entries[name]

    def __setitem__(self, key: Key, value: Value) -> None:
        """Store code. If it alone exceeds the bound, it doesn't stay."""
        name, data = key_bytes(key), value_bytes(value)
        with self._lock:
            self._total_bytes += len(data) - len(self._entries.pop(name, b""))
            self._entries[name] = data
            while self._max_size is not None and self._total_bytes > self._max_size:
                self._total_bytes -= len(self._entries.popitem(last=False)[1])

    def __delitem__(self, key: Key) -> None:
        """Remove an entry; KeyError if there is none."""
        name = key_bytes(key)
        with self._lock:
            if name not in self._entries:
                raise KeyError(key)
            self._total_bytes -= len(self._entries.pop(name))

    def __len__(self) -> int:
        """Count the entries."""
        with self._lock:
            return len(self._entries)

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._entries.clear()
            self._total_bytes = 0
