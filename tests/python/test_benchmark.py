# SPDX-License-Identifier: Apache-2.0
"""`cudacore.benchmark`: what it measures, and what it says about it."""

import gc
import json
from collections.abc import Callable, Iterator

import cudacore
import pytest
from cudacore import Buffer, Device, Kernel, Launcher, Stream
from harness import build, run_cleanly

SPIN = """
__global__ void spin(int turns, unsigned* out) {
  unsigned x = threadIdx.x;
  for (int i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u;
  out[threadIdx.x] = x;
}
"""
QUICK = {"warmup": 1, "samples": 5}


@pytest.fixture(scope="module")
def spin(device: Device) -> Kernel:
    device.set_current()
    return build(SPIN).get_kernel("spin")


@pytest.fixture
def out(device: Device) -> Iterator[Buffer]:
    with device.allocate(128) as buffer:
        yield buffer


@pytest.fixture
def short(spin: Kernel) -> Launcher:
    return spin[1, 32]


def test_times_of_one_function(short: Launcher, out: Buffer, device: Device) -> None:
    result = cudacore.benchmark(short, (1000, out), **QUICK)
    assert isinstance(result, cudacore.BenchmarkResult)
    assert (result.name, result.device) == ("spin", device.name)
    assert len(result.gpu) == len(result.cpu) == 5
    assert 0 < result.gpu.min <= result.gpu.median <= result.gpu.max < 1
    assert 0 < result.cpu.median < 1
    assert result.simulated == cudacore.simulator.is_enabled()


def test_time_grows_with_the_work(spin: Kernel, out: Buffer) -> None:
    small = cudacore.benchmark(spin[1, 32], (1_000, out), **QUICK)
    large = cudacore.benchmark(spin[1, 32], (1_000_000, out), **QUICK)
    assert large.gpu.min > 5 * small.gpu.min


def test_event_time_agrees_with_the_clock_of_the_host(spin: Kernel, out: Buffer) -> None:
    import time

    work = spin[1, 32]
    begin = time.perf_counter()
    result = cudacore.benchmark(work, (300_000, out), warmup=1, samples=5)
    elapsed = time.perf_counter() - begin
    assert sum(result.gpu.samples) < elapsed


def test_runs_on_the_given_stream(short: Launcher, out: Buffer, stream: Stream) -> None:
    seen: list[Stream] = []
    result = cudacore.benchmark(
        lambda: (seen.append(cudacore.current_stream()), short(50_000, out)), stream=stream, **QUICK
    )
    assert set(seen) == {stream}
    assert result.gpu.min > 1e-6
    assert cudacore.current_stream() != stream


def test_takes_a_stream_of_another_library(short: Launcher, out: Buffer, stream: Stream) -> None:
    class Foreign:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, stream.handle

    seen: list[int] = []
    cudacore.benchmark(
        lambda: (seen.append(cudacore.current_stream().handle), short(10, out)),
        stream=Foreign(), **QUICK,
    )  # fmt: skip
    assert set(seen) == {stream.handle}


def test_counts_of_calls(short: Launcher, out: Buffer) -> None:
    count = 0

    def work() -> None:
        nonlocal count
        count += 1
        short(10, out)

    cudacore.benchmark(work, warmup=3, samples=7, flush_l2=True)
    assert count >= 10  # a run whose cover was too short is repeated
    result = cudacore.benchmark(work, warmup=2, samples=4, calls=6)
    assert result.calls == 6
    assert len(result.gpu) == 4
    assert not result.flushed_l2


@pytest.mark.simulator_only(reason="a GPU may repeat runs")
def test_exact_counts_of_calls() -> None:
    count = 0

    def work() -> None:
        nonlocal count
        count += 1

    cudacore.benchmark(work, warmup=3, samples=7, calls=2)
    assert count == 1 + 2 + 7 * 2


def test_number_of_samples_follows_the_time(short: Launcher, out: Buffer) -> None:
    few = cudacore.benchmark(short, (20_000, out), warmup=1, seconds=1e-9)
    assert len(few.gpu) == 5
    more = cudacore.benchmark(short, (20_000, out), warmup=1, seconds=0.2)
    assert 5 < len(more.gpu) <= 2000


def test_warm_up_waits_until_times_are_stable(short: Launcher, out: Buffer) -> None:
    count = 0

    def work() -> None:
        nonlocal count
        count += 1
        short(20_000, out)

    cudacore.benchmark(work, samples=1)
    assert count > 10


def test_short_functions_are_called_often_between_events() -> None:
    result = cudacore.benchmark(lambda: None, warmup=1, samples=3)
    assert result.calls > 1
    assert not result.flushed_l2
    assert any("between two events" in note for note in result.notes)


def test_emptying_the_cache_keeps_one_call(short: Launcher, out: Buffer) -> None:
    result = cudacore.benchmark(short, (10, out), flush_l2=True, **QUICK)
    assert result.flushed_l2
    assert result.calls == 1
    assert "L2 emptied before each run" in repr(result)


def test_setup_runs_before_each_run_and_gives_arguments(short: Launcher, out: Buffer) -> None:
    order: list[str] = []

    def setup() -> tuple[int, Buffer]:
        order.append("setup")
        return len(order), out

    def work(turns: int, buffer: Buffer) -> None:
        order.append("work")
        short(turns, buffer)

    result = cudacore.benchmark(work, setup=setup, **QUICK)
    assert result.calls == 1
    assert order == ["setup", "work"] * (len(order) // 2)
    assert len(order) >= 12


def test_setup_may_give_nothing(short: Launcher, out: Buffer) -> None:
    result = cudacore.benchmark(short, (10, out), setup=lambda: out.fill(0), **QUICK)
    assert len(result.gpu) == 5


def test_keyword_arguments() -> None:
    seen: list[tuple[int, int]] = []
    cudacore.benchmark(lambda a, *, b: seen.append((a, b)), (1,), {"b": 2}, **QUICK)
    assert set(seen) == {(1, 2)}


@pytest.mark.simulator_only(reason="a GPU may repeat runs")
def test_candidates_take_turns() -> None:
    order: list[str] = []
    comparison = cudacore.benchmark(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")},
        warmup=0, samples=4, calls=1,
    )  # fmt: skip
    assert "".join(order) == "abbaabba"
    assert [len(result.gpu) for result in comparison.values()] == [4, 4]


def test_comparison_of_real_runs(spin: Kernel, out: Buffer) -> None:
    comparison = cudacore.benchmark(
        {"slow": lambda: spin[1, 32](200_000, out), "fast": lambda: spin[1, 32](200, out)}, **QUICK
    )
    assert isinstance(comparison, cudacore.BenchmarkComparison)
    assert comparison["fast"].gpu.min < comparison["slow"].gpu.min
    assert json.loads(comparison.to_json())["fast"]["gpu"]["median"] > 0


def test_names_of_a_list(short: Launcher, out: Buffer) -> None:
    comparison = cudacore.benchmark([lambda: short(10, out), lambda: short(20, out)], **QUICK)
    assert list(comparison) == ["<lambda>", "<lambda> #2"]


def test_names_of_a_list_are_all_different(short: Launcher, out: Buffer) -> None:
    called = []

    def make(number: int, name: str) -> Callable[[], None]:
        def work() -> None:
            called.append(number)
            short(10, out)

        work.__name__ = name
        return work

    names = ["f", "f", "f #2", "f #2", "f"]
    functions = [make(number, name) for number, name in enumerate(names)]
    comparison = cudacore.benchmark(functions, **QUICK)
    assert list(comparison) == ["f", "f #2", "f #2 #2", "f #2 #3", "f #3"]
    assert set(called) == set(range(len(names)))


def test_rates(short: Launcher, out: Buffer) -> None:
    result = cudacore.benchmark(short, (1000, out), bytes=1e6, flops=2e6, **QUICK)
    assert result.bandwidth == 1e6 / result.gpu.median
    assert result.throughput == 2e6 / result.gpu.median
    assert "B/s" in repr(result)
    assert "FLOP/s" in repr(result)
    assert cudacore.benchmark(short, (1000, out), **QUICK).bandwidth is None


def test_dict_and_json_hold_everything(short: Launcher, out: Buffer) -> None:
    result = cudacore.benchmark(short, (1000, out), **QUICK)
    read = json.loads(result.to_json())
    assert read == result.to_dict()
    assert read["gpu"]["samples"] == list(result.gpu.samples)
    assert set(read) == {
        "name", "device", "simulated", "gpu", "cpu", "calls", "flushed_l2", "launch_bound",
        "includes_waiting", "bytes", "flops", "bandwidth", "throughput", "peak_bandwidth", "clocks",
        "notes",
    }  # fmt: skip


def test_results_never_change(short: Launcher, out: Buffer) -> None:
    result = cudacore.benchmark(short, (10, out), **QUICK)
    with pytest.raises(AttributeError):
        result.name = "other"
    with pytest.raises(AttributeError):
        result.gpu.samples = ()
    comparison = cudacore.benchmark([short], (10, out), **QUICK)
    with pytest.raises(TypeError):
        comparison["spin"] = result


def test_html_escapes_names(short: Launcher, out: Buffer) -> None:
    page = cudacore.benchmark({"<b>": short}, (10, out), **QUICK)
    assert "<b>" not in page._repr_html_()
    assert "<b>" not in page["<b>"]._repr_html_().replace("<br", "")
    assert "<svg" in page["<b>"]._repr_html_()


@pytest.mark.simulator_only(reason="a GPU's times are its own")
def test_simulated_times_say_so(short: Launcher, out: Buffer) -> None:
    result = cudacore.benchmark(short, (10, out), **QUICK)
    assert result.simulated
    assert result.clocks is None
    assert result.peak_bandwidth is None
    assert "simulated device" in result.notes[0]
    assert "the times are the simulator's" in repr(result)


@pytest.mark.gpu_only(reason="the simulated device has no clocks and no memory bus")
def test_clocks_and_peak_of_a_gpu(spin: Kernel, out: Buffer) -> None:
    result = cudacore.benchmark(spin[1, 32], (100_000, out), samples=50)
    assert result.peak_bandwidth > 1e10
    assert result.clocks is None or 100 < result.clocks.sm_mhz[0] <= result.clocks.sm_mhz[1] < 10000


@pytest.mark.gpu_only(reason="needs a device that runs beside the host")
def test_launching_is_kept_out_of_gpu_times(short: Launcher, out: Buffer) -> None:
    import time

    def slow_host() -> None:
        end = time.perf_counter() + 200e-6
        while time.perf_counter() < end:
            pass
        short(10, out)

    result = cudacore.benchmark(slow_host, flush_l2=True, samples=20)
    assert result.cpu.median > 190e-6
    assert result.gpu.median < 50e-6
    assert result.launch_bound
    assert not result.includes_waiting


def test_waiting_functions_are_found_out(short: Launcher, out: Buffer, device: Device) -> None:
    result = cudacore.benchmark(
        lambda: (short(20_000, out), device.sync()), flush_l2=True, warmup=1, samples=10
    )
    assert result.includes_waiting
    assert result.launch_bound
    assert any("waits for the device itself" in note for note in result.notes)


def test_work_on_another_stream_is_found_out(
    spin: Kernel, out: Buffer, stream: Stream, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cudacore._benchmark.timing._WARM_UP_S", 0.0)  # few calls: nobody waits
    other = device.create_stream()
    result = cudacore.benchmark(
        spin[1, 32, other], (5_000_000, out), stream=stream, samples=3, calls=1
    )
    other.sync()
    assert any("another stream" in note for note in result.notes)


def test_a_busy_host_is_not_taken_for_another_stream(
    short: Launcher, out: Buffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = iter([0.1, 1e-5] * 2)  # the device seems to be busy twice
    monkeypatch.setattr(
        "cudacore._benchmark.timing._seconds_of", lambda call: (call(), next(waits, 1e-5))[1]
    )
    result = cudacore.benchmark(short, (100, out), samples=3, calls=1)
    assert next(waits, None) is None
    assert not any("another stream" in note for note in result.notes)


def test_collector_is_off_during_runs_and_on_afterwards() -> None:
    assert gc.isenabled()
    seen: list[bool] = []
    cudacore.benchmark(lambda: seen.append(gc.isenabled()), calls=1, **QUICK)
    assert not seen[-1]
    assert gc.isenabled()


def test_nested_benchmarks(short: Launcher, out: Buffer) -> None:
    inner = cudacore.benchmark(
        lambda: cudacore.benchmark(short, (10, out), warmup=0, samples=1), warmup=0, samples=1
    )
    assert len(inner.gpu) == 1


@pytest.mark.simulator_only(reason="other processes may use the memory of a GPU")
def test_nothing_is_left_behind(short: Launcher, out: Buffer, device: Device) -> None:
    device.sync()
    free = device.mem_info.free
    for _ in range(3):
        cudacore.benchmark(short, (10, out), flush_l2=True, **QUICK)
    device.sync()
    assert device.mem_info.free >= free - 2**20


def test_is_not_loaded_by_import() -> None:
    script = """
        import sys
        import cudacore
        print([name for name in sys.modules if "_benchmark" in name])
        cudacore.benchmark
        print("cudacore._benchmark" in sys.modules, "matplotlib" in sys.modules)
    """
    assert run_cleanly(script) == "[]\nTrue False\n"
