# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a wait within 100 ms, and nothing breaks."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cudacore import Device, Stream
from harness import run_cleanly

WAITS = {
    "stream": lambda device, stream, event: stream.sync(),  # noqa: ARG005
    "event": lambda device, stream, event: event.sync(),  # noqa: ARG005
    "device": lambda device, stream, event: device.sync(),  # noqa: ARG005
    "context": lambda device, stream, event: device.context.sync(),  # noqa: ARG005
}


@pytest.mark.parametrize("what", WAITS)
@pytest.mark.parametrize("blocking", [True, False])
def test_interrupt_ends_a_wait(
    device: Device, stream: Stream, gate: Any, what: str, blocking: bool
) -> None:
    gate.hold(stream)
    event = stream.record(options={"blocking_sync": blocking})
    sent: list[float] = []

    def interrupt() -> None:
        time.sleep(0.2)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    # The gate eventually opens anyway, so that a wait that ignores Ctrl-C fails instead of hanging.
    rescue = threading.Timer(5, gate.open)
    rescue.start()
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        WAITS[what](device, stream, event)
    took = time.perf_counter() - sent[0]
    thread.join()
    rescue.cancel()
    assert took < 0.1
    assert not stream.is_done
    gate.open()
    stream.sync()
    assert stream.is_done
    with device.allocate(64, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
    stream.sync()


@contextlib.contextmanager
def signalled(gate: Any, handler: Callable[[int, object], None]) -> Iterator[None]:
    """Send a signal soon. The gate opens anyway later, so that what ignores it fails, not hangs."""
    before = signal.signal(signal.SIGUSR1, handler)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    rescue = threading.Timer(5, gate.open)
    rescue.start()
    try:
        yield
    finally:
        rescue.cancel()
        signal.signal(signal.SIGUSR1, before)


def test_own_handler_runs_and_its_exception_goes_through(stream: Stream, gate: Any) -> None:
    def handler(_number: int, _frame: object) -> None:
        raise LookupError("mine")

    gate.hold(stream)
    with signalled(gate, handler), pytest.raises(LookupError, match="mine"):
        stream.sync()
    assert not stream.is_done


def test_handler_that_raises_nothing_lets_the_wait_go_on(stream: Stream, gate: Any) -> None:
    heard: list[int] = []

    def handler(number: int, _frame: object) -> None:
        heard.append(number)
        gate.open()

    gate.hold(stream)
    with signalled(gate, handler):
        stream.sync()
    assert heard == [signal.SIGUSR1]


def test_wait_in_another_thread_is_left_alone(stream: Stream, gate: Any) -> None:
    gate.hold(stream)
    done: list[bool] = []

    def wait() -> None:
        stream.sync()
        done.append(True)

    thread = threading.Thread(target=wait)
    thread.start()
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        time.sleep(2)
    assert not done
    gate.open()
    thread.join(5)
    assert done == [True]


def test_process_ends_after_interrupt(device: Device) -> None:
    script = """
        import os, signal, threading, cudacore
        source = "__global__ void forever(volatile int* p) { while (*p == 0) {} }"
        stream = cudacore.Device().create_stream()
        flag = cudacore.LegacyPinnedMemoryResource().allocate(4)
        flag.fill(0, stream=stream)
        kernel = cudacore.Program(source, "c++").compile().get_kernel("forever")
        kernel[1, 1, stream](flag)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            stream.sync()
        except KeyboardInterrupt:
            print("interrupted")
        flag.fill(1, stream=cudacore.Device().create_stream())
    """
    assert run_cleanly(script, timeout=60) == "interrupted\n"
