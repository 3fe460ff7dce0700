# SPDX-License-Identifier: Apache-2.0
"""Memory and semaphores of other APIs; what the driver does with them is tested in C++."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cudacore import Device, ExternalMemory, ExternalSemaphore, NotSupportedError


@pytest.fixture
def file() -> Iterator[int]:
    found = os.open(os.devnull, os.O_RDONLY)
    yield found
    os.close(found)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda _: ExternalMemory.from_fd("0", 1), TypeError),
        (lambda _: ExternalMemory.from_fd(True, 1), TypeError),
        (lambda _: ExternalMemory.from_fd(-1, 1), ValueError),
        (lambda _: ExternalMemory.from_fd(2**40, 1), OverflowError),
        (lambda _: ExternalMemory.from_fd(2**31 - 1, 1), ValueError),
        (lambda fd: ExternalMemory.from_fd(fd, 0), ValueError),
        (lambda fd: ExternalMemory.from_fd(fd, -1), ValueError),
        (lambda fd: ExternalMemory.from_fd(fd, 1.5), TypeError),
        (lambda fd: ExternalMemory.from_fd(2**64 + fd, 1), OverflowError),
        (lambda fd: ExternalMemory.from_fd(fd, 1, dedicated=1), TypeError),
        (lambda _: ExternalSemaphore.from_fd(None), TypeError),
        (lambda _: ExternalSemaphore.from_fd(-1), ValueError),
        (lambda fd: ExternalSemaphore.from_fd(fd, timeline="yes"), TypeError),
        (lambda _: ExternalMemory(), TypeError),
        (lambda _: ExternalSemaphore(), TypeError),
    ],
)
def test_wrong_arguments(
    call: Callable[[int], object], error: type[Exception], file: int, device: Device
) -> None:
    device.set_current()
    with pytest.raises(error):
        call(file)


def test_numbers_that_are_too_large(file: int) -> None:
    with pytest.raises(
        OverflowError, match=r"size must lie in 0 .. 2\*\*63 - 1, not 92233720368547758"
    ):
        ExternalMemory.from_fd(file, 2**63)
    with pytest.raises(
        OverflowError, match=r"fd must lie in 0 .. 2\*\*31 - 1, not 18446744073709551619"
    ):
        ExternalMemory.from_fd(2**64 + 3, 1)


@pytest.mark.simulator_only(reason="a GPU can import memory")
def test_simulated_device_imports_nothing(file: int, device: Device) -> None:
    device.set_current()
    with pytest.raises(NotSupportedError, match="cuImportExternalMemory"):
        ExternalMemory.from_fd(file, 4096)
    with pytest.raises(NotSupportedError, match="cuImportExternalSemaphore"):
        ExternalSemaphore.from_fd(file)
    os.fstat(file)  # the file is still open


@pytest.mark.simulator_only(reason="a GPU may have timelines")
def test_simulated_device_has_no_timelines(file: int, device: Device) -> None:
    device.set_current()
    with pytest.raises(NotSupportedError, match="timeline_semaphore_interop_supported"):
        ExternalSemaphore.from_fd(file, timeline=True)


@pytest.mark.parametrize("name", ["signal", "wait_signal"])
def test_streams_take_semaphores_alone(name: str, device: Device) -> None:
    with device.create_stream() as stream:
        wrong: Any
        for wrong in (None, 5, stream):
            with pytest.raises(TypeError, match=f"Stream.{name}: semaphore"):
                getattr(stream, name)(wrong)


def test_multicast_granularity(device: Device) -> None:
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="num_devices"):
            device.get_multicast_granularity(wrong)
    with pytest.raises(ValueError, match="granularity must be"):
        device.get_multicast_granularity(2, "fine")
    with pytest.raises(TypeError):
        device.get_multicast_granularity(1.5)  # type: ignore[arg-type]
    if not device.properties.multicast_supported:
        with pytest.raises(NotSupportedError, match="multicast_supported is false"):
            device.get_multicast_granularity(2)
