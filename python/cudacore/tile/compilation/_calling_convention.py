# SPDX-License-Identifier: Apache-2.0
"""Which arguments a compiled kernel takes, and in which order."""

from __future__ import annotations

from dataclasses import dataclass

from cudacore._public import public


@public("cudacore.tile.compilation")
@dataclass(frozen=True)
class CallingConvention:
    """How the arguments of a tile kernel become the parameters of the compiled kernel.

    All conventions pass an array as its address, its shape and its strides in elements, a list as
    the address and the length of a table of arrays, and leave constants out. Version 2 adds tuples
    and static shapes, version 3 dataclasses.

    Examples
    --------
    >>> from cudacore.tile.compilation import CallingConvention
    >>> CallingConvention.cutile_python_v2().name
    'cutile_python_v2'
    """

    version: int

    def __post_init__(self) -> None:
        if self.version not in {1, 2, 3}:
            raise ValueError(f"Unknown calling convention code '{self.code}'")

    @property
    def name(self) -> str:
        """str: The convention's name."""
        return f"cutile_python_v{self.version}"

    @property
    def code(self) -> str:
        """str: What stands for the convention in mangled names."""
        return f"t{self.version}"

    @staticmethod
    def from_code(code: str) -> CallingConvention:
        """Return the convention that a code stands for.

        Examples
        --------
        >>> from cudacore.tile.compilation import CallingConvention
        >>> CallingConvention.from_code(CallingConvention.cutile_python_v2().code).name
        'cutile_python_v2'
        """
        if code in {"t1", "t2", "t3"}:
            return CallingConvention(int(code[1]))
        raise ValueError(f"Unknown calling convention code '{code}'")

    @staticmethod
    def cutile_python_v1() -> CallingConvention:
        """Scalars, arrays, lists and constants.

        Examples
        --------
        >>> from cudacore.tile.compilation import CallingConvention
        >>> CallingConvention.cutile_python_v1().name
        'cutile_python_v1'
        """
        return CallingConvention(1)

    @staticmethod
    def cutile_python_v2() -> CallingConvention:
        """Tuples and static shapes too.

        Examples
        --------
        >>> from cudacore.tile.compilation import CallingConvention
        >>> CallingConvention.cutile_python_v2().name
        'cutile_python_v2'
        """
        return CallingConvention(2)

    @staticmethod
    def cutile_python_v3() -> CallingConvention:
        """Dataclasses too.

        Examples
        --------
        >>> from cudacore.tile.compilation import CallingConvention
        >>> CallingConvention.cutile_python_v3().name
        'cutile_python_v3'
        """
        return CallingConvention(3)

    def __repr__(self) -> str:
        return f"CallingConvention({self.name!r}, {self.code!r})"
