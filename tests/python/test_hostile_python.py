# SPDX-License-Identifier: Apache-2.0
"""Python code that runs inside a call: what it closes, replaces or raises does no harm."""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import cudacore
import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    Event,
    Kernel,
    LaunchConfig,
    MemoryResource,
    Program,
    Stream,
    SynchronousMemoryResource,
    launch,
)
from harness import build

Action = Callable[[], object]


class BoomError(Exception):
    pass


class Hostile:
    """Makes arguments that run an action when they are converted."""

    def __init__(self, action: Action) -> None:
        self.action = action

    def index(self, value: int) -> Any:
        action = self.action

        class Index:
            def __index__(self) -> int:
                action()
                return value

        return Index()

    def stream(self, stream: Stream) -> Any:
        action, handle = self.action, stream.handle

        class Foreign:
            def __cuda_stream__(self) -> tuple[int, int]:
                action()
                return (0, handle)

        return Foreign()

    def stream_property(self, stream: Stream) -> Any:
        action, handle = self.action, stream.handle

        class Foreign:
            @property
            def __cuda_stream__(self) -> tuple[int, int]:
                action()
                return (0, handle)

        return Foreign()

    def host(self, size: int) -> Any:
        action = self.action

        class Host:
            def __buffer__(self, _flags: int) -> memoryview:
                action()
                return memoryview(bytearray(size))

        return Host()

    def mapping(self, values: dict[str, Any]) -> Any:
        action = self.action

        class Values(Mapping[str, Any]):
            def __getitem__(self, key: str) -> Any:
                action()
                return values[key]

            def __iter__(self) -> Iterator[str]:
                return iter(values)

            def __len__(self) -> int:
                return len(values)

        return Values()


class Objects(SimpleNamespace):
    """The objects that a call uses, and what hostile code does to them."""

    device: Device
    resource: MemoryResource
    stream: Stream
    other: Stream
    buffer: Buffer
    target: Buffer
    event: Event
    kernel: Kernel
    held: list[Any]
    safe: Stream  #: stays open: using the address of a closed one is the caller's mistake
    safe_buffer: Buffer

    def close_all(self) -> None:
        self.device.memory_resource = SynchronousMemoryResource(self.device)
        for one in (self.buffer, self.target, self.event, self.other, self.stream):
            one.close()
        for container in self.held:
            container.clear()
        gc.collect()

    def leave(self) -> None:
        while cudacore.current_stream() is self.stream:
            self.stream.__exit__(None, None, None)
        self.stream.close()


class OwnResource(MemoryResource):
    """Written in Python, based on another resource."""

    def __init__(self, inner: MemoryResource) -> None:
        super().__init__()
        self.inner = inner
        self.out: dict[int, Buffer] = {}
        self.on_question: Action = lambda: None

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        inner = self.inner.allocate(size, stream=stream)
        self.out[inner.handle] = inner
        return Buffer.from_handle(inner.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        assert size
        self.out.pop(ptr).close(stream)

    @property
    def is_device_accessible(self) -> bool:
        self.on_question()
        return True

    @property
    def is_host_accessible(self) -> bool:
        return False

    @property
    def device_id(self) -> int:
        self.on_question()
        return 0


@pytest.fixture(scope="module")
def kernel(device: Device) -> Kernel:
    return build("__global__ void k(int* p, int v) { *p = v; }").get_kernel("k")


@pytest.fixture
def objects(device: Device, kernel: Kernel) -> Iterator[Objects]:
    stream, other = device.create_stream(), device.create_stream()
    before = device.memory_resource
    yield Objects(
        device=device,
        resource=DeviceMemoryResource(device, {}),
        stream=stream,
        other=other,
        buffer=device.allocate(64, stream=stream),
        target=device.allocate(64, stream=stream),
        event=stream.record(),
        kernel=kernel,
        held=[],
        safe=device.create_stream(),
        safe_buffer=device.allocate(64, stream=stream),
    )
    device.memory_resource = before
    device.sync()


def entered(o: Objects, call: Callable[[], object]) -> None:
    with o.stream:
        call()


def keep(o: Objects, container: Any) -> Any:
    """A container that hostile code empties."""
    o.held.append(container)
    return container


CALLS: dict[str, Callable[[Objects, Hostile], object]] = {
    "Device.allocate, size": lambda o, h: o.device.allocate(h.index(64), stream=o.stream),
    "Device.allocate, stream": lambda o, h: o.device.allocate(64, stream=h.stream(o.safe)),
    "Device.allocate, property": lambda o, h: o.device.allocate(
        64, stream=h.stream_property(o.safe)
    ),
    "MemoryResource.allocate": lambda o, h: o.resource.allocate(h.index(64), stream=o.stream),
    "MemoryResource.deallocate": lambda o, h: o.resource.deallocate(
        h.index(0), 64, stream=h.stream(o.safe)
    ),
    "copy_from, host": lambda o, h: o.buffer.copy_from(h.host(64), stream=o.stream),
    "copy_from, stream": lambda o, h: o.buffer.copy_from(o.target, stream=h.stream(o.safe)),
    "copy_to, host": lambda o, h: o.buffer.copy_to(h.host(64), stream=o.stream),
    "copy_to, stream": lambda o, h: o.buffer.copy_to(o.target, stream=h.stream(o.safe)),
    "copy_to, new": lambda o, h: o.buffer.copy_to(stream=h.stream(o.safe)),
    "fill, value": lambda o, h: o.buffer.fill(h.host(4), stream=o.stream),
    "fill, stream": lambda o, h: o.buffer.fill(0, stream=h.stream(o.safe)),
    "Buffer.close": lambda o, h: o.buffer.close(h.stream(o.safe)),
    "set_deallocation_stream": lambda o, h: o.buffer.set_deallocation_stream(h.stream(o.safe)),
    "Buffer.from_handle": lambda o, h: Buffer.from_handle(
        h.index(o.safe_buffer.handle), h.index(64), stream=h.stream(o.safe)
    ),
    "__dlpack__": lambda o, h: o.buffer.__dlpack__(dl_device=(h.index(2), h.index(0)), stream=-1),
    "record": lambda o, h: o.stream.record(options=h.mapping({"timing_enabled": True})),
    "wait": lambda o, h: o.stream.wait(h.stream(o.safe)),
    "create_stream": lambda o, h: o.device.create_stream(h.stream(o.safe)),
    "create_stream, options": lambda o, h: o.device.create_stream(
        options=h.mapping({"nonblocking": True})
    ),
    "Stream.from_handle": lambda o, h: Stream.from_handle(h.index(o.safe.handle)),
    "launch, number": lambda o, h: launch(o.stream, LaunchConfig(), o.kernel, o.buffer, h.index(3)),
    "launch, pointer": lambda o, h: launch(
        o.stream, LaunchConfig(), o.kernel, h.index(o.safe_buffer.handle), 3
    ),
    "launch, stream": lambda o, h: launch(h.stream(o.safe), LaunchConfig(), o.kernel, o.buffer, 3),
    "launch, config": lambda o, h: launch(
        o.stream,
        keep(o, {"grid": keep(o, [h.index(1), 1]), "shmem_size": h.index(0), "block": 1}),
        o.kernel,
        o.buffer,
        3,
    ),
    "launcher": lambda o, h: o.kernel[1, 1, o.stream](o.buffer, h.index(3)),
    "launcher, current": lambda o, h: entered(o, lambda: o.kernel[1, 1](o.buffer, h.index(3))),
    "kernel[...]": lambda o, h: o.kernel[
        keep(o, [h.index(1), h.index(1)]), 1, h.stream(o.safe), h.index(0)
    ],
    "LaunchConfig": lambda o, h: LaunchConfig(grid=keep(o, [h.index(2), h.index(1)])),
    "occupancy": lambda o, h: o.kernel.occupancy.max_potential_block_size(
        lambda _size: h.index(0), 0
    ),
    "max_active_clusters": lambda o, h: o.kernel.occupancy.max_active_clusters(
        {"block": h.index(1), "cluster": 1}, stream=h.stream(o.safe)
    ),
    "trim": lambda o, h: o.resource.trim(h.index(0)),  # type: ignore[attr-defined]
    "options": lambda _o, h: cudacore.ProgramOptions(max_register_count=h.index(32)),
    "Device": lambda _o, h: Device(h.index(0)),
    "set_attribute": lambda o, h: setattr(
        o.kernel.attributes, "preferred_shared_memory_carveout", h.index(-1)
    ),
}
if sys.version_info < (3, 12):  # __buffer__ is new in that version
    for unknown in ("copy_from, host", "copy_to, host", "fill, value"):
        del CALLS[unknown]


@pytest.mark.parametrize("name", CALLS)
def test_harmless_code_is_called(objects: Objects, name: str) -> None:
    seen: list[str] = []
    CALLS[name](objects, Hostile(lambda: seen.append(name)))
    assert seen


@pytest.mark.parametrize("name", [name for name in CALLS if name != "__dlpack__"])
def test_what_it_raises_comes_through(objects: Objects, name: str) -> None:
    def boom() -> None:
        raise BoomError(name)

    with pytest.raises(BoomError, match=name.replace("[", r"\[").replace(".", r"\.")):
        CALLS[name](objects, Hostile(boom))
    assert not objects.buffer.is_closed


@pytest.mark.parametrize("name", CALLS)
def test_it_closes_everything(objects: Objects, name: str) -> None:
    before = cudacore.unraisable_errors()
    with contextlib.suppress(ValueError, cudacore.InvalidValueError):
        CALLS[name](objects, Hostile(objects.close_all))
    objects.device.sync()
    assert cudacore.unraisable_errors() == before


@pytest.mark.parametrize("name", CALLS)
def test_it_calls_again(objects: Objects, name: str) -> None:
    harmless = Hostile(lambda: None)
    depth = [0]

    def again() -> None:
        if depth[0] < 2:
            depth[0] += 1
            CALLS[name](objects, harmless)

    CALLS[name](objects, Hostile(again))
    assert depth[0]
    objects.device.sync()


def test_current_stream_is_left_and_closed(objects: Objects) -> None:
    launcher = objects.kernel[1, 1]
    objects.stream.__enter__()
    launcher(objects.buffer, Hostile(objects.leave).index(3))
    assert objects.stream.is_closed
    assert cudacore.current_stream() == cudacore.LEGACY_DEFAULT_STREAM
    objects.device.sync()


def test_argument_closes_the_buffer_before_it(objects: Objects) -> None:
    with pytest.raises(ValueError, match="closed Buffer"):
        objects.kernel[1, 1, objects.stream](objects.buffer, Hostile(objects.buffer.close).index(3))


@pytest.mark.multi_gpu
def test_argument_makes_another_device_current(device: Device) -> None:
    device.set_current()
    kernel = build("__global__ void k(int* p, int n) { *p = n; }").get_kernel("k")
    buffer = device.allocate(4)
    try:
        kernel[1, 1](buffer, Hostile(Device(1).set_current).index(7))
    finally:
        device.set_current()
    assert buffer.copy_to(bytearray(4)) == b"\x07\0\0\0"


def test_resource_is_replaced_while_it_allocates(objects: Objects) -> None:
    device = objects.device

    class Replaced(OwnResource):
        def allocate(self, size: int, *, stream: Any = None) -> Buffer:
            device.memory_resource = SynchronousMemoryResource(device)
            gc.collect()
            return super().allocate(size, stream=stream)

    device.memory_resource = Replaced(objects.resource)
    buffer = device.allocate(Hostile(gc.collect).index(64), stream=objects.stream)
    assert isinstance(buffer.memory_resource, Replaced)
    buffer.close()


def test_resource_is_asked_and_closes_the_buffer(objects: Objects) -> None:
    resource = OwnResource(objects.resource)
    buffer = resource.allocate(64, stream=objects.stream)
    resource.on_question = buffer.close
    with pytest.raises(ValueError, match="closed"):
        objects.kernel[1, 1, objects.stream](buffer, 3)
    assert resource.out == {}


def test_config_mapping_key_compares(objects: Objects) -> None:
    values: dict[Any, Any] = {}

    class Key(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            values.clear()
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    values.update({Key("grid"): 1, Key("block"): 1})
    launch(objects.stream, values, objects.kernel, objects.buffer, 3)
    objects.stream.sync()


def test_error_on_its_way_survives_a_resource(objects: Objects) -> None:
    resource = OwnResource(objects.resource)

    def boom(_buffer: Buffer) -> None:
        raise BoomError

    with pytest.raises(BoomError):
        boom(resource.allocate(64, stream=objects.stream))
    gc.collect()
    assert resource.out == {}


@pytest.mark.parametrize(
    "call",
    [
        Event.close,
        Stream.close,
        Stream.__enter__,
        lambda one: Stream.__exit__(one, None, None, None),
        lambda one: Event.__exit__(one, None, None, None),
        lambda one: Buffer.__exit__(one, None, None, None),
        lambda one: Buffer.set_deallocation_stream(one, None),
        cudacore.Launcher.__repr__,
        Stream.__hash__,
    ],
)
@pytest.mark.parametrize("one", [3, None, object()], ids=["int", "None", "object"])
def test_methods_refuse_another_self(call: Any, one: Any) -> None:
    with pytest.raises(TypeError):
        call(one)


def test_logs_writer_closes_the_program() -> None:
    program = Program("__global__ void k() { int unused; }", "c++", {"arch": "sm_90"})

    class Writer:
        def write(self, text: str) -> int:
            program.close()
            return len(text)

    program.compile("ptx", logs=Writer())
    assert program.is_closed
