# SPDX-License-Identifier: Apache-2.0
"""What the results of `cudacore.benchmark` say, of made-up times."""

import math
import sys
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import BenchmarkClocks, BenchmarkTimes
from cudacore._benchmark.clocks import ClockWatch
from cudacore._benchmark.histogram import histogram, text_bars
from cudacore._benchmark.notes import notes
from cudacore._benchmark.times import rate_text, seconds_text
from cudacore._benchmark.timing import Candidate, Sample


def test_statistics() -> None:
    times = BenchmarkTimes((1.0, 2.0, 3.0, 4.0, 100.0))
    assert (times.median, times.mean, times.min, times.max) == (3.0, 22.0, 1.0, 100.0)
    assert times.quartiles == (2.0, 4.0)
    assert times.iqr == 2.0
    assert BenchmarkTimes((5.0,)).quartiles == (5.0, 5.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.00 ns"), (3e-10, "0.30 ns"), (1e-6, "1.00 µs"), (9.996e-7, "1.00 µs"),
        (12.34e-6, "12.3 µs"), (123.4e-3, "123 ms"), (7.0, "7.00 s"), (3600.0, "3600 s"),
    ],
)  # fmt: skip
def test_seconds_as_text(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_rates_as_text() -> None:
    assert rate_text(4.8e12, "B/s") == "4.80 TB/s"
    assert rate_text(12.0, "B/s") == "12.0 B/s"


def test_histogram_keeps_outliers_apart() -> None:
    bars = histogram(BenchmarkTimes((*(1 + i * 0.001 for i in range(99)), 50.0)))
    assert bars.beyond == 1
    assert sum(bars.counts) == 99
    assert bars.high < 2
    assert len(text_bars(bars.counts)) == len(bars.counts)


def test_histogram_of_equal_times() -> None:
    bars = histogram(BenchmarkTimes((1.0, 1.0, 1.0)))
    assert (bars.counts, bars.beyond) == ([3], 0)
    assert text_bars([0, 1, 8]) == " ▁█"


def made_up(gpu: float, cpu: float, *, exposed: bool = False, **fields: Any) -> Candidate:
    return Candidate("f", lambda: None, [Sample(cpu, gpu, exposed)] * 20, **fields)


def clocks(*slowed_by: str, high: int = 1000) -> BenchmarkClocks:
    return BenchmarkClocks((1000, high), (2000, 2000), slowed_by)


def notes_on(one: Candidate, clocks: BenchmarkClocks | None = None, why: str = "") -> str:
    return "\n".join(notes(one, simulated=False, flushed=True, clocks=clocks, why_unknown=why))


@pytest.mark.parametrize(
    ("one", "clocks", "said"),
    [
        (made_up(50e-6, 80e-6), None, "bounded by launching"),
        (made_up(50e-6, 40e-6, exposed=True), None, "waits for the device itself"),
        (made_up(3e-6, 1e-6), None, "short for events"),
        (made_up(50e-6, 1e-6, is_stable=False), None, "did not settle"),
        (made_up(50e-6, 1e-6, escapes=True), None, "another stream"),
        (made_up(50e-6, 1e-6), clocks(high=1980), "1000 to 1980 MHz"),
        (made_up(50e-6, 1e-6), clocks("the power cap"), "by the power cap"),
    ],
)
def test_notes(one: Candidate, clocks: BenchmarkClocks | None, said: str) -> None:
    assert said in notes_on(one, clocks)


def test_no_notes_if_nothing_is_wrong() -> None:
    assert notes_on(made_up(50e-6, 1e-6), clocks(high=1010)) == ""
    assert notes_on(made_up(50e-3, 1e-6, exposed=True)) == ""


def test_noise_is_said() -> None:
    one = Candidate("f", lambda: None, [Sample(1e-6, (20 + i) * 1e-6, False) for i in range(30)])
    assert "noisy" in notes_on(one)


def test_unknown_clocks_are_said() -> None:
    assert "no NVML here" in notes_on(made_up(50e-6, 1e-6), None, "no NVML here")


def test_clock_watch_collects_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([(500, 100, 0x4), (1980, 2000, 0x0), (1900, 2000, 0x44)])
    watch = ClockWatch(lambda: next(readings))
    monkeypatch.setattr("cudacore._benchmark.clocks._INTERVAL_S", 0.0)
    watch.look()
    watch.forget()
    watch.look()
    watch.look()
    clocks = watch.result()
    assert clocks == BenchmarkClocks(
        (1900, 1980), (2000, 2000), ("the power cap", "thermal slowdown (hardware)")
    )
    assert clocks.moved


def test_clock_watch_gives_up_once() -> None:
    calls = 0

    def fail() -> tuple[int, int, int]:
        nonlocal calls
        calls += 1
        raise cudacore.NotSupportedError("no clocks\nmore")

    watch = ClockWatch(fail)
    watch.look()
    watch.forget()
    watch.look()
    assert (calls, watch.result(), watch.why_unknown) == (1, None, "no clocks")


def made_up_result(*gpu: float) -> cudacore.BenchmarkResult:
    fields: dict[str, Any] = dict.fromkeys(cudacore.BenchmarkResult.__dataclass_fields__)
    times = {"gpu": BenchmarkTimes(gpu), "cpu": BenchmarkTimes((1e-6,))}
    known = {**times, "bytes": 5.0, "notes": ("mine",), "calls": 1}
    return cudacore.BenchmarkResult(**{**fields, **known})


@pytest.mark.parametrize(("gpu", "said"), [((1e-6,), ", 1 run"), ((1e-6, 2e-6), ", 2 runs")])
def test_runs_are_counted(gpu: tuple[float, ...], said: str) -> None:
    result = made_up_result(*gpu)
    assert f"{said}\n" in repr(result)
    assert f"{said}<" in result._repr_html_()
    assert repr(result.gpu).endswith(f"{said}>")


def test_comparison_refers_to_the_first() -> None:
    comparison = cudacore.BenchmarkComparison({
        "slow": made_up_result(10e-6, 11e-6, 12e-6), "fast": made_up_result(1e-6, 1.1e-6, 1.2e-6),
        "same": made_up_result(10e-6, 11.1e-6, 12e-6),
    })  # fmt: skip
    assert comparison.fastest is comparison["fast"]
    assert comparison.speedup("fast") == pytest.approx(10)
    assert comparison.speedup("slow") == 1
    assert comparison.is_distinct("fast")
    assert not comparison.is_distinct("same")
    with pytest.raises(KeyError):
        comparison.speedup("other")
    first, slow, fast, same, *notes = repr(comparison).splitlines()
    assert first.split() == ["GPU", "IQR", "CPU", "speedup", "rate"]
    assert slow.startswith("slow  11.0 µs")
    assert "  10.00  " in fast
    assert "  ~0.99  " in same
    assert notes[1:] == [
        "mine", "~: the quartiles overlap with those of the first, so this may be noise"
    ]  # fmt: skip
    assert "<td>~0.99</td>" in comparison._repr_html_()


def test_zero_time_has_no_rate() -> None:
    result = made_up_result(0.0, 0.0)
    assert result.bandwidth is None
    assert math.isnan(cudacore.BenchmarkComparison({"a": result}).speedup("a"))


class FakeAxes:
    """Records what is drawn."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_args, **_kwargs: self.calls.append(name)


def test_plots_on_given_axes() -> None:
    comparison = cudacore.BenchmarkComparison({"spin": made_up_result(1e-6, 2e-6)})
    axes = FakeAxes()
    assert comparison["spin"].plot(axes) is axes
    assert "hist" in axes.calls
    assert comparison.plot(axes) is axes
    assert "boxplot" in axes.calls


def test_plots_with_matplotlib() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    comparison = cudacore.BenchmarkComparison(
        {"a": made_up_result(1e-6, 2e-6), "b": made_up_result(2e-6)}
    )
    assert comparison["a"].plot().patches
    assert [tick.get_text() for tick in comparison.plot().get_xticklabels()] == ["a", "b"]


def test_plot_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = made_up_result(1e-6)
    with pytest.raises(ImportError, match="pip install matplotlib") as caught:
        result.plot()
    assert caught.value.name == "matplotlib"
