# SPDX-License-Identifier: Apache-2.0
"""Strings: what str, repr and f-strings give for values that only the device knows."""

import dataclasses
from collections.abc import Sequence

from cudacore.tile._evaluate import Evaluator
from cudacore.tile._exception import TileTypeError
from cudacore.tile._merge import is_number
from cudacore.tile._operand import describe
from cudacore.tile._reads import note_trouble
from cudacore.tile._record import method, record_type
from cudacore.tile._value import Constant, FormattedString, Record, Tile


def is_string(value: object) -> bool:
    """Return whether a value is a string, known or not."""
    known = isinstance(value, Constant) and isinstance(value.value, str)
    return known or isinstance(value, FormattedString)


def is_known(value: FormattedString) -> bool:
    """Return whether all that a string shows is known while compiling."""
    held = [piece[0] for piece in value.pieces if not isinstance(piece, str)]
    return all(isinstance(each, Constant) for each in held)


def shown(value: object) -> str:
    """Return a string for a message; of what only the device knows, it has the type."""
    if isinstance(value, Constant):
        return str(value.value)
    pieces = value.pieces if isinstance(value, FormattedString) else ((value, None),)
    return "".join(map(_piece, pieces))


def _piece(piece: str | tuple[object, str | None]) -> str:
    if isinstance(piece, str):
        return piece
    held, spec = piece
    if not isinstance(held, Constant):
        return f"<{describe(held)}>"
    try:
        return format(held.value, spec or "")
    except ValueError:
        return str(held.value)


def joined_string(parts: Sequence[object]) -> object:
    """Return strings one after another."""
    pieces: list[str | tuple[object, str | None]] = []
    for part in parts:
        own = part.pieces if isinstance(part, FormattedString) else (part.value,)  # type: ignore[attr-defined]
        for piece in own:
            if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            elif piece != "":
                pieces.append(piece)
    if not pieces:
        return Constant("")
    if len(pieces) == 1 and isinstance(pieces[0], str):
        return Constant(pieces[0])
    return FormattedString(tuple(pieces))


def formatted(evaluator: Evaluator, value: object, spec: str | None) -> object:
    """Return a value of an f-string as a string."""
    if isinstance(value, Tile) or is_number(value):
        return FormattedString(((value, spec),))
    if isinstance(value, Record):
        own = method(value.type, "__format__")
        if own is not None and own is not object.__format__:
            evaluator.error(
                TileTypeError,
                "Formatting dataclass values with custom __format__() is not supported",
            )
    if spec is not None:
        evaluator.error(
            TileTypeError,
            f"f-string: cannot apply format spec to a value of type {describe(value)}",
        )
    return text(evaluator, value)


def text(evaluator: Evaluator, value: object) -> object:
    """Return what ``str(value)`` is."""
    if is_string(value):
        return value
    if isinstance(value, Constant):
        _note(value)
        return Constant(str(value.value))
    if isinstance(value, Record):
        own = method(value.type, "__str__")
        if own is not None and own is not object.__str__:
            return _own(evaluator, value, "__str__", own)
    return representation(evaluator, value)


def representation(evaluator: Evaluator, value: object) -> object:
    """Return what ``repr(value)`` is."""
    if isinstance(value, Constant):
        _note(value)
        return Constant(repr(value.value))
    if isinstance(value, Tile):
        return FormattedString(((value, None),))
    if isinstance(value, FormattedString):
        return _quoted(value)
    if isinstance(value, tuple):
        parts: list[object] = [Constant("(")]
        for index, each in enumerate(value):
            parts += [Constant(", " if index else ""), representation(evaluator, each)]
        return joined_string([*parts, Constant(",)" if len(value) == 1 else ")")])
    if isinstance(value, Record):
        return _record(evaluator, value)
    return Constant(f"<object of type {describe(value)}>")


def _note(value: Constant) -> None:
    """Note that the text of an object is read, which of many objects has their address in it."""
    if type(value.value) not in {str, bool, int, float, type(None), type(...)}:
        note_trouble(f"the text of {value.value!r}")


def _record(evaluator: Evaluator, value: Record) -> object:
    if record_type(value.type).has_default_repr:
        shown = [each for each in dataclasses.fields(value.type) if each.repr]
        parts: list[object] = [Constant(f"{value.type.__qualname__}(")]
        for index, each in enumerate(shown):
            comma = ", " if index else ""
            parts.append(Constant(f"{comma}{each.name}="))
            parts.append(representation(evaluator, value.fields[each.name]))
        return joined_string([*parts, Constant(")")])
    own = method(value.type, "__repr__")
    if own is None or own is object.__repr__:
        return Constant(f"<{value.type.__qualname__} object>")
    return _own(evaluator, value, "__repr__", own)


def _own(evaluator: Evaluator, value: Record, name: str, function: object) -> object:
    result = evaluator.call(Constant(function), value)
    if not is_string(result):
        evaluator.error(
            TileTypeError,
            f"Expected {value.type.__name__}.{name}() to return a string, got {describe(result)}",
        )
    return result


def _quoted(value: FormattedString) -> FormattedString:
    literal = "".join(piece for piece in value.pieces if isinstance(piece, str))
    quote = '"' if "'" in literal and '"' not in literal else "'"
    # Python picks the quote that we want if the other one is in the string.
    other = "'" if quote == '"' else '"'
    pieces = [
        repr(other + piece)[1:-1].removeprefix("\\")[1:] if isinstance(piece, str) else piece
        for piece in value.pieces
    ]
    return joined_string([Constant(quote), FormattedString(tuple(pieces)), Constant(quote)])  # type: ignore[return-value]
