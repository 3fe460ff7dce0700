# SPDX-License-Identifier: Apache-2.0
"""What NVRTC says about a cell, beside the lines of the cell."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from cudacore._advice import advice
from cudacore._text import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What the compiler calls the cell. It is part of the program, so it is the same for every cell:
#: a cell that is run again is found in the cache of programs.
CELL = "cell.cu"

#: How many errors are shown. One mistake in a template can cause hundreds.
MOST = 5

RED, YELLOW, GREEN, BOLD, PLAIN = (f"\x1b[{code}m" for code in ("0;31", "0;33", "0;32", "1", "0"))

_HEAD = re.compile(
    r"(?:(?P<file>\S.*?)\((?P<line>\d+)\)|At end of source): "
    r"(?P<kind>(?:(?:catastrophic )?error|warning|remark|note)(?: #\d+(?:-D)?)?): (?P<text>.*)"
)
_COUNTS = re.compile(
    r"\s*(and )?\d+ (catastrophic )?errors? .*|Compilation terminated\.|"
    r"Remark: The warnings can .*"
)
_PRAGMA = "#pragma nv_mangled_name "


class Entry(NamedTuple):
    """One error or warning."""

    file: str
    line: int  #: 0 at the end of the source
    kind: str
    text: str
    rest: list[str]  #: the line of the source, a line with a caret, and details; or less

    @property
    def is_error(self) -> bool:
        """Whether it stopped the compilation."""
        return "error" in self.kind

    def excerpt(self) -> tuple[str, int, list[str]]:
        """Return the line of the source, the character in it that is meant, and the details.

        The line is empty and the character is -1 if the compiler showed none.
        """
        for row in range(1, len(self.rest)):
            if self.rest[row].strip() == "^":
                # The compiler counts bytes, and indents both lines by two spaces.
                column = self.rest[row].index("^")
                before = self.rest[row - 1].encode()[:column].decode(errors="ignore")
                details = self.rest[: row - 1] + self.rest[row + 1 :]
                return self.rest[row - 1][2:], len(before) - 2, details
        return "", -1, self.rest


def parse(log: str) -> tuple[list[Entry], list[str]]:
    """Split a log into its entries and the lines that belong to none."""
    entries: list[Entry] = []
    others: list[str] = []
    is_inside = False
    for line in log.split("\n"):
        head = _HEAD.fullmatch(line)
        if head:
            place = head["file"] or CELL, int(head["line"] or 0)
            entries.append(Entry(*place, head["kind"], head["text"], []))
        elif is_inside and line.strip():
            entries[-1].rest.append(line)
        elif line.strip() and not _COUNTS.fullmatch(line):
            others.append(line)
        is_inside = bool(line.strip()) and (is_inside or head is not None)
    return entries, others


def render(entry: Entry, lines_of_cell: Sequence[str]) -> list[str]:
    """Lay out an entry like IPython's own tracebacks.

    Parameters
    ----------
    entry : Entry
    lines_of_cell : sequence of str
        What was compiled.

    Returns
    -------
    list of str
        Lines with ANSI colors, which terminals and notebooks adapt to their theme.
    """
    excerpt, caret, details = entry.excerpt()
    before = ""
    margin = str(entry.line)
    if entry.file == CELL:
        where = f"line {entry.line}" if entry.line else "at the end of the cell"
        inside = 0 < entry.line <= len(lines_of_cell)
        excerpt = excerpt or (lines_of_cell[entry.line - 1] if inside else "")
        before = lines_of_cell[entry.line - 2] if inside and entry.line > 1 else ""
    elif excerpt.startswith(_PRAGMA):
        where, margin = "--name", ""
        excerpt, caret = excerpt[len(_PRAGMA) :], max(caret - len(_PRAGMA), 0)
    else:
        where = f"{entry.file}, line {entry.line}"
    color = RED if entry.is_error else YELLOW
    lines = [f"{GREEN}{where}{PLAIN}: {color}{entry.kind}{PLAIN}: {BOLD}{entry.text}{PLAIN}"]
    if before.strip():
        lines.append(f"{entry.line - 1:>7} {before}")
    if excerpt:
        lines.append(f"{GREEN}{'-' * (5 - len(margin))}> {margin}{PLAIN} {excerpt}")
    if excerpt and caret >= 0:
        lines.append(f"{'':>7} {_blank(excerpt[:caret])}{color}^{PLAIN}")
    return lines + details


def _blank(text: str) -> str:
    """Return white space as wide as a text."""
    return "".join(
        "\t" if char == "\t" else "  " if unicodedata.east_asian_width(char) in "WF" else " "
        for char in text
        if not unicodedata.combining(char)
    )


def render_error(message: str, log: str, source: str) -> list[str]:
    """Lay out what stopped a compilation; without `log`, the message alone.

    Parameters
    ----------
    message : str
        That of the `CompileError`, whose advice is kept.
    log : str
        The compiler's.
    source : str
        What was compiled.
    """
    entries, others = parse(log)
    errors = _errors(entries)
    if not errors:
        return f"{RED}CompileError{PLAIN}: {message}".split("\n")
    lines = [f"{RED}CompileError{PLAIN}: {count_text(len(errors), 'error')}"]
    for error in errors[:MOST]:
        for entry in error:
            lines += render(entry, source.split("\n"))
    if len(errors) > MOST:
        lines.append(f"(and {len(errors) - MOST} more; sys.last_value.log has all of them)")
    return lines + others + advice(message, log, source)


def _errors(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the errors, each with the notes that follow it."""
    groups: list[list[Entry]] = []
    for entry in entries:
        if entry.kind.startswith("note") and groups:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return [
        group
        for group in groups
        if group[0].is_error and not group[0].text.startswith("Error in parsing name expression")
    ]


def render_warnings(log: str, source: str) -> list[str]:
    """Lay out what the compiler said about a cell that it compiled."""
    entries, others = parse(log)
    return [line for entry in entries for line in render(entry, source.split("\n"))] + others
