# SPDX-License-Identifier: Apache-2.0
"""Runs kernels on the current device."""

from cudacore import Buffer, Device, LaunchConfig, ObjectCode, launch

from .items import Dialect, Item, Kernel, kernel_text
from .values import arena


class Runner:
    def __init__(self, device: Device) -> None:
        self._device = device
        self._inputs: dict[int, Buffer] = {}
        self._stream = device.create_stream()

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        for buffer in self._inputs.values():
            buffer.close()
        self._stream.close()

    def run(self, kernel: Kernel, dialect: Dialect) -> dict[str, bytes]:
        """Load and run a kernel; return the output of each of its items, by name."""
        first = kernel.items[0]
        function = ObjectCode.from_ptx(kernel_text(kernel, dialect).encode()).get_kernel("run")
        config = LaunchConfig(
            grid=first.grid // max(first.cluster, 1),  # In clusters, if there are any.
            block=kernel.lanes,
            cluster=first.cluster or None,
            is_cooperative=first.cooperative,
        )
        output = bytearray(max(kernel.output_size, 16))
        stream = self._stream
        with self._device.allocate(len(output), stream=stream) as buffer:
            buffer.fill(0, stream=stream)
            arguments = [self._input(kernel.lanes).handle, buffer.handle]
            extra = [first.extra] if first.extra else []
            launch(stream, config, function, *arguments, *extra)
            buffer.copy_to(output, stream=stream)
            stream.sync()
        return {
            item.name: bytes(output[place : place + item.size])
            for item, place in zip(kernel.items, kernel.places, strict=True)
        }

    def _input(self, lanes: int) -> Buffer:
        found = self._inputs.get(lanes)
        data = bytes(arena(lanes).bytes) or bytes(16)
        if found is None or found.size < len(data):  # it grows as more items are made
            found = self._inputs[lanes] = self._device.allocate(len(data), stream=self._stream)
            found.copy_from(data, stream=self._stream)
            self._stream.sync()
        return found


def run_item(runner: Runner, item: Item, dialect: Dialect) -> bytes:
    """Run an item in a separate kernel."""
    kernel = Kernel(item.name, [item], [0], (item.size + 31) // 16 * 16)
    return runner.run(kernel, dialect)[item.name]
