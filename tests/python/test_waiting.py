# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C works in calls that wait inside the driver or the compiler, and nothing is lost."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from cudacore import (
    Device,
    LegacyPinnedMemoryResource,
    Program,
    Stream,
    SynchronousMemoryResource,
)
from harness import ARCH


def interrupted(call: Callable[[], object], after: float = 0.2) -> float:
    """Return the seconds from a Ctrl-C to the KeyboardInterrupt that a call raises."""
    sent: list[float] = []

    def interrupt() -> None:
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    took = time.perf_counter() - sent[0]
    thread.join()
    return took


def test_copy_to_pageable_memory(device: Device, stream: Stream, gate: Any) -> None:
    buffer = device.allocate(1 << 20, stream=stream)
    buffer.fill(7, stream=stream)
    target = bytearray(1 << 20)
    gate.hold(stream)
    rescue = threading.Timer(5, gate.open)
    rescue.start()
    assert interrupted(lambda: buffer.copy_to(target, stream=stream)) < 0.1
    rescue.cancel()
    gate.open()
    buffer.copy_to(target, stream=stream)
    assert target == b"\x07" * (1 << 20)


def test_copy_from_pageable_memory(device: Device, stream: Stream, gate: Any) -> None:
    buffer = device.allocate(16 << 20, stream=stream)
    source = bytearray(b"\x09" * (16 << 20))
    gate.hold(stream)
    rescue = threading.Timer(5, gate.open)
    rescue.start()
    assert interrupted(lambda: buffer.copy_from(source, stream=stream)) < 0.1
    buffer[: 1 << 20].copy_from(bytes(1 << 20), stream=stream)  # is staged, and doesn't wait
    assert not stream.is_done
    rescue.cancel()
    gate.open()
    buffer.copy_from(source, stream=stream)
    assert buffer.copy_to(bytearray(16 << 20), stream=stream) == source


@pytest.mark.parametrize("what", ["pinned", "device"])
def test_close_of_memory_that_waits(device: Device, stream: Stream, gate: Any, what: str) -> None:
    resource = (
        LegacyPinnedMemoryResource() if what == "pinned" else SynchronousMemoryResource(device)
    )
    buffer = resource.allocate(4096, stream=stream)
    gate.hold(stream)
    rescue = threading.Timer(5, gate.open)
    rescue.start()
    assert interrupted(buffer.close) < 0.1
    rescue.cancel()
    assert buffer.is_closed
    gate.open()
    stream.sync()
    with resource.allocate(4096, stream=stream) as again:
        assert again.size == 4096


def source_of(kernels: int, seed: int) -> str:
    return "\n".join(
        f"__global__ void k{n}(float* p) {{ "
        + " ".join(
            f"p[{i}] = powf(sinf(p[{i}] * {i}.{seed}f), cosf(p[{i + n}]));" for i in range(12)
        )
        + " }"
        for n in range(kernels)
    )


def test_compile() -> None:
    """Each source is new, because NVRTC caches what it has compiled."""

    def program(kernels: int, seed: int) -> Program:
        return Program(source_of(kernels, seed), "c++", {"arch": ARCH})

    program(1, 0).compile("ptx")  # the first time is slower
    kernels, whole = 15, 0.0
    while whole < 1:
        kernels *= 2
        start = time.perf_counter()
        program(kernels, 1).compile("ptx")
        whole = time.perf_counter() - start
    again = program(kernels, 2)
    assert interrupted(lambda: again.compile("ptx"), after=0.2) < whole / 2
    assert len(again.compile("ptx").kernels) == kernels
