# SPDX-License-Identifier: Apache-2.0
"""Prints the results side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from specification import Row

Cell: TypeAlias = dict[str, object]
# row name -> column ("c" or a peer) -> cell
Cells: TypeAlias = dict[str, dict[str, Cell]]

ABSENT = "-"


def number(cell: Cell | None, key: str) -> float | None:
    """Return a cell's number; None if it has none."""
    value = cell.get(key) if cell is not None else None
    return float(value) if isinstance(value, (int, float)) else None


def duration(nanoseconds: float | None) -> str:
    """Return a duration as three digits and a unit."""
    if nanoseconds is None:
        return ABSENT
    value = nanoseconds
    for unit in ("ns", "µs", "ms"):
        if abs(value) < 999.5:
            digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            return f"{value:.{digits}f} {unit}"
        value /= 1000
    return f"{value:.2f} s"


def ratio(cell: Cell | None, floor: Cell | None) -> float | None:
    """Return a median as a multiple of C's."""
    median, floor_median = number(cell, "median_ns"), number(floor, "median_ns")
    if median is None or not floor_median:
        return None
    return median / floor_median


def _triple(cell: Cell | None, multiple: float | None, *, with_ratio: bool) -> list[str]:
    width = 3 if with_ratio else 2
    if cell is None:
        return [ABSENT] * width
    if "error" in cell:
        name = str(cell["error"]).partition(":")[0].rpartition(".")[2]
        return [name[:18], "", ""][:width]
    out = [duration(number(cell, "median_ns")), duration(number(cell, "min_ns"))]
    if with_ratio:
        out.append(ABSENT if multiple is None else f"{multiple:.2f}")
    return out


def render(rows: list[Row], peers: list[str], cells: Cells) -> str:
    """Return the table as text: median, min and ratio to C for each column."""
    heads = ["row", "C", "min"]
    for peer in peers:
        heads += [peer, "min", "/ C"]
    lines = [heads]
    for row in rows:
        columns = cells.get(row.name, {})
        line = [row.title, *_triple(columns.get("c"), None, with_ratio=False)]
        for peer in peers:
            cell = columns.get(peer)
            line += _triple(cell, ratio(cell, columns.get("c")), with_ratio=True)
        lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    text = []
    for index, line in enumerate(lines):
        parts = []
        for i, (item, width) in enumerate(zip(line, widths, strict=True)):
            opens_group = i == 1 or (i >= 3 and i % 3 == 0)
            parts.append(("| " if opens_group else "") + _aligned(item, width, left=i == 0))
        text.append(" ".join(parts))
        if index == 0:
            text.append("-" * len(text[0]))
    return "\n".join(text)


def _aligned(item: str, width: int, *, left: bool) -> str:
    return item.ljust(width) if left else item.rjust(width)
