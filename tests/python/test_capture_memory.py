# SPDX-License-Identifier: Apache-2.0
"""Memory of the resources that graphs know nothing about, in captures."""

import gc
import threading
from collections.abc import Callable

import cudacore
import pytest
from cudacore import (
    CachingMemoryResource,
    Device,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    MemoryResource,
    NotSupportedError,
    PinnedMemoryResource,
    SynchronousMemoryResource,
    VirtualMemoryResource,
)

RESOURCES: dict[str, Callable[[Device], MemoryResource]] = {
    "device": DeviceMemoryResource,
    "pinned": lambda _: PinnedMemoryResource(),
    "caching": lambda device: CachingMemoryResource(DeviceMemoryResource(device)),
    "synchronous": SynchronousMemoryResource,
    "legacy pinned": lambda _: LegacyPinnedMemoryResource(),
    "virtual": VirtualMemoryResource,
}
UNORDERED = ("synchronous", "legacy pinned", "virtual")


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


@pytest.mark.parametrize("kind", RESOURCES)
def test_nothing_is_allocated(device: Device, kind: str) -> None:
    resource = RESOURCES[kind](device)
    with device.create_graph_builder() as builder:
        with pytest.raises(
            NotSupportedError,
            match=r"allocates no memory on .* is being captured: allocate before the capture "
            r"begins, or from a GraphMemoryResource",
        ):
            resource.allocate(64)
        builder.callback(lambda: None)
    builder.complete().close()


@pytest.mark.parametrize("kind", RESOURCES)
def test_a_recorded_function_names_the_line(device: Device, kind: str) -> None:
    resource = RESOURCES[kind](device)

    @cudacore.graph
    def step() -> None:
        resource.allocate(64)

    with (
        device.create_stream(),
        pytest.raises(NotSupportedError, match=rf"{__file__}:\d+: .*GraphMemoryResource"),
    ):
        step()  # type: ignore[operator]


@pytest.mark.parametrize("kind", UNORDERED)
def test_a_release_waits_for_the_capture(device: Device, kind: str) -> None:
    resource = RESOURCES[kind](device)
    before = cudacore.unraisable_errors()
    with device.create_stream() as stream:
        memory = resource.allocate(1 << 20)
        kept = resource.allocate(64)
        address = memory.handle
        with stream.create_graph_builder() as builder:
            memory.close()
            del kept
            gc.collect()
            builder.callback(lambda: None)
        graph = builder.complete()
        graph.launch(stream)
        stream.sync()
        for _ in range(300):
            if cudacore.unraisable_errors() != before or not is_mapped(address):
                break
            threading.Event().wait(0.02)
    assert not is_mapped(address)
    assert cudacore.unraisable_errors() == before


def is_mapped(address: int) -> bool:
    """Tell whether the driver knows an address."""
    buffer = cudacore.Buffer.from_handle(address, 1)
    try:
        return buffer.is_device_accessible
    except cudacore.CUDAError:
        return False
