# SPDX-License-Identifier: Apache-2.0
"""How textures, surfaces and arrays end: after work, a reset, a fork, and at exit."""

import gc
import threading
from typing import Any

import cudacore
import pytest
from cudacore import (
    Device,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Stream,
    launch,
)
from cudacore.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObject
from harness import build, run_cleanly

pytestmark = pytest.mark.filterwarnings("ignore:this capture has no nodes")

MAKE = """
import os
import cudacore
from cudacore.texture import MipmappedArrayOptions, OpaqueArrayOptions, ResourceDescriptor

device = cudacore.Device()
device.set_current()
array = device.create_opaque_array(OpaqueArrayOptions((8, 4), "uint32", 1, True))
resource = ResourceDescriptor.from_opaque_array(array)
texture = device.create_texture_object(resource=resource)
surface = device.create_surface_object(resource=resource)
mipmaps = device.create_mipmapped_array(MipmappedArrayOptions((8, 4), "uint8", 1, 2))
level = mipmaps.get_level(1)
array.copy_from(bytes(128))
_ = texture.handle, surface.handle
"""


def test_exit_leaves_nothing_behind() -> None:
    run_cleanly(MAKE)


def test_a_child_of_a_fork_leaves_them_alone() -> None:
    script = f"""
{MAKE}
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if child == 0:
    refused = 0
    for use in (
        lambda: array.copy_from(bytes(128)),
        lambda: device.create_surface_object(resource=resource),
        lambda: mipmaps.get_level(0),
    ):
        try:
            use()
        except cudacore.ForkedProcessError:
            refused += 1
    texture.close()
    surface.close()
    level.close()
    mipmaps.close()
    array.close()
    os._exit(0 if refused == 3 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
out = array.copy_to(bytearray(128))
device.sync()
assert not any(out)
"""
    run_cleanly(script.replace("\n    \n", "\n"))


@pytest.mark.simulator_only(reason="only the simulated device is reset")
def test_a_reset_ends_them() -> None:
    script = f"""
{MAKE}
cudacore.simulator.reset()
device.set_current()
code = '''
__global__ void take(cudaTextureObject_t texture) {{}}
'''
take = cudacore.Program(code, "c++").compile().get_kernel("take")
for use in (
    lambda: array.copy_from(bytes(128)),
    lambda: level.copy_from(bytes(8)),
    lambda: take[1, 1](texture),
    lambda: take[1, 1](surface),
    lambda: device.create_surface_object(resource=resource),
    lambda: device.create_texture_object(resource=resource),
    lambda: mipmaps.get_level(0),
):
    try:
        use()
    except cudacore.ContextLostError:
        pass
    else:
        raise AssertionError("used after the reset")
for one in (texture, surface, level, mipmaps, array):
    one.close()
again = device.create_opaque_array(OpaqueArrayOptions((8, 4), "uint32", 1))
again.copy_from(bytes(128))
device.sync()
assert cudacore.unraisable_errors() == 0
"""
    run_cleanly(script)


def test_work_is_waited_for_while_another_stream_is_captured(
    device: Device, stream: Stream, gate: Any
) -> None:
    device.set_current()
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "uint8", 1))
    array.copy_from(b"abcd", stream=stream)
    stream.sync()
    out = bytearray(4)
    pinned = LegacyPinnedMemoryResource().allocate(4)
    with device.create_stream() as other:
        builder = other.create_graph_builder().begin_building()
        gate.hold(stream)
        array.copy_to(pinned, stream=stream)
        array.close()
        gate.open()
        stream.sync()
        pinned.copy_to(out, stream=stream)
        stream.sync()
        builder.end_building().complete().close()
    assert out == b"abcd"
    assert cudacore.unraisable_errors() == 0


def test_work_is_waited_for_without_the_gil(device: Device, stream: Stream) -> None:
    device.set_current()
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "uint8", 1))
    texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array))
    assert texture.handle != 0
    begun = threading.Event()
    order: list[str] = []

    def work() -> None:
        begun.set()
        threading.Event().wait(0.05)
        order.append("worked")

    stream.add_callback(work)
    begun.wait()
    texture.close()
    order.append("ended")
    assert order == ["worked", "ended"]


SHAPE = LaunchConfig(grid=1, block=4)


@pytest.fixture(scope="module")
def read(device: Device) -> Kernel:
    device.set_current()
    code = """__global__ void read(cudaTextureObject_t t, int* o) {
        o[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
    }"""
    return build(code).get_kernel("read")


def texture_of_ints(device: Device, stream: Stream) -> TextureObject:
    memory = device.allocate(16, stream=stream)
    memory.copy_from(b"abcd" * 4, stream=stream)
    resource = ResourceDescriptor.from_linear(memory, format="int32", num_channels=1)
    return device.create_texture_object(resource=resource)


def hold(stream: Stream) -> threading.Event:
    """Let the stream wait for an event of this process."""
    go = threading.Event()
    stream.add_callback(lambda: go.wait(30) and None)
    return go


def test_work_is_waited_for_while_something_is_captured(
    device: Device, stream: Stream, read: Kernel
) -> None:
    device.set_current()
    texture, out = texture_of_ints(device, stream), device.allocate(16, stream=stream)
    go = hold(stream)
    launch(stream, SHAPE, read, texture, out)
    builder = device.create_stream().create_graph_builder()
    builder.begin_building()
    threading.Timer(0.1, go.set).start()
    texture.close()
    builder.end_building().complete()
    host = bytearray(16)
    out.copy_to(host, stream=stream)
    stream.sync()
    assert host == b"abcd" * 4


@pytest.mark.parametrize("how", ["close", "collect"])
def test_other_work_is_not_waited_for(
    device: Device, stream: Stream, read: Kernel, how: str
) -> None:
    device.set_current()
    texture, out = texture_of_ints(device, stream), device.allocate(16, stream=stream)
    launch(stream, SHAPE, read, texture, out)
    stream.sync()
    other = device.create_stream()
    go = hold(other)
    if how == "close":
        texture.close()
    else:
        del texture
    assert not other.is_done
    go.set()
    other.sync()


def test_collecting_does_not_wait_for_what_has_the_handle(
    device: Device, stream: Stream, read: Kernel
) -> None:
    device.set_current()
    texture, out = texture_of_ints(device, stream), device.allocate(16, stream=stream)
    go = hold(stream)
    launch(stream, SHAPE, read, texture.handle, out)
    del texture
    gc.collect()
    assert not stream.is_done
    go.set()
    host = bytearray(16)
    out.copy_to(host, stream=stream)
    stream.sync()
    assert host == b"abcd" * 4
    assert cudacore.unraisable_errors() == 0


def test_closing_leaves_captures_alone() -> None:
    script = """
import threading
from cudacore import Device, LaunchConfig, Program, launch
from cudacore.texture import ResourceDescriptor

device = Device()
device.set_current()
code = "__global__ void read(cudaTextureObject_t t, int* o) { *o = tex1Dfetch<int>(t, 0); }"
read = Program(code, "c++").compile().get_kernel("read")
memory = device.allocate(16)
resource = ResourceDescriptor.from_linear(memory, format="int32", num_channels=1)
is_over = threading.Event()
def close_textures():
    stream = device.create_stream()
    while not is_over.is_set():
        texture = device.create_texture_object(resource=resource)
        launch(stream, LaunchConfig(grid=1, block=1), read, texture, memory)
        texture.close()
threads = [threading.Thread(target=close_textures) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    for _ in range(100):
        builder = device.create_stream().create_graph_builder()
        builder.begin_building()
        for _ in range(20):
            memory.fill(1, stream=builder)
        builder.end_building().complete()
finally:
    is_over.set()
    for thread in threads:
        thread.join()
"""
    run_cleanly(script)
