# SPDX-License-Identifier: Apache-2.0
"""Histograms: as counts, as a line of text, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cudacore._benchmark.times import BenchmarkTimes

_BINS = 24
_LEVELS = "▁▂▃▄▅▆▇█"
_WIDTH = 8
_HEIGHT = 40


class Histogram(NamedTuple):
    """Counts in bins of equal width, and the number of times beyond the last."""

    low: float
    high: float
    counts: list[int]
    beyond: int


def histogram(times: BenchmarkTimes) -> Histogram:
    """Count times; what lies far above the rest, as after an interruption, is beyond."""
    _, third = times.quartiles
    low, high = times.min, min(times.max, third + 3 * times.iqr)
    counts = [0] * _BINS
    width = (high - low) / _BINS
    if width <= 0:
        return Histogram(low, low, [len(times)], 0)
    inside = [one for one in times.samples if one <= high]
    for one in inside:
        counts[min(int((one - low) / width), _BINS - 1)] += 1
    return Histogram(low, high, counts, len(times) - len(inside))


def text_bars(counts: list[int]) -> str:
    """Draw one character for each bin; an empty one is a space."""
    top = max(counts)
    return "".join(
        _LEVELS[-(-count * len(_LEVELS) // top) - 1] if count else " " for count in counts
    )


def svg_bars(counts: list[int]) -> str:
    """Draw the bins as a picture for notebooks."""
    top = max(counts)
    bars = "".join(
        f'<rect x="{index * _WIDTH}" y="{_HEIGHT - height}" width="{_WIDTH - 1}" '
        f'height="{height}"/>'
        for index, count in enumerate(counts)
        if (height := -(-count * _HEIGHT // top))
    )
    return (
        f'<svg width="{_WIDTH * len(counts)}" height="{_HEIGHT}" fill="currentColor" '
        f'role="img">{bars}</svg>'
    )
