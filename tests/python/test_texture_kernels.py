# SPDX-License-Identifier: Apache-2.0
"""Kernels that read textures, and read and write surfaces; textures as arguments."""

import gc
from collections.abc import Iterator
from typing import Any

import cudacore
import pytest
from cudacore import Buffer, Device, Kernel, LegacyPinnedMemoryResource, ObjectCode, Stream, launch
from cudacore.texture import (
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
    ResourceDescriptor,
    SurfaceObject,
    TextureObject,
    TextureObjectOptions,
)
from harness import build

np = pytest.importorskip("numpy")

SOURCE = """
using Texture = cudaTextureObject_t;
using Surface = cudaSurfaceObject_t;

template <typename T>
__global__ void fetch(Texture texture, T* out) {
  out[threadIdx.x] = tex1Dfetch<T>(texture, threadIdx.x);
}

__global__ void sample_1d(Texture texture, const float* x, float* out) {
  out[threadIdx.x] = tex1D<float>(texture, x[threadIdx.x]);
}
__global__ void sample_2d(Texture texture, const float* at, float* out) {
  const int i = threadIdx.x;
  out[i] = tex2D<float>(texture, at[2 * i], at[2 * i + 1]);
}
template <typename T>
__global__ void sample_type(Texture texture, float x, float y, T* out) {
  *out = tex2D<T>(texture, x, y);
}
__global__ void sample_3d(Texture texture, const float* at, float* out) {
  const int i = threadIdx.x;
  out[i] = tex3D<float>(texture, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}
__global__ void sample_level(Texture texture, float x, float y, const float* level, float* out) {
  out[threadIdx.x] = tex2DLod<float>(texture, x, y, level[threadIdx.x]);
}
__global__ void double_surface(Surface surface) {
  const int x = threadIdx.x * sizeof(unsigned), y = threadIdx.y;
  surf2Dwrite(2 * surf2Dread<unsigned>(surface, x, y), surface, x, y);
}
__global__ void write_1d(Surface surface) {
  surf1Dwrite(make_float2(threadIdx.x, -1.0f), surface, threadIdx.x * sizeof(float2));
}
__global__ void write_3d(Surface surface) {
  const unsigned char value = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
  surf3Dwrite(value, surface, threadIdx.x, threadIdx.y, threadIdx.z);
}
__global__ void take_pointer(float* p) {}
__global__ void take_int(int i) {}
__global__ void take_signed(long long i) {}
__global__ void take_number(unsigned long long handle, unsigned long long* out) {
  *out = handle;
}
extern "C" __global__ void plain(Texture texture, float* out) {
  *out = tex1Dfetch<float>(texture, 1);
}
"""
NAMES = ["fetch<float>", "fetch<unsigned char>", "fetch<uint4>", "fetch<short2>", "fetch<float2>",
         "sample_type<float>", "sample_type<float4>", "sample_type<unsigned>", "sample_type<int>",
         "sample_type<uchar4>"]  # fmt: skip


@pytest.fixture(scope="module")
def code(device: Device) -> ObjectCode:
    device.set_current()
    return build(SOURCE, *NAMES)


@pytest.fixture(autouse=True)
def current(device: Device, stream: Stream) -> Iterator[None]:
    device.set_current()
    with stream:
        yield


def pinned(values: Any, dtype: str = "f4") -> tuple[Buffer, Any]:
    """Make memory that kernels reach, and the NumPy array that shows it."""
    host = np.asarray(values, dtype)
    buffer = LegacyPinnedMemoryResource().allocate(max(host.nbytes, 1))
    shown = np.from_dlpack(buffer.view(dtype, host.shape))
    shown[...] = host
    return buffer, shown


def array_of(values: Any, *, is_surface: bool = False, channels: int = 1) -> OpaqueArray:
    """Make an array of the elements of a NumPy array, whose last dimension is the width."""
    values = np.ascontiguousarray(values)
    shape = values.shape[:-1] if channels > 1 else values.shape
    made = Device().create_opaque_array(
        OpaqueArrayOptions(shape[::-1], values.dtype, channels, is_surface)
    )
    made.copy_from(values)
    return made


def texture_of(source: Any, **options: Any) -> TextureObject:
    if isinstance(source, OpaqueArray):
        source = ResourceDescriptor.from_opaque_array(source)
    return Device().create_texture_object(resource=source, options=TextureObjectOptions(**options))


def surface_of(array: OpaqueArray) -> SurfaceObject:
    return Device().create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))


def read(kernel: Kernel, texture: Any, points: Any, stream: Stream, dtype: str = "f4") -> list[Any]:
    at, _ = pinned(points)
    out, result = pinned(np.zeros(len(points)), dtype)
    kernel[1, len(points)](texture, at, out)
    stream.sync()
    return result.tolist()


class TestLinearMemory:
    @pytest.mark.parametrize(
        ("name", "dtype", "channels"),
        [("float", "f4", 1), ("unsigned char", "u1", 1), ("uint4", "u4", 4), ("short2", "i2", 2),
         ("float2", "f4", 2)],
    )  # fmt: skip
    def test_elements(self, code: ObjectCode, name: str, dtype: str, channels: int) -> None:
        device, stream = Device(), cudacore.current_stream()
        values = np.arange(32 * channels).astype(dtype)
        memory = device.to_device(values)
        texture = texture_of(
            ResourceDescriptor.from_linear(memory, format=values.dtype, num_channels=channels)
        )
        out, result = pinned(np.zeros(32 * channels), dtype)
        code.get_kernel(f"fetch<{name}>")[1, 32](texture, out)
        stream.sync()
        assert result.tolist() == values.tolist()

    def test_normalized(self, device: Device, code: ObjectCode, stream: Stream) -> None:
        memory = device.to_device(np.array([0, 51, 255], "u1"))
        texture = texture_of(
            ResourceDescriptor.from_linear(memory, format="uint8", num_channels=1),
            read_mode="normalized_float",
        )
        out, result = pinned(np.zeros(3))
        code.get_kernel("fetch<float>")[1, 3](texture, out)
        stream.sync()
        assert result == pytest.approx([0, 0.2, 1])

    def test_rows(self, device: Device, code: ObjectCode, stream: Stream) -> None:
        rows = np.zeros((4, 128), "f4")
        rows[:, :8] = np.arange(32).reshape(4, 8)
        resource = ResourceDescriptor.from_pitch2d(
            device.to_device(rows), format="float32", num_channels=1, width=8, height=4,
            pitch_bytes=512,
        )  # fmt: skip
        sample = code.get_kernel("sample_2d")
        texture = texture_of(resource, filter_mode="linear")
        points = [(0.5, 0.5), (7.5, 3.5), (4.0, 1.5), (4.5, 2.0), (99, 99)]
        assert read(sample, texture, points, stream) == [0, 31, 11.5, 16, 31]


class TestArrays:
    def test_one_dimension(self, code: ObjectCode, stream: Stream) -> None:
        texture = texture_of(array_of(np.array([1, 2, 4, 8], "f4")), filter_mode="linear")
        points = [-3, 0.5, 1, 1.5, 2, 3.5, 9]
        assert read(code.get_kernel("sample_1d"), texture, points, stream) == [
            1, 1, 1.5, 2, 3, 8, 8,
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            ("clamp", [1, 1, 1, 2, 3, 4, 4, 4]),
            ("border", [9, 9, 1, 2, 3, 4, 9, 9]),
            ("wrap", [3, 4, 1, 2, 3, 4, 1, 2]),
            ("mirror", [2, 1, 1, 2, 3, 4, 4, 3]),
        ],
    )
    def test_address_modes(
        self, code: ObjectCode, stream: Stream, mode: str, expected: list[float]
    ) -> None:
        texture = texture_of(
            array_of(np.array([1, 2, 3, 4], "f4")),
            address_mode=mode, normalized_coords=True, border_color=(9, 0, 0, 0),
        )  # fmt: skip
        points = [(i - 1.5) / 4 for i in range(8)]
        assert read(code.get_kernel("sample_1d"), texture, points, stream) == expected

    def test_two_dimensions(self, code: ObjectCode, stream: Stream) -> None:
        image = np.add.outer(100 * np.arange(16), np.arange(16)).astype("f4")
        sample = code.get_kernel("sample_2d")
        points = [(0.5, 0.5), (3.5, 0.5), (7.5, 9.5), (1, 0.5), (0.5, 1), (4, 5), (-5, 40)]
        linear = texture_of(array_of(image), filter_mode="linear")
        assert read(sample, linear, points, stream) == [0, 3, 907, 0.5, 50, 453.5, 1500]
        nearest = texture_of(array_of(image), filter_mode="point")
        assert read(sample, nearest, points, stream) == [0, 3, 907, 1, 100, 504, 1500]

    def test_address_modes_of_each_dimension(self, code: ObjectCode, stream: Stream) -> None:
        image = np.arange(16).reshape(4, 4).astype("f4")
        texture = texture_of(
            array_of(image), address_mode=("wrap", "clamp"), normalized_coords=True
        )
        points = [(1.125, 0.125), (0.125, 1.125), (-0.125, -0.125)]
        assert read(code.get_kernel("sample_2d"), texture, points, stream) == [0, 12, 3]

    def test_three_dimensions(self, code: ObjectCode, stream: Stream) -> None:
        volume = np.arange(24).reshape(2, 3, 4).astype("f4")
        texture = texture_of(array_of(volume), filter_mode="linear")
        points = [(0.5, 0.5, 0.5), (3.5, 2.5, 1.5), (1, 0.5, 0.5), (0.5, 1, 0.5), (0.5, 0.5, 1)]
        assert read(code.get_kernel("sample_3d"), texture, points, stream) == [0, 23, 0.5, 2, 6]

    @pytest.mark.parametrize(("dtype", "most"), [("u1", 255), ("u2", 65535), ("i1", 127)])
    def test_normalized(self, code: ObjectCode, stream: Stream, dtype: str, most: int) -> None:
        texture = texture_of(
            array_of(np.array([[0, most]], dtype)),
            read_mode="normalized_float", filter_mode="linear",
        )  # fmt: skip
        points = [(0.5, 0.5), (1, 0.5), (1.5, 0.5)]
        # Devices filter integers in fixed point: between 127 and 0, they are up to 2**-16 away.
        assert read(code.get_kernel("sample_2d"), texture, points, stream) == pytest.approx(
            [0, 0.5, 1], abs=2**-15
        )

    @pytest.mark.parametrize(
        ("types", "channels"),
        [(("float4", "f2", "f4"), 4), (("unsigned", "u4", "u4"), 1), (("int", "i2", "i4"), 1),
         (("uchar4", "u1", "u1"), 4), (("float", "f4", "f4"), 1)],
    )  # fmt: skip
    def test_formats(self, code: ObjectCode, types: tuple[str, str, str], channels: int) -> None:
        name, form, dtype = types
        values = np.arange(6 * channels).reshape(2, 3, *([channels] * (channels > 1)))
        texture = texture_of(array_of(values.astype(form), channels=channels))
        out, result = pinned(np.zeros(channels), dtype)
        code.get_kernel(f"sample_type<{name}>")[1, 1](texture, 2.5, 1.5, out)
        cudacore.current_stream().sync()
        assert result.tolist() == values[1, 2].reshape(-1).tolist()

    def test_srgb(self, code: ObjectCode, stream: Stream) -> None:
        texture = texture_of(
            array_of(np.full((1, 1, 4), 188, "u1"), channels=4),
            srgb=True, read_mode="normalized_float",
        )  # fmt: skip
        out, result = pinned(np.zeros(4))
        code.get_kernel("sample_type<float4>")[1, 1](texture, 0.5, 0.5, out)
        stream.sync()
        # The fourth channel is no color.
        assert result == pytest.approx([0.5029, 0.5029, 0.5029, 188 / 255], abs=2e-3)

    def test_levels(self, device: Device, code: ObjectCode, stream: Stream) -> None:
        made = device.create_mipmapped_array(MipmappedArrayOptions((8, 8), "float32", 1, 4))
        for i in range(4):
            level = made.get_level(i)
            level.copy_from(np.full(level.shape[::-1], 10 * i, "f4"))
        texture = texture_of(
            ResourceDescriptor.from_mipmapped_array(made),
            filter_mode="linear", mipmap_filter_mode="linear", normalized_coords=True,
            max_mipmap_level_clamp=2,
        )  # fmt: skip
        levels, _ = pinned([0, 1, 1.5, 2, 3])
        out, result = pinned(np.zeros(5))
        code.get_kernel("sample_level")[1, 5](texture, 0.5, 0.5, levels, out)
        stream.sync()
        assert result.tolist() == [0, 10, 15, 20, 20]


class TestSurfaces:
    def test_are_read_and_written(self, code: ObjectCode, stream: Stream) -> None:
        image = np.arange(32, dtype="u4").reshape(4, 8)
        array = array_of(image, is_surface=True)
        double = code.get_kernel("double_surface")
        double[1, (8, 4)](surface_of(array))
        result = array.copy_to(np.zeros_like(image))
        stream.sync()
        assert (result == 2 * image).all()

    def test_one_and_three_dimensions(self, code: ObjectCode, stream: Stream) -> None:
        line = array_of(np.zeros((8, 2), "f4"), channels=2, is_surface=True)
        code.get_kernel("write_1d")[1, 8](surface_of(line))
        volume = array_of(np.zeros((2, 3, 4), "u1"), is_surface=True)
        code.get_kernel("write_3d")[1, (4, 3, 2)](surface_of(volume))
        values = line.copy_to(np.zeros((8, 2), "f4"))
        numbers = volume.copy_to(np.zeros((2, 3, 4), "u1"))
        stream.sync()
        assert values[:, 0].tolist() == list(range(8))
        assert (values[:, 1] == -1).all()
        z, y, x = np.indices((2, 3, 4))
        assert (numbers == x + 10 * y + 100 * z).all()

    def test_textures_see_what_surfaces_wrote(self, code: ObjectCode, stream: Stream) -> None:
        array = array_of(np.ones((4, 8), "u4"), is_surface=True)
        out, result = pinned(0, "u4")
        texture = texture_of(array)
        code.get_kernel("double_surface")[1, (8, 4)](surface_of(array))
        code.get_kernel("sample_type<unsigned>")[1, 1](texture, 7.5, 3.5, out)
        stream.sync()
        assert result == 2

    def test_levels_are_written(self, device: Device, code: ObjectCode, stream: Stream) -> None:
        made = device.create_mipmapped_array(
            MipmappedArrayOptions((16, 8), "uint32", 1, 2, is_surface_load_store=True)
        )
        level = made.get_level(1)
        level.copy_from(np.ones((4, 8), "u4"))
        code.get_kernel("double_surface")[1, (8, 4)](surface_of(level))
        result = level.copy_to(np.zeros((4, 8), "u4"))
        stream.sync()
        assert (result == 2).all()


class TestArguments:
    @pytest.fixture
    def texture(self, device: Device) -> TextureObject:
        memory = device.to_device(np.array([1, 2], "f4"))
        return texture_of(ResourceDescriptor.from_linear(memory, format="float32", num_channels=1))

    def test_handles_and_objects_are_the_same(
        self, code: ObjectCode, stream: Stream, texture: TextureObject
    ) -> None:
        kernel = code.get_kernel("take_number")
        out, result = pinned(0, "u8")
        for given in (texture, texture.handle, np.uint64(texture.handle)):
            result[...] = 0
            launch(stream, cudacore.LaunchConfig(grid=1, block=1), kernel, given, out)
            stream.sync()
            assert result == texture.handle

    def test_kernels_without_a_mangled_name(
        self, code: ObjectCode, stream: Stream, texture: TextureObject
    ) -> None:
        out, result = pinned(0)
        code.get_kernel("plain")[1, 1](texture, out)
        stream.sync()
        assert result == 2

    def test_kept_launchers(self, code: ObjectCode, stream: Stream, texture: TextureObject) -> None:
        out, result = pinned(0)
        bound = code.get_kernel("plain")[1, 1]
        for _ in range(3):
            result[...] = 0
            bound(texture, out)
            stream.sync()
            assert result == 2

    @pytest.mark.parametrize(
        ("name", "shown"),
        [("take_pointer", r"float\*"), ("take_int", "int"), ("take_signed", "long long")],
    )
    def test_other_parameters_refuse_them(
        self, code: ObjectCode, texture: TextureObject, name: str, shown: str
    ) -> None:
        kernel = code.get_kernel(name)
        surface = surface_of(array_of(np.zeros((4, 4), "u4"), is_surface=True))
        for one in (texture, surface):
            with pytest.raises(
                TypeError, match=rf"{name}: argument 1 .*\({shown}.*\) cannot take a "
                rf"\S*{type(one).__name__}: declare the parameter as cudaTextureObject_t",
            ):  # fmt: skip
                kernel[1, 1](one)

    def test_textures_take_no_other_objects(
        self, device: Device, code: ObjectCode, texture: TextureObject
    ) -> None:
        kernel = code.get_kernel("sample_1d")
        array = array_of(np.zeros((4, 4), "f4"))
        mipmaps = device.create_mipmapped_array(MipmappedArrayOptions((8, 8), "float32", 1, 2))
        x = device.allocate(4)
        for wrong in (x, None, 1.5, np.zeros(4)):
            with pytest.raises(TypeError, match="sample_1d: argument 1 .*unsigned long long"):
                kernel[1, 1](wrong, x, x)
        for wrong in (array, mipmaps):
            with pytest.raises(TypeError, match="pass a TextureObject or a SurfaceObject of it"):
                kernel[1, 1](wrong, x, x)
            with pytest.raises(TypeError, match="pass a TextureObject or a SurfaceObject of it"):
                code.get_kernel("take_pointer")[1, 1](wrong)

    def test_closed_ones_are_refused(self, code: ObjectCode, texture: TextureObject) -> None:
        surface = surface_of(array_of(np.zeros((4, 4), "u4"), is_surface=True))
        for one in (texture, surface):
            one.close()
            with pytest.raises(ValueError, match=f"cannot take a closed {type(one).__name__}"):
                code.get_kernel("double_surface")[1, 1](one)

    @pytest.mark.multi_gpu
    def test_of_another_device_are_refused(self, code: ObjectCode) -> None:
        other = Device(1)
        with other:
            memory = other.allocate(16, stream=other.default_stream)
        texture = other.create_texture_object(
            resource=ResourceDescriptor.from_linear(memory, format="float32", num_channels=1)
        )
        with pytest.raises(TypeError, match="it is for device 1, and the launch is on device 0"):
            code.get_kernel("plain")[1, 1](texture, None)

    def test_kernels_without_a_signature_take_them(
        self, code: ObjectCode, stream: Stream, texture: TextureObject
    ) -> None:
        kernel = code.get_kernel("plain").with_signature("unsigned long long, float*")
        out, result = pinned(0)
        kernel[1, 1](texture, out)
        stream.sync()
        assert result == 2


class TestGraphs:
    def test_captures_keep_closed_textures(self, code: ObjectCode, stream: Stream) -> None:
        array = array_of(np.full((4, 8), 3, "u4"), is_surface=True)
        texture, surface = texture_of(array), surface_of(array)
        out, result = pinned(0, "u4")
        with stream.create_graph_builder() as builder:
            code.get_kernel("double_surface")[1, (8, 4)](surface)
            code.get_kernel("sample_type<unsigned>")[1, 1](texture, 7.5, 3.5, out)
        graph = builder.complete()
        for one in (texture, surface, array):
            one.close()
        del texture, surface, array
        gc.collect()
        for expected in (6, 12):
            graph.launch(stream)
            stream.sync()
            assert result == expected
        graph.close()

    def test_nodes_keep_closed_textures(self, code: ObjectCode, stream: Stream) -> None:
        array = array_of(np.full((4, 8), 3, "u4"))
        texture = texture_of(array)
        out, result = pinned(0, "u4")
        definition = cudacore.graph.GraphDefinition()
        sample = code.get_kernel("sample_type<unsigned>")
        shape = cudacore.LaunchConfig(grid=1, block=1)
        definition.launch(shape, sample, texture, 7.5, 3.5, out)
        graph = definition.instantiate()
        texture.close()
        array.close()
        graph.launch(stream)
        stream.sync()
        assert result == 3

    def test_recorded_functions_take_them(self, code: ObjectCode, stream: Stream) -> None:
        sample = code.get_kernel("sample_type<unsigned>")

        @cudacore.graph
        def step(texture: TextureObject, out: Buffer) -> None:
            sample[1, 1](texture, 0.5, 0.5, out)

        out, result = pinned(0, "u4")
        device_out = Device().allocate(4)
        for value in (5, 6):
            texture = texture_of(array_of(np.full((4, 4), value, "u4")))
            for _ in range(2):
                step(texture, device_out)
                device_out.copy_to(out)
                stream.sync()
                assert result == value

    def test_recordings_notice_closed_ones(self, code: ObjectCode, stream: Stream) -> None:
        sample, double = code.get_kernel("sample_type<unsigned>"), code.get_kernel("double_surface")

        @cudacore.graph
        def reads(texture: TextureObject, out: Buffer) -> None:
            sample[1, 1](texture, 0.5, 0.5, out)

        @cudacore.graph
        def doubles(surface: SurfaceObject, x: Buffer) -> None:
            double[1, (8, 4)](surface)

        @cudacore.graph
        def copies(array: OpaqueArray, x: Buffer) -> None:
            array.copy_from(x)

        array = array_of(np.full((4, 8), 3, "u4"), is_surface=True)
        x = Device().allocate(128)
        for function, one in (
            (reads, texture_of(array)),
            (doubles, surface_of(array)),
            (copies, array_of(np.full(32, 3, "u4"))),
        ):
            function(one, x)
            function(one, x)
            one.close()
            with pytest.raises(ValueError, match="closed"):
                function(one, x)
        stream.sync()

    def test_recordings_notice_replaced_addresses(self, device: Device, stream: Stream) -> None:
        if not device.properties.tensor_map_access_supported:
            pytest.skip("the device has no Tensor Memory Accelerator")
        source = """
        struct alignas(64) Map { unsigned long long words[16]; };
        __global__ void show(const __grid_constant__ Map map, unsigned long long* out) {
          out[threadIdx.x] = map.words[threadIdx.x];
        }
        """
        show = build(source).get_kernel("show")
        calls = []

        @cudacore.graph
        def step(tensor: cudacore.TensorMapDescriptor, out: Buffer) -> None:
            show[1, 16](tensor, out)

        views = [device.allocate(4096).view("i4", (32, 32)) for _ in range(2)]
        tensor = views[0].as_tensor_map((8, 8))
        out = device.allocate(128)
        for view in (views[0], views[1]):
            tensor.replace_address(view)
            step(tensor, out)
            calls.append(bytes(out.to_host()))
        assert calls[0] != calls[1]

    def test_handles_of_textures_of_arguments(self, code: ObjectCode, device: Device) -> None:
        plain = code.get_kernel("plain")

        @cudacore.graph
        def step(memory: Buffer, out: Buffer) -> None:
            resource = ResourceDescriptor.from_linear(memory, format="float32", num_channels=1)
            plain[1, 1](texture_of(resource).handle, out)

        with pytest.raises(cudacore.NotSupportedError, match="handle of a TextureObject"):
            step(device.allocate(64), device.allocate(4))
