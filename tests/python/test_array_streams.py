# SPDX-License-Identifier: Apache-2.0
"""The streams of arrays: launches and producers wait for each other."""

from collections.abc import Iterator
from typing import Any

import pytest
from cudacore import Buffer, Device, Kernel, Stream
from foreign_arrays import (
    CPU,
    CUDA_HOST,
    CapsuleArray,
    CudaArray,
    ExchangeArray,
    OldCapsuleArray,
    refused,
)


@pytest.fixture(autouse=True)
def default_current_stream() -> Iterator[None]:
    yield
    ExchangeArray.current_stream = None


class TestStreams:
    def held(self, gate: Any, device: Device) -> Stream:
        stream = device.create_stream()
        gate.hold(stream)
        return stream

    def arrays(self, address: int, producer: Stream) -> list[Any]:
        ExchangeArray.current_stream = int(producer.handle)
        return [
            ExchangeArray(address, (16,)),
            CudaArray(address, (16,), stream=int(producer.handle)),
        ]

    @pytest.mark.parametrize("protocol", [0, 1])
    def test_launch_waits_for_the_producer(
        self, scale: Kernel, stream: Stream, block: Buffer, gate: Any, protocol: int
    ) -> None:
        producer = self.held(gate, Device(0))
        array = self.arrays(block.handle, producer)[protocol]
        scale[1, 1, stream](block, array, 1.0, 16)
        launched = stream.record()
        assert not launched.is_done
        gate.open()
        launched.sync()
        producer.sync()

    @pytest.mark.parametrize("first", [CPU, CUDA_HOST])
    def test_memory_of_the_host_before_that_of_the_device(
        self, scale: Kernel, memory: Buffer, block: Buffer, gate: Any, first: int
    ) -> None:
        producer, stream = self.held(gate, Device(0)), Device(0).create_stream()
        ExchangeArray.current_stream = int(producer.handle)
        table = ExchangeArray(memory.handle, (16,), device=(first, 0))
        scale[1, 1, stream](table, ExchangeArray(block.handle, (16,)), 1.0, 0)
        launched = stream.record()
        assert not launched.is_done
        gate.open()
        launched.sync()
        producer.sync()

    @pytest.mark.parametrize("protocol", [0, 1])
    def test_producer_waits_for_the_launch(
        self, device: Device, scale: Kernel, block: Buffer, gate: Any, protocol: int
    ) -> None:
        producer = device.create_stream()
        stream = self.held(gate, device)
        array = self.arrays(block.handle, producer)[protocol]
        scale[1, 1, stream](block, array, 1.0, 16)
        after = producer.record()
        assert not after.is_done
        gate.open()
        after.sync()
        stream.sync()

    def test_capsule_is_asked_for_on_the_launchs_stream(
        self, scale: Kernel, stream: Stream, block: Buffer
    ) -> None:
        for kind in (CapsuleArray, OldCapsuleArray):
            array = kind(block.handle, (16,))
            scale[1, 1, stream](block, array, 1.0, 16)
            scale[1, 1](block, array, 1.0, 16)
            assert array.streams == [int(stream.handle), 1]

    def test_host_has_no_stream(self, scale: Kernel, memory: Buffer) -> None:
        array = CapsuleArray(memory.handle, (16,), device=(CUDA_HOST, 0))
        scale[1, 1](0, array, 1.0, 0)
        assert array.streams == [None]

    @pytest.mark.parametrize("number", [1, 2])
    def test_default_streams_of_the_interface(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, number: int
    ) -> None:
        scale[1, 1, stream](block, CudaArray(block.handle, (16,), stream=number), 1.0, 16)
        scale[1, 1](block, CudaArray(block.handle, (16,), stream=number), 1.0, 16)
        device.sync()

    def test_version_2_is_on_the_default_stream(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, gate: Any
    ) -> None:
        gate.hold(device.default_stream)
        array = CudaArray(block.handle, (16,), version=2)
        scale[1, 1, stream](block, array, 1.0, 16)
        launched = stream.record()
        assert not launched.is_done
        gate.open()
        launched.sync()

    @pytest.mark.parametrize("kind", [CapsuleArray, OldCapsuleArray])
    def test_version_2_is_ordered_by_dlpack(
        self, scale: Kernel, stream: Stream, block: Buffer, gate: Any, kind: type[CapsuleArray]
    ) -> None:
        class Both(CudaArray, kind):  # type: ignore[misc, valid-type]
            interface_version = 2

            @property
            def __cuda_array_interface__(self) -> Any:
                return {**super().__cuda_array_interface__, "version": self.interface_version}

        gate.hold(Device().default_stream)
        array = Both(block.handle, (16,), read_only=True)
        scale[1, 1, stream](block, array, 1.0, 16)
        stream.sync()
        assert array.streams == [int(stream.handle)]
        assert array.released == 1
        assert "is read-only" in refused(scale, array, position=1)
        named = Both(block.handle, (16,), stream=int(stream.handle))
        named.interface_version = 3
        scale[1, 1, stream](block, named, 1.0, 16)
        assert named.streams == []

    def test_interface_without_a_stream_is_not_ordered(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, gate: Any
    ) -> None:
        gate.hold(device.default_stream)
        scale[1, 1, stream](block, CudaArray(block.handle, (16,)), 1.0, 16)
        stream.sync()

    @pytest.mark.simulator_only(reason="a real driver may crash on such a handle")
    def test_number_that_is_no_stream(self, scale: Kernel, block: Buffer) -> None:
        message = refused(scale, CudaArray(block.handle, (16,), stream=12345))
        assert "the stream it names does not exist: cuStreamGetCtx failed" in message

    def test_several_producers(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, gate: Any
    ) -> None:
        producers = [device.create_stream() for _ in range(3)]
        gate.hold(producers[2])
        ExchangeArray.current_stream = int(producers[0].handle)
        y = ExchangeArray(block.handle, (16,))
        for producer in producers[1:]:
            x = CudaArray(block.handle, (16,), stream=int(producer.handle))
            scale[1, 1, stream](y, x, 1.0, 16)
        launched = stream.record()
        assert not launched.is_done
        gate.open()
        launched.sync()
