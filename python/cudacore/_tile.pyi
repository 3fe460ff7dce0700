# SPDX-License-Identifier: Apache-2.0
"""Translates the text of tile kernels to CUDA C++."""

from typing import Any

class Error(Exception):
    """What is wrong with a kernel, and where.

    Attributes
    ----------
    message : str
    file : str or None
        The user's source, if the text says where the operation comes from.
    line, column : int
        Counted from 1; 0 where there is no file.
    text_line : int
        The line of the text, counted from 1; 0 where the error is about none.
    """

    message: str
    file: str | None
    line: int
    column: int
    text_line: int

class Generated:
    """A kernel as CUDA C++."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def source(self) -> str:
        """The translation unit."""

    @property
    def entry(self) -> str:
        """The kernel's name."""

    @property
    def threads(self) -> int:
        """Threads of a block, which is one-dimensional."""

    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory that a launch asks for."""

def generate(text: str, *, arch: int = 80, max_shared: int = 0, **hints: int | None) -> Generated:
    """Translates the text of a kernel.

    Parameters
    ----------
    text : str
    arch : int
        10 * major + minor of the compute capability.
    max_shared : int
        Bytes of shared memory that a block may have; 0: as many as the capability has.
    **hints
        Hints over those of the text: warps and occupancy. None: no hint.

    Raises
    ------
    Error
        The text is wrong, or asks for more than the device has.
    """

def headers() -> dict[str, str]:
    """The headers that sources may include, by name, for `ProgramOptions.headers`."""
