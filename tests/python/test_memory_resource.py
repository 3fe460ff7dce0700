# SPDX-License-Identifier: Apache-2.0
"""Memory resources: one suite that all of them pass, and tests for individual resources."""

import gc
import itertools
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Kernel,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    MemoryResource,
    OutOfMemoryError,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
    Stream,
    SynchronousMemoryResource,
)
from harness import build, run


class Recording(MemoryResource):
    """A resource written in Python, based on another one."""

    def __init__(self, inner: MemoryResource) -> None:
        super().__init__()
        self.inner = inner
        self.live: dict[int, Buffer] = {}
        self.freed: list[tuple[int, int]] = []

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        buffer = self.inner.allocate(size, stream=stream)
        self.live[buffer.handle] = buffer
        return Buffer.from_handle(buffer.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:
        self.freed.append((int(ptr), size))
        self.live.pop(int(ptr)).close(stream)

    @property
    def is_device_accessible(self) -> bool:
        return self.inner.is_device_accessible

    @property
    def is_host_accessible(self) -> bool:
        return self.inner.is_host_accessible

    @property
    def device_id(self) -> int:
        return self.inner.device_id


#: How to make each, and whether it is host-accessible, managed, and a pool.
MAKERS: dict[str, tuple[Callable[[], MemoryResource], bool, bool, bool]] = {
    "device": (lambda: DeviceMemoryResource(0), False, False, True),
    "own pool": (lambda: DeviceMemoryResource(0, {"max_size": 1 << 28}), False, False, True),
    "pinned": (PinnedMemoryResource, True, False, True),
    "legacy pinned": (LegacyPinnedMemoryResource, True, False, False),
    "managed": (ManagedMemoryResource, True, True, True),
    "synchronous": (lambda: SynchronousMemoryResource(0), False, False, False),
    "python": (lambda: Recording(DeviceMemoryResource(0)), False, False, False),
    "python pinned": (lambda: Recording(LegacyPinnedMemoryResource()), True, False, False),
}
POOLS = [name for name, maker in MAKERS.items() if maker[3]]


@pytest.fixture(params=MAKERS)
def kind(request: pytest.FixtureRequest, device: Device) -> str:
    return str(request.param)


@pytest.fixture
def resource(kind: str) -> MemoryResource:
    return MAKERS[kind][0]()


@pytest.fixture
def pool(request: pytest.FixtureRequest, device: Device) -> Any:
    return MAKERS[request.param][0]()


@pytest.fixture(scope="module")
def increment(device: Device) -> Kernel:
    source = "__global__ void increment(unsigned char* p, unsigned n) { if (n) p[n - 1] += 1; }"
    return build(source).get_kernel("increment")


class TestConformance:
    @pytest.mark.parametrize("size", [1, 3, 256, 4097, 1 << 20])
    def test_allocates_what_a_kernel_can_write(
        self, resource: MemoryResource, stream: Stream, increment: Kernel, size: int
    ) -> None:
        with resource.allocate(size, stream=stream) as buffer:
            assert buffer.size == size
            buffer.fill(7, stream=stream)
            increment[1, 1, stream](buffer, size)
            host = bytearray(size)
            buffer.copy_to(host, stream=stream)
            stream.sync()
            assert host == bytes([7]) * (size - 1) + b"\x08"

    def test_flags_are_the_buffers_flags(self, resource: MemoryResource, kind: str) -> None:
        _, host, managed, _ = MAKERS[kind]
        with resource.allocate(64) as buffer:
            for one in (resource, buffer):
                assert one.is_device_accessible
                assert one.is_host_accessible is host
            assert buffer.is_managed is managed
            assert buffer.memory_resource is resource
            if not host:
                assert buffer.device_id == resource.device_id == 0

    def test_allocations_do_not_overlap(self, resource: MemoryResource, stream: Stream) -> None:
        buffers = [resource.allocate(1000, stream=stream) for _ in range(20)]
        ranges = sorted((buffer.handle, buffer.handle + buffer.size) for buffer in buffers)
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(ranges))
        assert all(buffer.handle % 16 == 0 for buffer in buffers)

    def test_buffer_keeps_its_resource(self, kind: str, stream: Stream) -> None:
        buffer = MAKERS[kind][0]().allocate(64, stream=stream)
        gc.collect()
        buffer.fill(1, stream=stream)
        assert buffer.memory_resource is not None
        buffer.close()

    def test_allocates_without_a_stream(self, resource: MemoryResource) -> None:
        with resource.allocate(64) as buffer:
            buffer.fill(1)

    @pytest.mark.parametrize("size", [-1, 2**64, 2**100])
    def test_bad_size(self, resource: MemoryResource, size: int) -> None:
        with pytest.raises((ValueError, OverflowError)):
            resource.allocate(size)

    @pytest.mark.parametrize("size", [1.5, "1", None, [1]])
    def test_size_of_wrong_type(self, resource: MemoryResource, size: Any) -> None:
        with pytest.raises(TypeError):
            resource.allocate(size)

    @pytest.mark.parametrize("stream", [1, "stream", object()])
    def test_stream_of_wrong_type(self, resource: MemoryResource, stream: Any) -> None:
        with pytest.raises(TypeError):
            resource.allocate(64, stream=stream)

    def test_too_much_is_out_of_memory_and_harms_nothing(
        self, resource: MemoryResource, stream: Stream
    ) -> None:
        with pytest.raises(OutOfMemoryError) as caught:
            resource.allocate(1 << 50, stream=stream)
        assert "1 PiB" in str(caught.value)
        with resource.allocate(64, stream=stream) as buffer:
            buffer.fill(1, stream=stream)

    def test_thousand_allocations(self, resource: MemoryResource, stream: Stream) -> None:
        for size in range(1, 1001):
            resource.allocate(size, stream=stream).close()
        stream.sync()
        assert cudacore.unraisable_errors() == 0

    def test_repr_names_the_class(self, resource: MemoryResource) -> None:
        assert type(resource).__name__ in repr(resource)


@pytest.mark.parametrize("pool", POOLS, indirect=True)
class TestPool:
    def test_identity(self, pool: Any) -> None:
        assert pool.handle != 0
        assert pool.is_ipc_enabled is False
        assert pool.is_mapped is False
        assert isinstance(pool.is_handle_owned, bool)

    def test_counters_follow_allocations(self, pool: Any, stream: Stream) -> None:
        attributes = pool.attributes
        stream.sync()
        before = attributes.used_mem_current
        buffer = pool.allocate(1 << 20, stream=stream)
        stream.sync()
        assert attributes.used_mem_current >= before + (1 << 20)
        assert attributes.used_mem_high >= attributes.used_mem_current
        assert attributes.reserved_mem_current >= attributes.used_mem_current
        buffer.close()
        stream.sync()
        assert attributes.used_mem_current == before

    @pytest.mark.parametrize(
        "name",
        ["reuse_follow_event_dependencies", "reuse_allow_opportunistic",
         "reuse_allow_internal_dependencies"],
    )  # fmt: skip
    def test_switches(self, pool: Any, name: str) -> None:
        before = getattr(pool.attributes, name)
        assert isinstance(before, bool)
        setattr(pool.attributes, name, not before)
        assert getattr(pool.attributes, name) is not before
        setattr(pool.attributes, name, before)

    def test_release_threshold(self, pool: Any) -> None:
        before = pool.attributes.release_threshold
        pool.attributes.release_threshold = 1 << 20
        assert pool.attributes.release_threshold == 1 << 20
        pool.attributes.release_threshold = before

    @pytest.mark.parametrize("name", ["reserved_mem_high", "used_mem_high"])
    def test_high_water_marks_can_only_be_reset(self, pool: Any, name: str, stream: Stream) -> None:
        pool.allocate(1 << 20, stream=stream).close()
        stream.sync()
        setattr(pool.attributes, name, 0)
        current = getattr(pool.attributes, name.replace("high", "current"))
        assert getattr(pool.attributes, name) == current
        with pytest.raises(ValueError, match="0"):
            setattr(pool.attributes, name, 1)

    @pytest.mark.parametrize("name", ["reserved_mem_current", "used_mem_current"])
    def test_counters_cannot_be_set(self, pool: Any, name: str) -> None:
        with pytest.raises(AttributeError):
            setattr(pool.attributes, name, 0)

    @pytest.mark.parametrize(("value", "error"), [(-1, (ValueError, OverflowError)),
                                                  (1.5, TypeError), ("1", TypeError)])  # fmt: skip
    def test_bad_threshold(self, pool: Any, value: Any, error: Any) -> None:
        with pytest.raises(error):
            pool.attributes.release_threshold = value

    def test_trim_gives_memory_back(self, pool: Any, stream: Stream) -> None:
        # The driver keeps up to one chunk of 32 MiB regardless of the settings.
        kept, big = 32 << 20, 48 << 20
        threshold = pool.attributes.release_threshold
        pool.attributes.release_threshold = 2**64 - 1
        pool.allocate(big, stream=stream).close()
        stream.sync()
        assert pool.attributes.reserved_mem_current >= big
        pool.trim(big)
        assert pool.attributes.reserved_mem_current >= big
        pool.trim()
        assert pool.attributes.reserved_mem_current <= pool.attributes.used_mem_current + kept
        pool.attributes.release_threshold = threshold


def test_own_pool_lives_as_long_as_its_buffers(device: Device, stream: Stream) -> None:
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 24))
    assert pool.is_handle_owned
    assert DeviceMemoryResource(device).is_handle_owned is False
    handle = pool.handle
    buffer = pool.allocate(64, stream=stream)
    del pool
    gc.collect()
    again = buffer.memory_resource
    assert isinstance(again, DeviceMemoryResource)
    assert again.handle == handle
    assert again.attributes.used_mem_current >= 64


def test_own_pool_has_its_limit(device: Device, stream: Stream) -> None:
    pool = DeviceMemoryResource(device, {"max_size": 32 << 20})
    with pytest.raises(OutOfMemoryError):
        pool.allocate(1 << 30, stream=stream)


def test_repr_says_of_which_device(device: Device) -> None:
    class Mine(DeviceMemoryResource):
        pass

    assert repr(DeviceMemoryResource(device)) == "<DeviceMemoryResource of device 0>"
    assert repr(SynchronousMemoryResource(device)) == "<SynchronousMemoryResource of device 0>"
    assert repr(LegacyPinnedMemoryResource()) == "<LegacyPinnedMemoryResource>"
    assert repr(Mine(device)) == "<Mine of device 0>"


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [(DeviceMemoryResourceOptions, "max_size", "1"), (PinnedMemoryResourceOptions, "numa_id", 1.5),
     (ManagedMemoryResourceOptions, "preferred_location", "0"),
     (ManagedMemoryResourceOptions, "preferred_location_type", 1)],
)  # fmt: skip
def test_option_of_wrong_type_is_named(options: Any, field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=field):
        options(**{field: value})


def test_unknown_location_lists_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"device.*host.*host_numa"):
        ManagedMemoryResourceOptions(preferred_location_type="moon")  # type: ignore[arg-type]


def test_preferred_location(device: Device) -> None:
    assert ManagedMemoryResource().preferred_location is None
    options = ManagedMemoryResourceOptions(
        preferred_location=device.device_id, preferred_location_type="device"
    )
    assert ManagedMemoryResource(options).preferred_location == ("device", device.device_id)


def test_numa_id(device: Device) -> None:
    assert PinnedMemoryResource().numa_id == -1
    assert PinnedMemoryResource({"numa_id": 0}).numa_id == 0


class TestWrittenInPython:
    def test_gets_back_exactly_what_it_gave(self, device: Device, stream: Stream) -> None:
        resource = Recording(DeviceMemoryResource(device))
        buffers = [resource.allocate(size, stream=stream) for size in (1, 64, 4096)]
        expected = [(buffer.handle, buffer.size) for buffer in buffers]
        for buffer in buffers:
            buffer.close()
            buffer.close()
        assert resource.freed == expected
        assert resource.live == {}

    def test_collected_buffers_come_back_too(self, device: Device) -> None:
        resource = Recording(DeviceMemoryResource(device))
        resource.allocate(64)
        gc.collect()
        assert len(resource.freed) == 1

    def test_serves_device_allocate(self, device: Device) -> None:
        usual, resource = device.memory_resource, Recording(DeviceMemoryResource(device))
        device.memory_resource = resource
        try:
            device.allocate(64).close()
        finally:
            device.memory_resource = usual
        assert len(resource.freed) == 1

    @pytest.mark.parametrize("member", ["allocate", "deallocate", "is_device_accessible",
                                        "is_host_accessible", "device_id"])  # fmt: skip
    def test_what_is_not_written_is_named(self, member: str) -> None:
        class Empty(MemoryResource):
            pass

        uses: dict[str, Callable[[], Any]] = {
            "allocate": lambda: Empty().allocate(1),
            "deallocate": lambda: Empty().deallocate(1, 1),
        }
        with pytest.raises((NotImplementedError, TypeError), match=member):
            uses.get(member, lambda: getattr(Empty(), member))()

    def test_error_in_deallocate_is_reported_not_raised(self, device: Device) -> None:
        script = """
            import cudacore
            class Bad(cudacore.MemoryResource):
                is_device_accessible = True
                is_host_accessible = False
                device_id = 0
                def deallocate(self, ptr, size, *, stream=None):
                    raise LookupError("mine")
            cudacore.Buffer.from_handle(4096, 1, mr=Bad()).close()
            print(cudacore.unraisable_errors())
        """
        result = run(script)
        assert (result.returncode, result.stdout) == (0, "1\n")
        assert "mine" in result.stderr

    def test_error_in_allocate_goes_through(self) -> None:
        class Bad(MemoryResource):
            def allocate(self, size: int, *, stream: Any = None) -> Buffer:
                raise LookupError(f"mine {size} {stream}")

        with pytest.raises(LookupError, match="mine 64"):
            Bad().allocate(64)
