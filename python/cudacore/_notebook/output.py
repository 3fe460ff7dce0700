# SPDX-License-Identifier: Apache-2.0
"""Brings what kernels print into the cell that launched them.

The driver writes it to the process's file descriptor 1, some at any time and the rest when it is
called to wait. A notebook shows what is written to ``sys.stdout``. By default, a thread of
ipykernel copies from one to the other, but sometimes only after the cell has ended.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import ctypes
import fcntl
import io
import os
import select
import sys
import threading
from typing import TextIO

STDOUT = 1

#: Seconds between two looks at the descriptor. ipykernel sends what it has as often.
PERIOD = 0.2

#: Bytes: more than anyone prints. The file has no memory for what is before it.
FAR = 2**40

_FALLOC_FL_PUNCH_HOLE_AND_KEEP_SIZE = 3


class Descriptor:
    """Descriptor 1, where what is written to it is shown without help."""

    def show(self) -> None:
        """Show what was written so far."""
        _flush_c()

    def close(self) -> None:
        """Stop showing anything."""


class CaughtDescriptor(Descriptor):
    """Descriptor 1 in a notebook, replaced by a file whose content is shown while a cell runs.

    Unlike a pipe, a file is never full. Whoever writes to it never waits for a thread of this
    process, which could not read as long as the writer holds the GIL.
    """

    def __init__(self, stdout: TextIO) -> None:
        """Show in ``sys.stdout``, whatever it is by then; in `stdout` if that fails."""
        _flush_c()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._owner = os.getpid()
        self._stdout = stdout
        self._original = os.dup(STDOUT)
        self._log = self._find_log()
        self._file = os.memfd_create("cudacore")
        fcntl.fcntl(self._file, fcntl.F_SETFL, os.O_APPEND)  # all who share the descriptor append
        self._shown = self._move_end()
        os.dup2(self._file, STDOUT)
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def show(self) -> None:
        super().show()
        self._show_new()

    def close(self) -> None:
        if os.getpid() != self._owner:  # a forked child ends
            return
        atexit.unregister(self.close)
        self._closing.set()
        self._thread.join()
        os.dup2(self._original, STDOUT)
        self.show()
        os.close(self._original)
        os.close(self._file)

    def _follow(self) -> None:
        while not self._closing.wait(PERIOD):
            with contextlib.suppress(Exception):  # show() raises the same, in a cell
                self._show_new()

    def _show_new(self) -> None:
        with self._lock:
            data = self._read_new()
            if data:
                self._write(self._decoder.decode(data))
                self._copy(data)

    def _write(self, text: str) -> None:
        for stream in (sys.stdout, self._stdout):
            with contextlib.suppress(Exception):  # sys.stdout may be anything, such as closed
                stream.write(text)
                return

    def _read_new(self) -> bytes:
        size = os.fstat(self._file).st_size
        if size < self._shown:
            data = os.pread(self._file, size, 0)
            self._shown = self._move_end()
            # Something may have been written before the end was moved.
            data += os.pread(self._file, select.PIPE_BUF, size).rstrip(b"\0")
        else:
            data = os.pread(self._file, size - self._shown, self._shown)
            self._shown += len(data)
        # Give the memory back.
        _libc.fallocate(
            self._file,
            _FALLOC_FL_PUNCH_HOLE_AND_KEEP_SIZE,
            ctypes.c_long(0),
            ctypes.c_long(self._shown),
        )
        return data

    def _move_end(self) -> int:
        """Move the end of the file far away, so that a truncated file is always shorter.

        This is what ``command > /dev/stdout`` does to it.
        """
        with contextlib.suppress(OSError):  # there is a limit on the size of files
            os.posix_fallocate(self._file, FAR, 1)
        return os.fstat(self._file).st_size

    def _copy(self, data: bytes) -> None:
        """Write to the log, unless that would block or fail."""
        writable = select.poll()
        writable.register(self._log, select.POLLOUT)
        with contextlib.suppress(OSError):
            while data and writable.poll(0):
                data = data[os.write(self._log, data[: select.PIPE_BUF]) :]

    def _find_log(self) -> int:
        """Return where ipykernel sends a copy if it reads the descriptor; else the descriptor."""
        try:
            return self._stdout.fileno()
        except io.UnsupportedOperation:
            return self._original


_libc = ctypes.CDLL(None)


def _flush_c() -> None:
    """Flush C's own buffers, where the driver's output may still be."""
    _libc.fflush(None)
