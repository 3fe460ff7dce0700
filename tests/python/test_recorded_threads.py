# SPDX-License-Identifier: Apache-2.0
"""Recorded functions of several threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cudacore import Device, NotSupportedError
from recorded_kernels import Calls, Kernels, calls, current, first, kernels, new, record

__all__ = ["calls", "current", "kernels"]  # fixtures


def test_fresh_threads_wait_for_the_first(device: Device, kernels: Kernels) -> None:
    count = 8
    recording = threading.Event()
    waiting = threading.Barrier(count)

    @record
    def step(x: Any) -> None:
        recording.set()
        kernels["add"][1, 1](x, 1)
        threading.Event().wait(0.05)  # the others arrive

    x = new(device)
    x.device_id  # noqa: B018 - known from now on
    errors: list[Exception] = []

    def run(number: int) -> None:
        waiting.wait()
        if number != 0:
            recording.wait()
        try:
            step(x)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    device.sync()
    assert first(x) == count


def test_work_of_fresh_threads_during_a_recording(device: Device, kernels: Kernels) -> None:
    x, y = new(device), new(device)

    def others() -> None:
        y.fill(0)
        kernels["add"][1, 1](y, 3)

    with ThreadPoolExecutor(1) as pool:

        @record
        def step(x: Any) -> None:
            kernels["add"][1, 1](x, 1)
            pool.submit(others).result()

        step(x)
    device.sync()
    assert (first(x), first(y)) == (1, 3)


def test_a_wait_of_another_thread(device: Device, kernels: Kernels, calls: Calls) -> None:
    def wait() -> str:
        device.set_current()
        with pytest.raises(RuntimeError) as error:
            device.sync()
        return str(error.value)

    with ThreadPoolExecutor(1) as pool:
        said: list[str] = []

        @record
        def step(x: Any) -> None:
            if calls.count == 0:
                calls()
                said.append(pool.submit(wait).result())
            kernels["add"][1, 1](x, 1)

        x = new(device)
        with pytest.raises(NotSupportedError) as error:
            step(x)
        assert "after its `with` block, or outside of the recorded function" in said[0]
        message = str(error.value)
        assert "noticed at" in message
        assert "by this call: cuCtxSynchronize failed" in message
        assert "no thread may wait for the device" in message
