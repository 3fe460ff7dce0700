# SPDX-License-Identifier: Apache-2.0
"""Functions of CUDA C++ that kernels call."""

from __future__ import annotations

import linecache
import re
import sys
from typing import Any

from cudacore._public import public
from cudacore.tile import _dtype
from cudacore.tile._cuda_text import functions_of, require_whole
from cudacore.tile._language_function import host_callers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._dtype import DType

TYPES = {
    "bool": _dtype.bool_,
    "char": _dtype.int8,
    "signed char": _dtype.int8,
    "int8_t": _dtype.int8,
    "unsigned char": _dtype.uint8,
    "uint8_t": _dtype.uint8,
    "short": _dtype.int16,
    "int16_t": _dtype.int16,
    "unsigned short": _dtype.uint16,
    "uint16_t": _dtype.uint16,
    "int": _dtype.int32,
    "int32_t": _dtype.int32,
    "unsigned": _dtype.uint32,
    "unsigned int": _dtype.uint32,
    "uint32_t": _dtype.uint32,
    "long long": _dtype.int64,
    "int64_t": _dtype.int64,
    "unsigned long long": _dtype.uint64,
    "uint64_t": _dtype.uint64,
    "half": _dtype.float16,
    "__half": _dtype.float16,
    "__nv_bfloat16": _dtype.bfloat16,
    "float": _dtype.float32,
    "double": _dtype.float64,
}

_SPECIFIERS = frozenset(
    (
        *("extern", "__device__", "__host__", "__forceinline__", "__inline__", "__noinline__"),
        *("inline", "static", "constexpr", "const"),
    )
)


@public("cudacore.tile")
class device_function:  # noqa: N801 - it is used as a function
    """Make a function of CUDA C++ one that kernels call on scalars and on each element of tiles.

    Its arguments broadcast to a common shape, which is that of the result, and convert to the types
    of its parameters where they convert by themselves, as float16 does to float32. It must give the
    same result for the same arguments: how often it is called is not told.

    The types of its parameters and of its result are ``bool``, ``float``, ``double``, ``__half``,
    ``__nv_bfloat16``, integers such as ``int``, ``unsigned``, ``long long`` and ``uint8_t``; for
    those that a header of CUDA defines, the source includes it. The same source may define other
    functions that this one uses. Its macros end with it.

    Parameters
    ----------
    source : str
        CUDA C++ that defines the function with ``__device__``, outside of any namespace. Errors and
        profilers name the lines of the file in which it was written.
    name : str, optional
        The function's name; by default that of the only one with ``__device__`` in the source.

    Attributes
    ----------
    name : str
        The function's name.
    source : str
        The CUDA C++.
    parameters : tuple of DType
        The types of its parameters.
    returns : DType
        The type of its result.
    file : str
        Where the source is.
    line : int
        Where it begins there.

    Raises
    ------
    TypeError
        The source or the name is no string, or a type of the function has no tiles.
    ValueError
        The source defines no such function, or several. A comment, a string, a brace or a
        conditional in it is not closed.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> softplus = ct.device_function(
    ...     "__device__ float softplus(float x) { return log1pf(expf(x)); }"
    ... )
    >>> softplus.parameters
    (<DType 'float32'>,)
    """

    def __init__(self, source: str, /, name: str | None = None) -> None:
        if not isinstance(source, str):
            raise TypeError(f"source must be a str of CUDA C++, not {type(source).__name__}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        if "\0" in source:
            raise ValueError("source must not contain null characters")
        require_whole(source)
        self.source = source
        self.name, returns, parameters = _declaration(source, name)
        self.returns = _type(returns, f"the result of {self.name}()")
        self.parameters = tuple(
            _type(without_name(text), f"parameter {place} of {self.name}()")
            for place, text in enumerate(parameters, 1)
        )
        self.file, self.line = _place(source, self.name)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *args: Any) -> Any:
        """Refuse: only kernels call it."""
        if host_callers:
            return host_callers[-1](self, args, {})
        raise RuntimeError(
            "Device functions can only be called from device code: "
            f"{self.name}() belongs in a kernel or in a function that a kernel calls."
        )

    def __repr__(self) -> str:
        parameters = ", ".join(map(str, self.parameters))
        return f"<device function {self.name}({parameters}) -> {self.returns}>"


def _declaration(source: str, name: str | None) -> tuple[str, str, list[str]]:
    found = functions_of(source)
    names = [each[0] for each in found]
    chosen = [each for each in found if name in {None, each[0]}]
    if not chosen:
        which = f"{name}()" if name is not None else "function"
        others = f"; there are {', '.join(names)}" if names else ""
        raise ValueError(f"the source defines no {which} with __device__{others}")
    if len(chosen) > 1:
        if name is None and len(set(names)) == len(names):
            listed = ", ".join(names)
            raise ValueError(f"the source defines several functions, so pass a name of: {listed}")
        twice = next(each for each in names if names.count(each) > 1)
        raise ValueError(f"the source defines several functions named {name or twice}()")
    return chosen[0]


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+|\S", text) if word not in _SPECIFIERS]


def without_name(parameter: str) -> str:
    """Return the type of a parameter."""
    words = _words(parameter.partition("=")[0])
    if len(words) > 1 and " ".join(words) not in TYPES:
        words.pop()
    return " ".join(words)


def type_name(text: str) -> str:
    """Return the type of a declaration, as `TYPES` has it, without what else stands there."""
    return " ".join(_words(text))


def _type(text: str, what: str) -> DType:
    name = type_name(text)
    if name not in TYPES:
        raise TypeError(
            f"{what} has the type {name!r}, of which there are no tiles; "
            f"those that can be are {', '.join(sorted(TYPES))}"
        )
    return TYPES[name]


def _place(source: str, name: str) -> tuple[str, int]:
    """Return the file and the line in which a source was written, as far as it is found there."""
    caller = sys._getframe(2)  # noqa: SLF001 - inspect's way takes milliseconds
    file = caller.f_code.co_filename
    lines = linecache.getlines(file)
    text = "".join(lines)
    call = sum(map(len, lines[: caller.f_lineno - 1]))
    place = text.find(source, call)
    if place < 0:
        place = text.find(source)
    return (f"<{name}>", 1) if place < 0 else (file, 1 + text.count("\n", 0, place))
