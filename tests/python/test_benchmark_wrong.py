# SPDX-License-Identifier: Apache-2.0
"""Wrong uses of `cudacore.benchmark`: each is refused with its reason, and nothing is lost."""

import asyncio
import functools
import gc
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any
from unittest.mock import Mock

import cudacore
import pytest
from cudacore import Buffer, Device, Kernel, Stream
from harness import build, hide, run

QUICK: dict[str, Any] = {"warmup": 1, "samples": 2}


def nothing() -> None:
    pass


def needs(a: int, b: int) -> None:
    pass


async def coroutine() -> None:
    pass


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


class AsyncCallable:
    async def __call__(self) -> None:
        pass


@pytest.fixture(scope="module")
def kernel(device: Device) -> Kernel:
    device.set_current()
    return build("__global__ void k(int* p) { *p = 1; }").get_kernel("k")


@pytest.mark.parametrize("fn", [None, 5, "text", b"bytes", object()])
def test_not_callable(fn: object) -> None:
    with pytest.raises(TypeError, match="cannot be called"):
        cudacore.benchmark(fn)


def test_the_result_of_a_launch() -> None:
    with pytest.raises(TypeError, match=r"benchmark\(kernel\[grid, block\], \(x, n\)\)"):
        cudacore.benchmark(None)


def test_not_callable_in_a_list_or_a_dict() -> None:
    with pytest.raises(TypeError, match=r"fn\['int'\] is 5"):
        cudacore.benchmark([nothing, 5])
    with pytest.raises(TypeError, match=r"fn\['b'\] is None"):
        cudacore.benchmark({"a": nothing, "b": None})


@pytest.mark.parametrize("fn", [[], {}, ()])
def test_empty(fn: Any) -> None:
    with pytest.raises(ValueError, match="empty"):
        cudacore.benchmark(fn)


def test_names_are_strings() -> None:
    with pytest.raises(TypeError, match="names are str"):
        cudacore.benchmark({1: nothing})


def test_a_kernel_needs_a_shape(kernel: Kernel) -> None:
    with pytest.raises(TypeError, match=r"kernel\[grid, block\]"):
        cudacore.benchmark(kernel)


@pytest.mark.parametrize(
    ("fn", "kind"),
    [
        (coroutine, "coroutine"), (AsyncCallable(), "coroutine"),
        (functools.partial(coroutine), "coroutine"), (generator, "generator"),
        (async_generator, "generator"),
    ],
)  # fmt: skip
def test_functions_that_run_nothing_when_called(fn: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"{kind} function"):
        cudacore.benchmark(fn)


@pytest.mark.parametrize("warmup", [0, 1])
@pytest.mark.parametrize("work", [coroutine, generator, async_generator])
def test_functions_that_return_work(work: Any, warmup: int) -> None:
    def fn() -> object:
        return work()

    with pytest.raises(TypeError, match="has not run"):
        cudacore.benchmark(fn, warmup=warmup, samples=2, calls=2)
    gc.collect()  # a coroutine that is never awaited would warn


def test_functions_that_return_a_future() -> None:
    loop = asyncio.new_event_loop()
    with pytest.raises(TypeError, match="has not run"):
        cudacore.benchmark(loop.create_future, **QUICK)
    loop.close()


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match=r"needs\(a.*missing a required argument.*args=\(\.\.\.\)"):
        cudacore.benchmark(needs)
    with pytest.raises(TypeError, match="too many positional arguments"):
        cudacore.benchmark(nothing, (1,))
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        cudacore.benchmark(needs, (1, 2), {"c": 3})
    with pytest.raises(TypeError, match="missing a required argument"):
        cudacore.benchmark(needs, warmup=0)


def test_arguments_of_the_setup_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="missing a required argument"):
        cudacore.benchmark(needs, setup=lambda: (1,), **QUICK)
    with pytest.raises(TypeError, match="setup returned 5: give a tuple"):
        cudacore.benchmark(needs, setup=lambda: 5, **QUICK)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"args": 5}, TypeError, "args=5: give a tuple"),
        ({"args": "text"}, TypeError, "give a tuple"),
        ({"kwargs": 5}, TypeError, "kwargs=5"),
        ({"kwargs": {1: 2}}, TypeError, "kwargs="),
        ({"setup": 5}, TypeError, "setup is 5"),
        ({"setup": coroutine}, TypeError, "setup is a coroutine function"),
        ({"warmup": -1}, ValueError, "warmup must lie in 0 .. 2**63 - 1, not -1"),
        ({"warmup": 1.5}, TypeError, "warmup must be an int, not float"),
        ({"samples": 0}, ValueError, "samples must lie in 1 .. 2**63 - 1, not 0"),
        ({"samples": True}, TypeError, "samples must be an int, not bool"),
        ({"samples": "10"}, TypeError, "samples must be an int, not str"),
        ({"calls": 0}, ValueError, "calls must lie in 1 .. 512, not 0"),
        ({"calls": 513}, ValueError, "calls must lie in 1 .. 512, not 513"),
        ({"seconds": 0}, ValueError, "seconds=0"),
        ({"seconds": -0.5}, ValueError, "seconds=-0.5"),
        ({"seconds": float("nan")}, ValueError, "seconds=nan"),
        ({"seconds": float("inf")}, ValueError, "seconds=inf"),
        ({"seconds": "1"}, TypeError, "give a number"),
        ({"seconds": None}, TypeError, "give a number"),
        ({"bytes": -1}, ValueError, "bytes=-1"),
        ({"bytes": 0}, ValueError, "bytes=0"),
        ({"bytes": 10**400}, ValueError, "bytes doesn't fit into a float: give a positive, finite"),
        ({"flops": -(10**5000)}, ValueError, "flops doesn't fit into a float"),
        ({"warmup": -(10**5000)}, ValueError, "warmup must lie in 0 .. 2**63 - 1, not an int of"),
        ({"calls": 10**5000}, ValueError, "calls must lie in 1 .. 512, not an int of"),
        ({"flops": "many"}, TypeError, "flops='many'"),
        ({"flops": True}, TypeError, "flops=True"),
        ({"flush_l2": 1}, TypeError, "flush_l2=1"),
        ({"calls": 2, "flush_l2": True}, ValueError, "only the first of the calls"),
        ({"calls": 2, "setup": nothing}, ValueError, "only the first of the calls"),
        ({"stream": 5}, TypeError, "__cuda_stream__"),
        ({"unknown": 5}, TypeError, "unknown"),
    ],
)
def test_wrong_settings(wrong: dict[str, Any], error: type[Exception], said: str) -> None:
    called = False

    def work(*_args: object) -> None:
        nonlocal called
        called = True

    with pytest.raises(error) as caught:
        cudacore.benchmark(work, **wrong)
    assert said in str(caught.value)
    assert not called


def test_closed_stream(device: Device) -> None:
    stream = device.create_stream()
    stream.close()
    with pytest.raises(ValueError, match="the stream is closed"):
        cudacore.benchmark(nothing, stream=stream)


@pytest.mark.parametrize("calls_before", [0, 1, 3])
def test_exceptions_of_the_function_come_through(
    calls_before: int, stream: Stream, device: Device
) -> None:
    count = 0

    def fails() -> None:
        nonlocal count
        count += 1
        if count > calls_before:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        cudacore.benchmark(fails, stream=stream, warmup=1, samples=5, calls=1)
    assert gc.isenabled()
    assert cudacore.current_stream() != stream
    assert len(cudacore.benchmark(nothing, stream=stream, **QUICK).gpu) == 2


def test_exceptions_of_the_setup_come_through() -> None:
    with pytest.raises(ZeroDivisionError):
        cudacore.benchmark(nothing, setup=lambda: 1 // 0)


@pytest.mark.parametrize("warmup", [0, 1])
def test_function_that_closes_the_stream(device: Device, warmup: int) -> None:
    stream = device.create_stream()
    with pytest.raises(ValueError, match="benchmark: .*close closed the stream"):
        cudacore.benchmark(stream.close, stream=stream, warmup=warmup, samples=3)
    assert gc.isenabled()


@pytest.mark.parametrize("calls_before", range(6))
def test_function_that_closes_the_stream_later(device: Device, calls_before: int) -> None:
    stream = device.create_stream()
    count = 0

    def closes() -> None:
        nonlocal count
        if count == calls_before:
            stream.close()
        count += 1

    with pytest.raises(ValueError, match="benchmark: closes closed the stream that it is timed on"):
        cudacore.benchmark(closes, stream=stream, warmup=1, samples=9, calls=1)


def test_mock_is_timed(stream: Stream) -> None:
    fn = Mock()
    result = cudacore.benchmark(fn, (5,), stream=stream, **QUICK)
    assert result.name == "Mock"
    fn.assert_called_with(5)


@pytest.mark.parametrize("is_enabled", [True, False])
def test_garbage_collector_with_several_threads(device: Device, is_enabled: bool) -> None:
    """The second begins while the first runs, and ends after it."""
    second_runs, first_is_done = threading.Event(), threading.Event()
    states = []

    def first() -> None:
        assert second_runs.wait(60)

    def second() -> None:
        second_runs.set()
        assert first_is_done.wait(60)
        states.append(gc.isenabled())

    def run_first() -> None:
        with device:
            cudacore.benchmark(first, stream=device.create_stream(), warmup=0, samples=1, calls=1)
        first_is_done.set()

    def run_second() -> None:
        with device:
            cudacore.benchmark(second, stream=device.create_stream(), warmup=0, samples=1, calls=1)

    try:
        if not is_enabled:
            gc.disable()
        threads = [threading.Thread(target=target) for target in (run_first, run_second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert gc.isenabled() == is_enabled
        assert states
        assert not any(states)
    finally:
        gc.enable()


def test_function_that_synchronizes_is_timed(stream: Stream) -> None:
    assert len(cudacore.benchmark(stream.sync, stream=stream, **QUICK).gpu) == 2


@pytest.mark.simulator_only(reason="a fault would end the GPU's context")
def test_kernel_that_faults() -> None:
    script = """
        import cudacore
        cudacore.Device().set_current()
        code = "__global__ void k(int* p) { *p = 1; }"
        kernel = cudacore.Program(code, "c++").compile().get_kernel("k")
        try:
            cudacore.benchmark(kernel[1, 1], (64,), samples=3)
        except cudacore.CUDAError as error:
            print(type(error).__name__, "k" in str(error))
    """
    result = run(script)
    assert (result.stdout, result.stderr) == ("LaunchError True\n", "")


def test_no_driver(tmp_path: Any) -> None:
    script = """
        import cudacore
        try:
            cudacore.benchmark(print)
        except cudacore.DriverNotFoundError as error:
            print("libcuda.so.1" in str(error))
    """
    hidden = hide(tmp_path, "driver")
    del hidden["PYTHONPATH"]
    result = run(script, env=hidden)
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_wrong_launch_arguments_come_through(kernel: Kernel) -> None:
    with pytest.raises(TypeError, match="k"):
        cudacore.benchmark(kernel[1, 1], (1.5,), **QUICK)


def test_closed_buffer_comes_through(kernel: Kernel, device: Device) -> None:
    buffer: Buffer = device.allocate(4)
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        cudacore.benchmark(kernel[1, 1], (buffer,), **QUICK)
