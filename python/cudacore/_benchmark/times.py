# SPDX-License-Identifier: Apache-2.0
"""Statistics of what the runs of a benchmark took."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from cudacore._public import public
from cudacore._text import count_text

_PREFIXES = (("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9))


@public("cudacore")
@dataclass(frozen=True)
class BenchmarkTimes:
    """What each run took for one call, in seconds.

    Parameters
    ----------
    samples : tuple of float
        One for each run, in their order.
    """

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.samples)

    @property
    def mean(self) -> float:
        """The mean, in seconds."""
        return statistics.fmean(self.samples)

    @property
    def min(self) -> float:
        """The shortest, in seconds."""
        return min(self.samples)

    @property
    def max(self) -> float:
        """The longest, in seconds."""
        return max(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third quartile, in seconds."""
        if len(self.samples) == 1:
            return self.samples[0], self.samples[0]
        first, _, third = statistics.quantiles(self.samples, n=4, method="inclusive")
        return first, third

    @property
    def iqr(self) -> float:
        """The interquartile range, in seconds."""
        first, third = self.quartiles
        return third - first

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        runs = count_text(len(self), "run")
        return f"<{seconds_text(self.median)}, IQR {seconds_text(self.iqr)}, {runs}>"

    def to_dict(self) -> dict[str, object]:
        """Return the statistics and the samples, for JSON."""
        first, third = self.quartiles
        return {
            "median": self.median, "q1": first, "q3": third, "iqr": third - first,
            "mean": self.mean, "min": self.min, "max": self.max, "samples": list(self.samples),
        }  # fmt: skip


def seconds_text(seconds: float) -> str:
    """Write seconds with three digits and a unit that fits."""
    return _scaled(seconds, "s", _PREFIXES)


def rate_text(rate: float, unit: str) -> str:
    """Write a rate such as bytes per second with three digits and a unit that fits."""
    prefixes = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
    return _scaled(rate, unit, prefixes)


def _scaled(value: float, unit: str, prefixes: tuple[tuple[str, float], ...]) -> str:
    """Use the first prefix that leaves at least 1, or the last."""
    prefix, factor = next(
        (pair for pair in prefixes if abs(value) >= 0.9995 * pair[1]), prefixes[-1]
    )
    scaled = value / factor
    digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0  # noqa: PLR2004
    return f"{scaled:.{digits}f} {prefix}{unit}"
