# SPDX-License-Identifier: Apache-2.0
"""What printing, assertions and dependent launches do in a kernel."""

from __future__ import annotations

import re

from cudacore.tile import _dtype
from cudacore.tile import _language_control as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._operand import (
    Operand,
    astype,
    data_type,
    describe,
    lift,
    tile,
    value_of,
)
from cudacore.tile._operation import implements
from cudacore.tile._value import Constant, FormattedString, Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._scope import Scope
    from cudacore.tile._text import Value

_INTEGER = frozenset("diouxX")
_FLOAT = frozenset("eEfFgGaA")
_C_FORMAT = re.compile(r"%([0 #+-]*)([0-9]*)(\.[0-9]+)?(hh|h|ll|l)?([a-zA-Z])")
_PYTHON_FORMAT = re.compile(r"([<>^])?([+ -])?(#)?(0)?([0-9]+)?(\.[0-9]+)?([diouxXeEfFgGaA])?")


def _fits(dtype: DType, conversion: str) -> bool:
    return conversion in (_FLOAT if dtype.is_float else _INTEGER)


def _default(dtype: DType) -> str:
    if dtype.is_float:
        return "f"
    return "d" if dtype.signed or dtype.is_boolean else "u"


def _length(dtype: DType, conversion: str) -> str:
    long = dtype.is_integer and dtype.bitwidth == 64  # noqa: PLR2004
    return f"ll{conversion}" if long else conversion


def c_spec(spec: str, dtype: DType) -> str:
    """Give C's conversion, without the percent sign, for a format of Python's.

    Parameters
    ----------
    spec : str
        What follows the colon in an f-string.
    dtype : DType
        What is written.

    Raises
    ------
    MismatchError
        C has nothing like it, or it does not fit the data type.
    """
    match = _PYTHON_FORMAT.fullmatch(spec)
    if match is None:
        raise MismatchError(
            f"print(): unsupported format spec '{spec}'; there are alignment, sign, #, 0, width, "
            "precision, and one of diouxXeEfFgGaA"
        )
    align, sign, alternate, zero, width, precision, conversion = match.groups(default="")
    if conversion and not _fits(dtype, conversion):
        raise MismatchError(f"print(): format spec '{spec}' is incompatible with dtype {dtype}")
    if align == "^" or (zero and align == "<"):
        raise MismatchError(
            f"print(): format spec '{spec}' is not supported: numbers are aligned by < or >, and "
            "zeros fill from the left"
        )
    flags = ("-" if align == "<" else "") + sign.replace("-", "") + alternate
    return flags + zero + width + precision + _length(dtype, conversion or _default(dtype))


def _printable(scope: Scope, x: Operand) -> Operand:
    """Convert what the device's printf has no conversion for."""
    dtype = data_type(x)
    if dtype.is_float and dtype not in (_dtype.float32, _dtype.float64):
        return astype(scope, x, _dtype.float32)
    return x


def _require_printable(name: str, text: str) -> None:
    """Refuse a text that the device would write a part of."""
    if "\0" in text:
        raise MismatchError(f"{name}: a text must not contain null characters")


def _write(scope: Scope, pieces: Sequence[str | tuple[Operand, str]]) -> None:
    """Append the operation that writes text and values with C's conversions."""
    text: list[str] = []
    values: list[Value] = []
    for piece in pieces:
        if isinstance(piece, str):
            _require_printable("print()", piece)
            text.append(piece.replace("%", "%%"))
        else:
            value, spec = piece
            text.append(f"%{len(values)}:{spec}")
            values.append(value_of(scope, _printable(scope, value)))
    scope.ops("print", *values, attributes={"format": "".join(text)})


def _pieces(scope: Scope, value: object) -> list[str | tuple[Operand, str]]:
    lifted = lift(value)
    if isinstance(lifted, Constant) and isinstance(lifted.value, str):
        return [lifted.value]
    if not isinstance(lifted, FormattedString):
        if isinstance(lifted, Tile):
            return [(lifted, c_spec("", data_type(lifted)))]
        lifted = scope.call(Constant(str), (lifted,))
        return _pieces(scope, lifted)
    result: list[str | tuple[Operand, str]] = []
    for piece in lifted.pieces:
        if isinstance(piece, str):
            result.append(piece)
            continue
        item, spec = piece
        operand = tile(item)
        result.append((operand, c_spec(spec or "", data_type(operand))))
    return result


def _text(value: object, name: str) -> object:
    lifted = lift(value)
    known = isinstance(lifted, Constant) and isinstance(lifted.value, str)
    if not known and not isinstance(lifted, FormattedString):
        raise MismatchError(
            f'Invalid argument "{name}" of print(): Expected a string, '
            f"but given value has type {describe(lifted)}"
        )
    return lifted


@implements(language.print, print)
def print_(scope: Scope, *args: object, sep: object = " ", end: object = "\n") -> None:
    """Print values."""
    between, last = _text(sep, "sep"), _text(end, "end")
    pieces: list[str | tuple[Operand, str]] = []
    for i, arg in enumerate(args):
        if i:
            pieces += _pieces(scope, between)
        pieces += _pieces(scope, arg)
    _write(scope, [*pieces, *_pieces(scope, last)])


@implements(language.printf)
def printf(scope: Scope, format: object, *args: object) -> None:  # noqa: A002
    """Print values with a format of C's."""
    text = argument.string(format)
    values = [tile(arg) for arg in args]
    pieces: list[str | tuple[Operand, str]] = []
    position = used = 0
    while (start := text.find("%", position)) >= 0:
        pieces.append(text[position:start])
        if text.startswith("%%", start):
            pieces.append("%")
            position = start + 2
            continue
        match = _C_FORMAT.match(text, start)
        if match is None:
            raise MismatchError(f"Invalid format string: {text[start:]!r}")
        flags, width, precision, _, conversion = match.groups(default="")
        if conversion not in _INTEGER | _FLOAT:
            raise MismatchError(f"Specifier {conversion} in {match.group()} is not supported")
        if used >= len(values):
            raise MismatchError("Not enough arguments for format string")
        value = values[used]
        if not _fits(data_type(value), conversion):
            raise MismatchError(
                f"Format {match.group()} for arg #{used} got unexpected type of {describe(value)}"
            )
        spec = flags + width + precision + _length(data_type(value), conversion)
        pieces.append((value, spec))
        used += 1
        position = match.end()
    if used < len(values):
        raise MismatchError("Too many arguments for format string")
    _write(scope, [*pieces, text[position:]])


@implements(language.assert_)
def assert_(scope: Scope, cond: object, message: object) -> None:
    """Stop the kernel if a condition does not hold."""
    condition = tile(cond)
    if not data_type(condition).is_boolean:
        raise MismatchError(f"Type of condition must be bool, got {describe(condition)}")
    text = "" if argument.is_none(message) else argument.string(message)
    _require_printable("assert_()", text)
    condition = astype(scope, condition, _dtype.bool_)
    scope.ops("assert", value_of(scope, condition), attributes={"message": text})


@implements(language.grid_dependency_control_wait)
def grid_wait(scope: Scope) -> None:
    """Wait for the kernel before this one."""
    scope.ops("grid_wait")


@implements(language.grid_dependency_control_launch_dependents)
def grid_launch_dependents(scope: Scope) -> None:
    """Let the kernel after this one begin."""
    scope.ops("grid_launch_dependents")
