# SPDX-License-Identifier: Apache-2.0
"""Results as text and as HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from cudacore._benchmark.histogram import histogram, svg_bars, text_bars
from cudacore._benchmark.times import rate_text, seconds_text
from cudacore._text import count_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cudacore._benchmark.comparison import BenchmarkComparison
    from cudacore._benchmark.result import BenchmarkResult
    from cudacore._benchmark.times import BenchmarkTimes


def of_result(result: BenchmarkResult) -> str:
    """Write a result on a few lines."""
    bars = histogram(result.gpu)
    beyond = f" (+{bars.beyond} beyond)" if bars.beyond else ""
    drawn = f"{seconds_text(bars.low)} {text_bars(bars.counts)} {seconds_text(bars.high)}{beyond}"
    lines = [
        f"{result.name} on {result.device}",
        f"  GPU  {_runs(result)}",
        f"       {drawn}",
        f"  CPU  {_times(result.cpu)}",
        *(f"  {line}" for line in (*_rates(result), _conditions(result))),
        *(f"  note: {note}" for note in result.notes),
    ]
    return "\n".join(lines)


def _times(times: BenchmarkTimes) -> str:
    first, third = times.quartiles
    return (
        f"{seconds_text(times.median)} (quartiles {seconds_text(first)} and {seconds_text(third)})"
    )


def _runs(result: BenchmarkResult) -> str:
    return f"{_times(result.gpu)}, {count_text(len(result.gpu), 'run')}"


def _rates(result: BenchmarkResult) -> Iterable[str]:
    if result.bandwidth:
        part = ""
        if result.peak_bandwidth:
            percent = 100 * result.bandwidth / result.peak_bandwidth
            peak = rate_text(result.peak_bandwidth, "B/s")
            part = f", {percent:.0f} % of the {peak} of the device's memory"
        yield rate_text(result.bandwidth, "B/s") + part
    if result.throughput:
        yield rate_text(result.throughput, "FLOP/s")


def _conditions(result: BenchmarkResult) -> str:
    """Write how it was measured."""
    if result.simulated:
        clocks = "the times are the simulator's"
    elif result.clocks is None:
        clocks = "clocks unknown"
    else:
        low, high = result.clocks.sm_mhz
        clocks = f"clock {low} MHz" if low == high else f"clock {low} to {high} MHz"
    cache = "L2 emptied before each run" if result.flushed_l2 else "L2 not emptied"
    return f"{count_text(result.calls, 'call')} per run; {cache}; {clocks}"


def of_comparison(comparison: BenchmarkComparison) -> str:
    """Write a table, with the first function as the reference."""
    rows = _rows(comparison)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *_shared_notes(comparison)])


def _rows(comparison: BenchmarkComparison) -> list[Sequence[str]]:
    with_rates = any(result.bandwidth or result.throughput for result in comparison.values())
    rows: list[Sequence[str]] = [
        ("", "GPU", "IQR", "CPU", "speedup", *(("rate",) if with_rates else ()))
    ]
    for number, (name, result) in enumerate(comparison.items()):
        sure = "" if number == 0 or comparison.is_distinct(name) else "~"
        rates = (
            rate_text(rate, unit)
            for rate, unit in ((result.bandwidth, "B/s"), (result.throughput, "FLOP/s"))
            if rate
        )
        rows.append((
            name, seconds_text(result.gpu.median), seconds_text(result.gpu.iqr),
            seconds_text(result.cpu.median), f"{sure}{comparison.speedup(name):.2f}",
            *((", ".join(rates),) if with_rates else ()),
        ))  # fmt: skip
    return rows


def _shared_notes(comparison: BenchmarkComparison) -> list[str]:
    """Write each note once, with the functions that it is about."""
    about: dict[str, list[str]] = {}
    for name, result in comparison.items():
        for note in (_conditions(result), *result.notes):
            about.setdefault(note, []).append(name)
    notes = [
        note if len(names) == len(comparison) else f"{', '.join(names)}: {note}"
        for note, names in about.items()
    ]
    if any(not comparison.is_distinct(name) for name in list(comparison)[1:]):
        notes.append("~: the quartiles overlap with those of the first, so this may be noise")
    return notes


def html_of_result(result: BenchmarkResult) -> str:
    """Write a result as a table with a histogram."""
    bars = histogram(result.gpu)
    rows = [
        ("GPU", _runs(result)),
        ("CPU", _times(result.cpu)),
        *(("rate", line) for line in _rates(result)),
        ("how", _conditions(result)),
        *(("note", note) for note in result.notes),
    ]
    cells = "".join(
        f"<tr><th>{html.escape(title)}</th><td>{html.escape(line)}</td></tr>"
        for title, line in rows
    )
    title = html.escape(f"{result.name} on {result.device}")
    return f"<table><caption>{title}</caption>{cells}</table>{svg_bars(bars.counts)}"


def html_of_comparison(comparison: BenchmarkComparison) -> str:
    """Write the same table as the text."""
    head, *rows = _rows(comparison)
    cells = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in _shared_notes(comparison))
    return f"<table><tr>{titles}</tr>{cells}</table>{notes}"
