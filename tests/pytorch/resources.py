# SPDX-License-Identifier: Apache-2.0
"""Resources of cudacore that libraries allocate from."""

from cudacore import Buffer, DeviceMemoryResource, DeviceMemoryResourceOptions, MemoryResource

MIB = 1 << 20


def small_pool(device: int = 0) -> DeviceMemoryResource:
    return DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=64 * MIB))


class Own(MemoryResource):
    """Counts, and fails when it is told to."""

    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def __init__(self):
        super().__init__()
        self.inner = small_pool()
        self.live = {}
        self.error = None

    def allocate(self, size, *, stream=None):
        if self.error is not None:
            raise self.error
        memory = self.inner.allocate(size, stream=stream)
        if size == 0:
            return memory
        self.live[memory.handle] = memory
        return Buffer.from_handle(memory.handle, size, self, stream=stream)

    def deallocate(self, ptr, size, *, stream=None):
        self.live.pop(int(ptr)).close(stream)
