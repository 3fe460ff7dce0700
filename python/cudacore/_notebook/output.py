# SPDX-License-Identifier: Apache-2.0
"""Brings what kernels print into the cell that launched them.

The driver writes it to the process's file descriptor 1, some at any time and the rest when it is
called to wait. A notebook shows only what is written to ``sys.stdout``. By default, ipykernel makes
the descriptor a pipe, and a thread copies from there to the cell that runs at that moment.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import stat
import sys
import termios
import time

STDOUT = 1

#: Seconds that ipykernel gets to empty its pipe.
PATIENCE = 0.2


class Descriptor:
    """Descriptor 1, where what is written to it is shown without further ado."""

    def show(self) -> None:
        """Show in the cell what was written so far."""
        _flush_c()

    def close(self) -> None:
        """Stop showing anything."""


class ReadDescriptor(Descriptor):
    """Descriptor 1 as a pipe that ipykernel reads."""

    def show(self) -> None:
        super().show()
        if not stat.S_ISFIFO(os.fstat(STDOUT).st_mode):
            return
        deadline = time.monotonic() + PATIENCE
        while self._unread() and time.monotonic() < deadline:
            time.sleep(0.001)
        # The thread still has to get the GIL to pass on what it has read.
        time.sleep(sys.getswitchinterval())

    @staticmethod
    def _unread() -> int:
        return int.from_bytes(fcntl.ioctl(STDOUT, termios.FIONREAD, bytes(4)), sys.byteorder)


class UnreadDescriptor(Descriptor):
    """Descriptor 1 in a kernel that doesn't read it, replaced by a file.

    Unlike a pipe, a file is never full, so nobody who writes has to wait for this thread. What
    another process writes to it after the cell that started it is shown by a later cell.
    """

    def __init__(self) -> None:
        _flush_c()
        self._original = os.dup(STDOUT)
        self._file = os.memfd_create("cudacore")
        self._shown = 0
        os.dup2(self._file, STDOUT)

    def show(self) -> None:
        super().show()
        # Reading leaves the position alone, which is where all others write.
        data = os.pread(self._file, os.fstat(self._file).st_size - self._shown, self._shown)
        if not data:
            return
        self._shown += len(data)
        sys.stdout.write(data.decode(errors="replace"))
        self._copy_to_original(data)

    def close(self) -> None:
        self.show()
        os.dup2(self._original, STDOUT)
        os.close(self._original)
        os.close(self._file)

    def _copy_to_original(self, data: bytes) -> None:
        """Write where it would have gone, such as to Jupyter's log, unless that would block."""
        while data and select.select([], [self._original], [], 0)[1]:
            data = data[os.write(self._original, data[: select.PIPE_BUF]) :]


def choose_descriptor(*, is_notebook: bool) -> Descriptor:
    """Find out how what is written to descriptor 1 can be shown in a cell."""
    if not is_notebook:
        return Descriptor()
    if hasattr(sys.stdout, "watch_fd_thread"):
        return ReadDescriptor()
    return UnreadDescriptor()


def _flush_c() -> None:
    """Flush C's own buffers, where the driver's output may still be."""
    ctypes.CDLL(None).fflush(None)
