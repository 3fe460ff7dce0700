# SPDX-License-Identifier: Apache-2.0
"""Errors of kernels in Python, and the places in the source that they speak of."""

import linecache
from typing import TYPE_CHECKING, Optional
from unicodedata import east_asian_width

from cudacore._public import public
from cudacore.tile._dataclass import dataclass, replace

if TYPE_CHECKING:
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in the source: lines count from 1, columns from 0 in bytes, as in `ast`."""

    line: int
    col: int
    filename: str | None = None
    last_line: int | None = None
    end_col: int | None = None
    function: str | None = None
    call_site: Optional["Loc"] = None

    def __str__(self) -> str:
        return f"{self.filename or '<unknown>'}:{self.line}:{self.col}"

    @classmethod
    def unknown(cls) -> "Loc":
        """Return the place of what has none."""
        return _UNKNOWN

    def is_unknown(self) -> bool:
        """Return whether this stands for no place at all."""
        return self is _UNKNOWN

    def with_call_site(self, call_site: Optional["Loc"]) -> "Loc":
        """Return this place, reached through a call."""
        return replace(self, call_site=call_site)

    def __enter__(self) -> "Loc":  # noqa: PYI034 - typing has Self from 3.11 on
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        """Give an error without a place this one."""
        if isinstance(error, TileError) and error.loc.is_unknown():
            error.loc = self


_UNKNOWN = Loc(line=0, col=0)


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(c) in ("W", "F") else 1 for c in text)


def _format_frame(loc: Loc) -> str:
    if loc.filename is None:
        return "  (no place in the source is known)\n"
    on_one_line = loc.last_line in (None, loc.line)
    lines = f"line {loc.line}" if on_one_line else f"lines {loc.line}--{loc.last_line}"
    text = linecache.getline(loc.filename, loc.line).rstrip("\n")
    encoded = text.encode()
    end = loc.end_col if on_one_line and loc.end_col is not None else len(encoded)
    first = _columns(encoded[: loc.col].decode(errors="replace"))
    last = max(first + 1, _columns(encoded[:end].decode(errors="replace")))
    columns = f"col {first + 1}" if last == first + 1 else f"col {first + 1}-{last}"
    function = f", in {loc.function}" if loc.function else ""
    where = f'  "{loc.filename}", {lines}, {columns}{function}:\n'
    return f"{where}    {text}\n    {' ' * first}{'^' * (last - first)}\n"


def format_location(loc: Loc) -> str:
    """Return the chain of calls to a place, outermost first, each with its line and carets.

    Of a very long chain, as recursion makes one, the middle is left out.
    """
    frames = []
    place: Loc | None = loc
    while place is not None:
        frames.append(place)
        place = place.call_site
    frames.reverse()
    most = 20
    if len(frames) <= most:
        return "".join(map(_format_frame, frames))
    left_out = f"  ... {len(frames) - most} calls left out ...\n"
    first, last = frames[: most // 2], frames[-(most // 2) :]
    return "".join(map(_format_frame, first)) + left_out + "".join(map(_format_frame, last))


@public("cudacore.tile")
class TileError(Exception):
    """Base of what compiling a kernel raises; its text names the place and its callers.

    Examples
    --------
    >>> import cudacore
    >>> import cudacore.tile as ct
    >>> @ct.kernel
    ... def three(x):
    ...     ct.store(x, 0, ct.load(x, 0, shape=3))
    >>> x = cudacore.Device().allocate(64).view("float32")
    >>> try:
    ...     three.cuda_source((x,))
    ... except ct.TileError as error:
    ...     print(type(error).__name__, error.loc.line)
    TileTypeError 3
    """

    def __init__(self, message: str, loc: Loc = _UNKNOWN) -> None:
        super().__init__(message)
        self.message = message
        self.loc = loc

    def __str__(self) -> str:
        return f"{self.message}\n{format_location(self.loc)}"


def without_frames(error: Exception) -> Exception:
    """Return an error for a public function to raise again.

    What is wrong with a kernel is told by the places in its source, which dozens of frames of the
    compiler would hide. Other errors, the compiler's own among them, keep their frames.
    """
    is_of_kernel = isinstance(error, TileError) and not isinstance(error, TileInternalError)
    return error.with_traceback(None) if is_of_kernel else error


@public("cudacore.tile")
class TileSyntaxError(TileError):
    """The kernel uses Python that the language lacks."""


@public("cudacore.tile")
class TileTypeError(TileError):
    """A value has a type, a data type or a shape that does not fit."""


@public("cudacore.tile")
class TileRecursionError(TileError):
    """Calls nest too deep: all calls are inlined, so recursion must end while compiling."""


@public("cudacore.tile")
class TileValueError(TileError):
    """A constant has a value that does not fit."""


@public("cudacore.tile")
class TileUnsupportedFeatureError(TileError):
    """The device, or this version, lacks what the kernel asks for."""


@public("cudacore.tile")
class TileInternalError(TileError):
    """The compiler met what it did not expect; the cause is chained."""


@public("cudacore.tile")
class TileStaticEvalError(TileError):
    """The expression within static_eval() does what cannot be done while compiling."""


@public("cudacore.tile")
class TileStaticAssertionError(TileError):
    """The condition of static_assert() is false."""

    def __init__(self, message: str, loc: Loc = _UNKNOWN) -> None:
        super().__init__("Static assertion failed" + (f": {message}" if message else ""), loc)


class UnsupportedCallError(TileError):
    """The kernel calls a function or makes a type that code on the device cannot."""


class TileCompilerError(TileInternalError):
    """The code generator refused what the front end made."""


@public("cudacore.tile")
class TileCompilerExecutionError(TileCompilerError):
    """The device compiler refused the generated code; the message has its log."""


@public("cudacore.tile")
class TileCompilerTimeoutError(TileCompilerError):
    """The device compiler ran past its time."""
