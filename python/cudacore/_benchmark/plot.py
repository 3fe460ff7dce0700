# SPDX-License-Identifier: Apache-2.0
"""Results as pictures, with matplotlib if it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudacore._other_library import import_library

if TYPE_CHECKING:
    from cudacore._benchmark.comparison import BenchmarkComparison
    from cudacore._benchmark.result import BenchmarkResult

_MICROSECONDS = "GPU time per call in µs"


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    instead = "the repr of a result has a histogram that needs nothing"
    pyplot = import_library("matplotlib.pyplot", "plot()", "matplotlib", "matplotlib", instead)
    return pyplot.subplots()[1]


def histogram(result: BenchmarkResult, ax: Any) -> Any:
    """Draw the distribution of the GPU times, with a line at the median."""
    ax = _axes(ax)
    ax.hist([1e6 * one for one in result.gpu.samples], bins="auto")
    ax.axvline(1e6 * result.gpu.median, linestyle="--", color="black", label="median")
    ax.set_xlabel(_MICROSECONDS)
    ax.set_ylabel("runs")
    ax.set_title(f"{result.name} on {result.device}")
    ax.legend()
    return ax


def boxes(comparison: BenchmarkComparison, ax: Any) -> Any:
    """Draw a box with whiskers for each function."""
    ax = _axes(ax)
    ax.boxplot([[1e6 * one for one in result.gpu.samples] for result in comparison.values()])
    ax.set_xticks(range(1, len(comparison) + 1), list(comparison))
    ax.set_ylim(bottom=0)
    ax.set_ylabel(_MICROSECONDS)
    ax.set_title(comparison.fastest.device)
    return ax
