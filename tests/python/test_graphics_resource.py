# SPDX-License-Identifier: Apache-2.0
"""Buffers and images of OpenGL's: on a stand-in driver, and on a real GPU with EGL."""

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import cudacore
import headless_gl
import numpy as np
import pytest
from cudacore import Device, GraphicsResource, NotSupportedError
from harness import build, layered_driver, run_cleanly

FAKE = Path(__file__).with_name("fake_graphics.c")

PREPARE = """
import ctypes, gc
import numpy as np
import cudacore
from cudacore import Buffer, Device, GraphicsResource, texture
device = Device()
device.set_current()
stream = device.create_stream()
fake = ctypes.CDLL("libcuda.so.1")
fake.fake_calls.restype = ctypes.c_char_p
names = {stream.handle: "stream", 1: "default"}

def name_of(word):
    return names.get(int(word, 16), word) if word.startswith("0x") else word

def said():
    text = fake.fake_calls().decode()
    fake.fake_forget()
    return [" ".join(map(name_of, line.split())) for line in text.splitlines()]

def refused(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return error
    raise AssertionError("not refused: " + text)
"""


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """Build the stand-in; return the environment in which a process uses it."""
    return layered_driver(tmp_path_factory.mktemp("graphics"), FAKE.read_text())


def with_fake(env: dict[str, str | None], script: str) -> None:
    run_cleanly(PREPARE + textwrap.dedent(script), env=env)


class TestBuffers:
    def test_is_mapped_while_the_buffer_is_open(self, fake: dict[str, str | None]) -> None:
        with_fake(
            fake,
            """
            resource = GraphicsResource.from_gl_buffer(5, flags=["write_discard", "read_only"])
            assert resource.handle == resource.resource_handle != 0
            assert not resource.is_mapped and not resource.is_closed
            assert resource.device == device
            assert said() == ["register buffer 5 as 3"]
            with resource.map(stream=stream) as buffer:
                assert type(buffer) is Buffer and buffer.size == 1024
                assert (buffer.device_id, buffer.is_host_accessible) == (0, False)
                assert resource.is_mapped
                buffer.fill(7, stream=stream)
                assert buffer.view("u1")[::300].shape == (4,)
                assert buffer.to_host("u1", stream=stream).tolist() == [7] * 1024
            assert (buffer.handle, buffer.size) == (0, 0)
            assert not resource.is_mapped
            assert said() == ["map 5 on stream", "unmap 5 on stream"]
            resource.close()
            resource.close()
            assert resource.is_closed and resource.handle == 0
            assert said() == ["unregister 5"]
            """,
        )

    def test_ends_in_the_right_order(self, fake: dict[str, str | None]) -> None:
        with_fake(
            fake,
            """
            other = device.create_stream()
            names[other.handle] = "other"
            resource = GraphicsResource.from_gl_buffer(1)
            buffer = resource.map(stream=stream)
            resource.unmap(stream=other)
            assert buffer.is_closed and not resource.is_mapped
            buffer = resource.map(stream=stream)
            resource.close(stream=other)
            assert buffer.is_closed and not resource.is_mapped
            assert said()[1:] == [
                "map 1 on stream", "unmap 1 on other", "map 1 on stream", "unmap 1 on other",
                "unregister 1",
            ]
            with GraphicsResource.from_gl_buffer(2, stream=stream) as buffer:
                assert type(buffer) is Buffer
            assert buffer.is_closed
            with GraphicsResource.from_gl_buffer(3) as resource:
                assert type(resource) is GraphicsResource
            assert said() == [
                "register buffer 2 as 0", "map 2 on stream", "unmap 2 on stream", "unregister 2",
                "register buffer 3 as 0", "unregister 3",
            ]
            with GraphicsResource.from_gl_buffer(4).map(stream=stream):
                assert said() == ["register buffer 4 as 0", "map 4 on stream"]
            assert said() == ["unmap 4 on stream", "unregister 4"]
            """,
        )

    def test_lives_as_long_as_its_buffer(self, fake: dict[str, str | None]) -> None:
        with_fake(
            fake,
            """
            with stream:
                resource = GraphicsResource.from_gl_buffer(1)
                resource.map()  # kept by the resource
            assert resource.is_mapped
            del resource
            gc.collect()
            assert said()[1:] == ["map 1 on stream", "unmap 1 on stream", "unregister 1"]
            buffer = GraphicsResource.from_gl_buffer(2).map(stream=stream)
            resource = GraphicsResource.from_gl_buffer(3)
            part = resource.map(stream=stream)[:16]
            gc.collect()
            said()
            message = "still open: close them"
            error = refused(resource.unmap, ValueError, message)
            assert isinstance(error, RuntimeError)
            assert resource.is_mapped and said() == []
            resource.close()
            assert said() == []
            part.close()
            assert said() == ["unmap 3 on stream", "unregister 3"]
            buffer.close()
            assert said() == ["unmap 2 on stream", "unregister 2"]
            """,
        )

    def test_wrong_uses(self, fake: dict[str, str | None]) -> None:
        with_fake(
            fake,
            """
            resource = GraphicsResource.from_gl_buffer(1)
            both = (ValueError, RuntimeError)
            for kind in both:
                refused(resource.unmap, kind, "GraphicsResource is not mapped")
            buffer = resource.map(stream=stream)
            for map in (resource.map, resource.map_array, resource.map_mipmapped_array):
                for kind in both:
                    refused(lambda: map(stream=stream), kind, "is already mapped")
            buffer.close()
            refused(lambda: resource.map_array(stream=stream), cudacore.CUDAError,
                    "cuGraphicsSubResourceGetMappedArray failed on layer 0, level 0 of graphics")
            assert not resource.is_mapped
            builder = stream.create_graph_builder()
            builder.begin_building()
            refused(lambda: resource.map(stream=stream), ValueError, "captured")
            builder.end_building()
            refused(lambda: resource.map(stream=5), TypeError, "stream")
            assert "GraphicsResource 0x" in repr(resource) and "mapped" not in repr(resource)
            resource.close()
            for use in (resource.map, resource.unmap, resource.map_array):
                for kind in both:
                    refused(use, kind, "GraphicsResource is closed")
            refused(lambda: resource.device, ValueError, "closed")
            assert repr(resource) == "<GraphicsResource, closed>"
            refused(lambda: GraphicsResource.from_gl_buffer(999), cudacore.CUDAError,
                    "buffer 999 of the OpenGL context that is current in this thread, on device 0")
            """,
        )


class TestImages:
    def test_are_read_and_written_as_arrays(self, fake: dict[str, str | None]) -> None:
        with_fake(
            fake,
            """
            resource = GraphicsResource.from_gl_image(6, 0x0DE1, flags="surface_load_store")
            with resource.map_array(stream=stream) as array:
                assert resource.is_mapped
                assert (array.shape, array.num_channels, array.format.name) == (
                    (8, 4), 4, "UINT8")
                assert array.is_surface_load_store
                content = np.arange(128, dtype="u1")
                array.copy_from(content, stream=stream)
                surface = device.create_surface_object(
                    resource=texture.ResourceDescriptor.from_opaque_array(array))
            assert resource.is_mapped  # the surface uses it
            surface.close()
            assert not resource.is_mapped
            assert said() == ["register image 6 of target 3553 as 4", "map 6 on stream",
                              "layer 0, level 0", "unmap 6 on stream"]
            array = resource.map_array(3, 2, stream=stream)
            found = np.zeros(128, "u1")
            array.copy_to(found, stream=stream)
            stream.sync()
            assert found.tolist() == content.tolist()
            resource.unmap(stream=device.default_stream)
            assert array.is_closed
            assert said() == ["map 6 on stream", "layer 3, level 2", "unmap 6 on default"]
            refused(lambda: resource.map_array(level=9, stream=stream), cudacore.CUDAError,
                    "level 9")
            refused(lambda: resource.map(stream=stream), cudacore.CUDAError,
                    "cuGraphicsResourceGetMappedPointer")
            assert not resource.is_mapped
            """,
        )

    def test_have_levels(self, fake: dict[str, str | None]) -> None:
        with_fake(
            fake,
            """
            resource = GraphicsResource.from_gl_image(6, 0x0DE1)
            levels = resource.map_mipmapped_array(stream=stream)
            assert (levels.num_levels, levels.shape, levels.num_channels) == (3, (8, 4), 4)
            level = levels.get_level(1)
            assert level.shape == (4, 2)
            refused(resource.unmap, ValueError, "levels")
            assert levels.is_closed and resource.is_mapped
            said()
            level.close()
            assert said() == ["unmap 6 on stream"]
            resource.close()
            assert said() == ["unregister 6"]
            """,
        )

    def test_of_unknown_forms(self, fake: dict[str, str | None]) -> None:
        with_fake(
            fake,
            """
            resource = GraphicsResource.from_gl_image(77, 0x8C1A)
            for map in (resource.map_array, resource.map_mipmapped_array):
                refused(lambda: map(stream=stream), cudacore.NotSupportedError,
                        "has layers, faces or another form")
                assert not resource.is_mapped
            """,
        )


class TestArguments:
    @pytest.mark.parametrize(
        ("call", "error", "text"),
        [
            (GraphicsResource, TypeError, "from_gl_image"),
            (GraphicsResource, RuntimeError, "from_gl_buffer"),
            (lambda: GraphicsResource.from_gl_buffer("1"), TypeError, "gl_buffer"),
            (lambda: GraphicsResource.from_gl_buffer(True), TypeError, "gl_buffer"),
            (lambda: GraphicsResource.from_gl_buffer(-1), OverflowError, "gl_buffer must lie in 0"),
            (lambda: GraphicsResource.from_gl_buffer(2**32), OverflowError, "gl_buffer"),
            (lambda: GraphicsResource.from_gl_image(2**99, 1), OverflowError, "image"),
            (lambda: GraphicsResource.from_gl_image(1, 1.5), TypeError, "target"),
            (lambda: GraphicsResource.from_gl_buffer(1, flags="fast"), ValueError, "read_only"),
            (lambda: GraphicsResource.from_gl_buffer(1, flags=["none", "x"]), ValueError, "'x'"),
            (lambda: GraphicsResource.from_gl_buffer(1, flags=3), TypeError, "flags"),
            (lambda: GraphicsResource.from_gl_buffer(1, flags=(3,)), TypeError, "flags"),
            (lambda: GraphicsResource.from_gl_buffer(1, stream=3), TypeError, "stream"),
        ],
    )
    def test_wrong(
        self, call: Callable[[], object], error: type[Exception], text: str, device: Device
    ) -> None:
        device.set_current()
        with pytest.raises(error, match=text):
            call()

    @pytest.mark.simulator_only(reason="a GPU has graphics")
    def test_simulated_device_has_no_graphics(self, device: Device) -> None:
        device.set_current()
        with pytest.raises(NotSupportedError, match="cuGraphicsGLRegisterBuffer"):
            GraphicsResource.from_gl_buffer(1)
        with pytest.raises(NotSupportedError, match="cuGraphicsGLRegisterImage"):
            GraphicsResource.from_gl_image(1, headless_gl.GL_TEXTURE_2D)


@pytest.fixture
def gl(device: Device) -> Iterator[headless_gl.HeadlessGl]:
    """Make an OpenGL context on the device current."""
    egl = headless_gl.Egl()
    for one in egl.devices():
        if egl.cuda_device_of(one) == device.device_id:
            with headless_gl.context_on(egl, one) as context:
                yield context
            return
    pytest.skip("EGL has no device of CUDA's")


@pytest.mark.gpu_only(reason="the simulated device has no graphics")
class TestOpenGl:
    def test_kernel_writes_a_buffer(self, gl: headless_gl.HeadlessGl, device: Device) -> None:
        device.set_current()
        stream = device.create_stream()
        before = np.arange(256, dtype="f4")
        double = build(
            "__global__ void twice(float* x) { x[threadIdx.x] = 2 * x[threadIdx.x] + 1; }"
        ).get_kernel("twice")
        name = gl.make_buffer(before.tobytes())
        with GraphicsResource.from_gl_buffer(name) as resource:
            for _ in range(3):
                with resource.map(stream=stream) as buffer:
                    assert buffer.size == before.nbytes
                    assert buffer.device_id == device.device_id
                    double[1, 256, stream](buffer)
                before = 2 * before + 1
                found = np.frombuffer(gl.read_buffer(name, before.nbytes), "f4")
                assert found.tolist() == before.tolist()
        assert cudacore.unraisable_errors() == 0

    def test_kernel_writes_an_image(self, gl: headless_gl.HeadlessGl, device: Device) -> None:
        device.set_current()
        stream = device.create_stream()
        width, height = 16, 8
        before = np.arange(4 * width * height, dtype="u4").astype("u1")
        name = gl.make_image(before.tobytes(), width, height)
        invert = build(
            """
            __global__ void invert(cudaSurfaceObject_t image) {
              uchar4 c = surf2Dread<uchar4>(image, threadIdx.x * 4, threadIdx.y);
              c = make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, 255 - c.w);
              surf2Dwrite(c, image, threadIdx.x * 4, threadIdx.y);
            }
            """
        ).get_kernel("invert")
        resource = GraphicsResource.from_gl_image(
            name, headless_gl.GL_TEXTURE_2D, flags="surface_load_store"
        )
        with resource.map_array(stream=stream) as array:
            assert (array.shape, array.num_channels) == ((width, height), 4)
            source = cudacore.texture.ResourceDescriptor.from_opaque_array(array)
            with device.create_surface_object(resource=source) as surface:
                invert[1, (width, height), stream](surface)
        assert not resource.is_mapped
        found = np.frombuffer(gl.read_image(name, before.nbytes), "u1")
        assert found.tolist() == (255 - before).tolist()
        levels = resource.map_mipmapped_array(stream=stream)
        assert levels.num_levels >= 1
        resource.close()
        assert levels.is_closed
        assert cudacore.unraisable_errors() == 0

    def test_needs_a_context_of_opengl(self, device: Device) -> None:
        device.set_current()
        with pytest.raises(cudacore.CUDAError, match="OpenGL context that is current"):
            GraphicsResource.from_gl_buffer(12345)
