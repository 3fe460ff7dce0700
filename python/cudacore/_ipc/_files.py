# SPDX-License-Identifier: Apache-2.0
"""File descriptors that stand for memory in other processes."""

from __future__ import annotations

import os
from multiprocessing import context, reduction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_SHARE_BYTES = 64


class SharedFile:
    """Owns a file descriptor. Only multiprocessing can send it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def close(self, close: Callable[[int], None] = os.close) -> None:
        number, self.number = self.number, -1
        if number >= 0:
            close(number)

    __del__ = close

    def __reduce__(self) -> NoReturn:
        message = (
            "shared memory can be neither pickled nor copied, because a file descriptor stands for "
            "it; send it with multiprocessing: to a Process, or through a Queue or Pipe"
        )
        raise TypeError(message)


def _send(file: SharedFile) -> tuple[Callable[[object], SharedFile], tuple[object]]:
    # A process that is started gets the descriptor itself, after everything has been pickled.
    started = context.get_spawning_popen()
    if started is not None:
        vars(started).setdefault("_cudacore_files", []).append(file)
    return _receive, (reduction.DupFd(file.number),)


def _receive(sent: object) -> SharedFile:
    number = sent.detach()  # type: ignore[attr-defined]
    if type(number) is not int:
        message = f"a damaged descriptor of shared memory: {number!r} is not a file descriptor"
        raise TypeError(message)
    return SharedFile(number)


reduction.register(SharedFile, _send)


def is_share(share: object) -> bool:
    """Whether something may be the bytes of a driver."""
    return type(share) is bytes and len(share) == _SHARE_BYTES
