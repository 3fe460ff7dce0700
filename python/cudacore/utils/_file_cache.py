# SPDX-License-Identifier: Apache-2.0
"""The program cache in files."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
import threading
import time
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, NamedTuple

from cudacore import _core
from cudacore._public import public
from cudacore._user_folder import user_folder
from cudacore.utils._program_cache import (
    Key,
    ProgramCacheResource,
    Value,
    key_bytes,
    read_max_size,
    value_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# A temporary file older than this was left behind by a process that died.
STALE_SECONDS = 3600

# The mode of folders that nobody else may use.
PRIVATE = 0o700

# What entries are called, and drafts: nothing else is ever removed.
_DIGIT = "[0-9a-f]"
_FOLDERS, _ENTRIES, _DRAFTS = _DIGIT * 2, _DIGIT * 62, "entry-*"


def default_folder() -> Path:
    """Return the folder for caches that name none, beside the default program cache."""
    base, problem = _core.cache_default_folder()
    if problem:
        raise FileNotFoundError(errno.ENOENT, f"FileStreamProgramCache(): {problem}; give a path")
    return Path(base) / "program-cache"


def make_folder(folder: Path) -> None:
    """Make a folder of this user alone, and its parents, which need not be.

    One named cudacore must be: the default program cache uses no other.
    """
    try:
        folder.mkdir(PRIVATE, exist_ok=True)
    except FileNotFoundError:
        make_parents(folder)
        folder.mkdir(PRIVATE, exist_ok=True)


def make_parents(folder: Path) -> None:
    """Make those parents of a folder that don't exist."""
    parent = folder.parent
    if parent != folder and not parent.exists():
        make_parents(parent)
        parent.mkdir(PRIVATE if parent.name == "cudacore" else 0o777, exist_ok=True)


class File(NamedTuple):
    """An entry's file, as it was found."""

    path: Path
    stat: os.stat_result

    def is_unchanged(self) -> bool:
        """Return whether the file is still the one that was found."""
        try:
            now = self.path.stat()
        except FileNotFoundError:
            return False
        before = self.stat
        return (now.st_ino, now.st_size, now.st_mtime_ns) == (
            before.st_ino,
            before.st_size,
            before.st_mtime_ns,
        )


@public("cudacore.utils")
class FileStreamProgramCache(ProgramCacheResource):
    """A program cache in a folder, which processes may share.

    Each entry is a file with the code and nothing else, which other tools can read. It is written
    beside its place and renamed, so readers see either all of it or nothing. Only the user can
    read it. After a power failure, the last entries may be missing, but none is cut.

    The values aren't checked: whoever can write to the folder can replace code. The default cache
    of cudacore, which needs no object, checks them, and observes the headers that a source
    includes: see `cudacore.cache`.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The folder, which is made for this user alone if there is none; ``~`` is the user's home. By
        default, ``$XDG_CACHE_HOME/cudacore/program-cache``, or ``~/.cache/cudacore/program-cache``
        if ``XDG_CACHE_HOME`` is not an absolute path.
    max_size_bytes : int, optional
        The most that all files may take; beyond it, those that were read least recently are
        removed. Processes that write at the same time may exceed it for a while. By default,
        there is no bound.

    Raises
    ------
    TypeError, ValueError
        The bound is not an int, or not positive. The path is empty, or begins with ``~`` and
        something that is not a user's name.
    OSError
        The folder can't be made, or a folder in it is a link. There is no default folder, or the
        user's home belongs to another user. Storing raises it, too, if a file can't be written.

    Examples
    --------
    >>> import tempfile
    >>> from cudacore.utils import FileStreamProgramCache
    >>> program = cudacore.Program("__global__ void f() {}", "c++", {"arch": "sm_90"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FileStreamProgramCache(folder) as cache:
    ...         code = program.compile("cubin", cache=cache)
    ...     with FileStreamProgramCache(folder) as cache:
    ...         program.compile("cubin", cache=cache).code == code.code
    True
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None
    ) -> None:
        bound = read_max_size(max_size_bytes)
        root = (
            default_folder() if path is None else Path(user_folder(path, "FileStreamProgramCache"))
        )
        self._entries = root / "entries"
        self._drafts = root / "tmp"
        self._max_size = bound
        self._lock = threading.Lock()
        make_folder(root)
        self._make_folders()
        self._remove_stale_drafts()
        # What the files take, as far as this object knows: it is counted again before eviction.
        self._tracked_size_bytes = 0 if bound is None else self._compute_total_size()

    def __getitem__(self, key: Key) -> bytes:
        """Return the code; KeyError if there is none."""
        try:
            with open(self._path_for_key(key), "rb", opener=_open_regular) as file:
                data = file.read()
                # The time of the last read decides what is evicted. It can't be set everywhere.
                with contextlib.suppress(OSError):
                    written = os.fstat(file.fileno()).st_mtime_ns
                    os.utime(file.fileno(), ns=(time.time_ns(), written))
                return data
        except FileNotFoundError:
            raise KeyError(key) from None

    def __setitem__(self, key: Key, value: Value) -> None:
        """Store code; OSError if it can't be written.

        If it alone exceeds the bound, it doesn't stay.
        """
        path, data = self._path_for_key(key), value_bytes(value)
        self._make_folders()
        make_folder(path.parent)
        _refuse_links(path.parent)
        number, draft = tempfile.mkstemp(prefix="entry-", dir=self._drafts)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            replaced = self._size_of(path)
            os.replace(draft, path)  # noqa: PTH105
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)  # noqa: PTH108
            raise
        self._grow(len(data) - replaced)

    def __delitem__(self, key: Key) -> None:
        """Remove an entry; KeyError if there is none."""
        path = self._path_for_key(key)
        _refuse_links(self._entries, path.parent)
        size = self._size_of(path)
        try:
            path.unlink()
        except FileNotFoundError:
            raise KeyError(key) from None
        with self._lock:
            self._tracked_size_bytes = max(0, self._tracked_size_bytes - size)

    def __len__(self) -> int:
        """Count the files, among them those of other processes."""
        return sum(1 for _ in self._entry_files())

    def clear(self) -> None:
        """Remove all entries but those that other processes write meanwhile."""
        for file in list(self._entry_files()):
            self._remove(file)
        self._remove_stale_drafts()
        with self._lock:
            self._tracked_size_bytes = 0 if self._max_size is None else self._compute_total_size()

    def _path_for_key(self, key: Key) -> Path:
        digest = hashlib.sha256(key_bytes(key)).hexdigest()
        return self._entries / digest[:2] / digest[2:]

    def _make_folders(self) -> None:
        """Make the folders, which somebody may have removed."""
        make_folder(self._entries)
        make_folder(self._drafts)
        _refuse_links(self._entries, self._drafts)

    def _size_of(self, path: Path) -> int:
        """Return the size of a file; 0 if there is none, or no bound to keep."""
        if self._max_size is None:
            return 0
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0

    def _grow(self, by: int) -> None:
        if self._max_size is None:
            return
        with self._lock:
            self._tracked_size_bytes += by
            is_full = self._tracked_size_bytes > self._max_size
        if is_full:
            self._enforce_size_cap()

    def _enforce_size_cap(self) -> None:
        """Remove what was read least recently, until the rest fits."""
        if self._max_size is None:
            return
        self._remove_stale_drafts()
        size = self._compute_total_size()
        for file in sorted(self._entry_files(), key=lambda file: file.stat.st_atime_ns):
            if size <= self._max_size:
                break
            if self._remove(file):
                size -= file.stat.st_size
        with self._lock:
            self._tracked_size_bytes = size

    def _remove(self, file: File) -> bool:
        """Remove an entry, unless another process has replaced it."""
        if not file.is_unchanged():
            return False
        file.path.unlink(missing_ok=True)
        return True

    def _remove_stale_drafts(self) -> None:
        for file in self._files(self._drafts, _DRAFTS):
            if file.stat.st_mtime < time.time() - STALE_SECONDS:
                with contextlib.suppress(FileNotFoundError, PermissionError):
                    file.path.unlink()

    def _compute_total_size(self) -> int:
        files = (*self._entry_files(), *self._files(self._drafts, _DRAFTS))
        return sum(file.stat.st_size for file in files)

    def _entry_files(self) -> Iterator[File]:
        _refuse_links(self._entries)
        for folder in self._entries.glob(_FOLDERS):
            yield from self._files(folder, _ENTRIES)

    @staticmethod
    def _files(folder: Path, pattern: str) -> Iterator[File]:
        """Find the files in a folder that other processes change."""
        _refuse_links(folder)
        for path in folder.glob(pattern):
            try:
                stat = path.lstat()  # a link isn't an entry
            except FileNotFoundError:
                continue
            if S_ISREG(stat.st_mode):
                yield File(path, stat)


def _open_regular(path: str, flags: int) -> int:
    """Open a file, or find none where there is something else, which might block who reads it."""
    try:
        number = os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error
        raise
    if S_ISREG(os.fstat(number).st_mode):
        return number
    os.close(number)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _refuse_links(*folders: Path) -> None:
    """Refuse folders that are elsewhere, where other people's files may be."""
    for folder in folders:
        if folder.is_symlink():
            raise NotADirectoryError(
                errno.ENOTDIR, "a folder in a program cache must not be a link", str(folder)
            )
