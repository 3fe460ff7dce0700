# SPDX-License-Identifier: Apache-2.0
"""What a benchmark found out about several functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cudacore._benchmark import text
from cudacore._benchmark.result import BenchmarkResult
from cudacore._public import public


@public("cudacore")
class BenchmarkComparison(Mapping[str, BenchmarkResult]):
    """Functions that were timed in turns: a mapping of their names to their results.

    `cudacore.benchmark` returns it for a list or a dict of functions.
    """

    __slots__ = ("_results",)

    def __init__(self, results: Mapping[str, BenchmarkResult]) -> None:
        self._results = dict(results)

    def __getitem__(self, name: str) -> BenchmarkResult:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def fastest(self) -> BenchmarkResult:
        """The one with the lowest median of the GPU times."""
        return min(self._results.values(), key=lambda result: result.gpu.median)

    def speedup(self, name: str) -> float:
        """Return how many times faster than the first function this one is on the device.

        Parameters
        ----------
        name : str

        Returns
        -------
        float
            The ratio of the medians; above 1 if it is faster than the first.

        Raises
        ------
        KeyError
            No function has this name.
        """
        mine = self[name].gpu.median
        first = next(iter(self._results.values())).gpu.median
        return first / mine if mine > 0 else float("nan")

    def is_distinct(self, name: str) -> bool:
        """Tell whether a function's quartiles lie apart from those of the first.

        Parameters
        ----------
        name : str

        Returns
        -------
        bool
            If False, the speedup may well be noise.

        Raises
        ------
        KeyError
            No function has this name.
        """
        low, high = self[name].gpu.quartiles
        first_low, first_high = next(iter(self._results.values())).gpu.quartiles
        return high < first_low or low > first_high

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain dicts, by name."""
        return {name: result.to_dict() for name, result in self.items()}

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def plot(self, ax: Any = None) -> Any:
        """Draw a box for the GPU times of each function with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from cudacore._benchmark import plot  # noqa: PLC0415

        return plot.boxes(self, ax)

    def __repr__(self) -> str:
        return text.of_comparison(self)

    def _repr_html_(self) -> str:
        return text.html_of_comparison(self)
