# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces: how they are made, what is refused, and how they end."""

import gc
import math
import subprocess
import sys
from typing import Any

import cudacore
import pytest
from cudacore import Buffer, Device, LegacyPinnedMemoryResource
from cudacore.texture import (
    MipmappedArray,
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
    ResourceDescriptor,
    SurfaceObject,
    TextureObject,
    TextureObjectOptions,
)
from cudacore.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


@pytest.fixture
def buffer(device: Device) -> Buffer:
    return device.allocate(4096)


def array_of(device: Device, form: str = "float32", *, is_surface: bool = False) -> OpaqueArray:
    return device.create_opaque_array(OpaqueArrayOptions((8, 8), form, 1, is_surface))


def mipmaps_of(device: Device, form: str = "float32") -> MipmappedArray:
    return device.create_mipmapped_array(MipmappedArrayOptions((8, 8), form, 1, 3, True))


def texture_of(resource: Any, **options: Any) -> TextureObject:
    return Device().create_texture_object(
        resource=resource, options=TextureObjectOptions(**options)
    )


def surface_of(array: OpaqueArray) -> SurfaceObject:
    return Device().create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))


class TestModule:
    def test_is_loaded_when_named(self) -> None:
        script = """
import sys, cudacore
assert "cudacore.texture" not in sys.modules
assert "cudacore.typing" not in sys.modules
cudacore.texture.OpaqueArray
assert cudacore.texture.OpaqueArray.__module__ == "cudacore.texture"
"""
        subprocess.run([sys.executable, "-c", script], check=True)

    def test_names_are_those_of_cuda_core(self) -> None:
        for name in cudacore.texture.__all__:
            assert getattr(cudacore.texture, name).__module__ == "cudacore.texture"
            assert getattr(cudacore.texture, name).__name__ == name
        assert not hasattr(cudacore.texture, "nonsense")


class TestResources:
    def test_arrays(self, device: Device) -> None:
        array, mipmaps = array_of(device), mipmaps_of(device)
        resource = ResourceDescriptor.from_opaque_array(array)
        assert (resource.kind, resource.source) == ("array", array)
        assert repr(resource) == f"ResourceDescriptor(kind='array', source={resource.source!r})"
        for name in ("format", "num_channels", "size_bytes", "width", "height", "pitch_bytes"):
            assert getattr(resource, name) is None
        resource = ResourceDescriptor.from_mipmapped_array(mipmaps)
        assert (resource.kind, resource.source) == ("mipmapped_array", mipmaps)

    def test_linear(self, buffer: Buffer) -> None:
        resource = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=2)
        assert (resource.kind, resource.source) == ("linear", buffer)
        assert resource.format is ArrayFormatType.FLOAT32
        assert (resource.num_channels, resource.size_bytes) == (2, 4096)
        assert repr(resource) == (
            "ResourceDescriptor(kind='linear', format=FLOAT32, num_channels=2, size_bytes=4096)"
        )
        part = ResourceDescriptor.from_linear(
            buffer, format="uint8", num_channels=1, size_bytes=100
        )
        assert part.size_bytes == 100

    def test_pitched(self, buffer: Buffer) -> None:
        resource = ResourceDescriptor.from_pitch2d(
            buffer, format="uint8", num_channels=4, width=10, height=64, pitch_bytes=64
        )
        assert (resource.kind, resource.source) == ("pitch2d", buffer)
        assert (resource.width, resource.height, resource.pitch_bytes) == (10, 64, 64)
        assert repr(resource) == (
            "ResourceDescriptor(kind='pitch2d', format=UINT8, num_channels=4, width=10, "
            "height=64, pitch_bytes=64)"
        )

    def test_is_not_made_directly(self) -> None:
        with pytest.raises(RuntimeError, match="^ResourceDescriptor cannot be instantiated"):
            ResourceDescriptor()

    def test_other_objects_are_refused(self, device: Device) -> None:
        made: Any = ResourceDescriptor
        with pytest.raises(TypeError, match="array must be an OpaqueArray, got MipmappedArray"):
            made.from_opaque_array(mipmaps_of(device))
        with pytest.raises(TypeError, match="mipmapped_array must be a MipmappedArray, got object"):
            made.from_mipmapped_array(object())
        with pytest.raises(TypeError, match="buffer must be a Buffer, got object"):
            made.from_linear(object(), format="uint8", num_channels=1)
        with pytest.raises(TypeError, match="buffer must be a Buffer, got bytes"):
            made.from_pitch2d(
                b"", format="uint8", num_channels=1, width=1, height=1, pitch_bytes=32
            )

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"size_bytes": 4097}, r"size_bytes \(4097\) exceeds buffer.size \(4096\)"),
            ({"size_bytes": 0}, "at least one element"),
            ({"size_bytes": -4}, "at least one element"),
            ({"size_bytes": 10, "format": "uint32"}, "multiple of element size .*4 bytes"),
            ({"num_channels": 3}, "num_channels"),
            ({"format": 0}, "format must be an ArrayFormatType"),
        ],
    )
    def test_wrong_linear_memory_is_refused(
        self, buffer: Buffer, fields: dict[str, Any], message: str
    ) -> None:
        given = {"format": "uint8", "num_channels": 1, **fields}
        with pytest.raises(ValueError, match=message):
            ResourceDescriptor.from_linear(buffer, **given)

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"width": 0}, "width must be >= 1, got 0"),
            ({"height": 0}, "height must be >= 1, got 0"),
            ({"width": 17}, r"pitch_bytes \(64\) must be >= width \* element_bytes \(68\)"),
            ({"height": 65}, r"pitch_bytes \* height \(4160\) exceeds buffer.size \(4096\)"),
            ({"num_channels": 0}, "num_channels"),
            ({"format": "float64"}, "format must be an ArrayFormatType"),
        ],
    )
    def test_wrong_rows_are_refused(
        self, buffer: Buffer, fields: dict[str, Any], message: str
    ) -> None:
        given = {"format": "uint32", "num_channels": 1, "width": 8, "height": 8, "pitch_bytes": 64}
        with pytest.raises(ValueError, match=message):
            ResourceDescriptor.from_pitch2d(buffer, **{**given, **fields})
        with pytest.raises(TypeError, match="width must be an int"):
            ResourceDescriptor.from_pitch2d(buffer, **{**given, "width": 8.0})

    def test_closed_buffers_are_refused(self, buffer: Buffer) -> None:
        buffer.close()
        with pytest.raises(ValueError, match="this Buffer is closed"):
            ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)


class TestOptions:
    def test_defaults(self) -> None:
        options = TextureObjectOptions()
        assert options.address_mode is AddressModeType.CLAMP
        assert options.filter_mode is FilterModeType.POINT
        assert options.read_mode is ReadModeType.ELEMENT_TYPE
        assert options.mipmap_filter_mode is FilterModeType.POINT
        assert options.border_color is None
        assert options.max_anisotropy == 0
        assert not options.normalized_coords

    def test_strings_become_members(self) -> None:
        options = TextureObjectOptions(filter_mode="linear", read_mode="normalized_float")
        assert options.filter_mode is FilterModeType.LINEAR
        assert options.read_mode is ReadModeType.NORMALIZED_FLOAT

    @pytest.mark.parametrize("name", ["filter_mode", "read_mode", "mipmap_filter_mode"])
    @pytest.mark.parametrize("value", ["nope", 0, None])
    def test_other_modes_are_refused(self, name: str, value: Any) -> None:
        with pytest.raises(ValueError, match=f"^{name} must be a .*Type or one of {{'"):
            TextureObjectOptions(**{name: value})

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"address_mode": 42}, TypeError, "must be an AddressModeType or a tuple.*, not int"),
            ({"address_mode": ()}, ValueError, "address_mode tuple must have 1-3 entries, got 0"),
            ({"address_mode": ("wrap",) * 4}, ValueError, "must have 1-3 entries, got 4"),
            ({"address_mode": ("wrap", "bad")}, ValueError, r"address_mode\[1\] must be"),
            ({"address_mode": "bad"}, ValueError, "address_mode must be"),
            ({"max_anisotropy": -1}, ValueError, "max_anisotropy must be >= 0"),
            ({"max_anisotropy": 1.5}, TypeError, "max_anisotropy must be an int"),
            ({"border_color": (0.0, 0.0)}, ValueError, "border_color must have 4 elements, got 2"),
            (
                {"border_color": ("a",) * 4},
                TypeError,
                r"color\[0\] must be a float, not str",
            ),
            ({"border_color": 1}, TypeError, "border_color must be a tuple of floats, not int"),
            ({"mipmap_level_bias": "1"}, TypeError, "bias must be a float, not str"),
            ({"mipmap_level_bias": bytearray(b"1")}, TypeError, "must be a float, not bytearray"),
            ({"mipmap_level_bias": 10**400}, OverflowError, "bias is too large for a float"),
            (
                {"border_color": (10**400,) * 4},
                OverflowError,
                r"color\[0\] is too large for a float",
            ),
            ({"mipmap_level_bias": math.nan}, ValueError, "must be a finite float of 32 bits"),
            ({"min_mipmap_level_clamp": 1e39}, ValueError, "must be a finite float of 32 bits"),
            ({"max_mipmap_level_clamp": True}, TypeError, "clamp must be a float, not bool"),
            ({"normalized_coords": 1}, TypeError, "normalized_coords must be a bool, not int"),
            ({"srgb": math.nan}, TypeError, "srgb must be a bool, not float"),
            ({"seamless_cubemap": None}, TypeError, "seamless_cubemap must be a bool"),
            ({"disable_trilinear_optimization": 2}, TypeError, "optimization must be a bool"),
            ({"filter_mode": "linear", "srgb": True}, ValueError, "srgb needs uint8 elements"),
        ],
    )
    def test_are_checked(
        self, device: Device, options: Any, error: type[Exception], message: str
    ) -> None:
        resource = ResourceDescriptor.from_opaque_array(array_of(device))
        with pytest.raises(error, match=message):
            texture_of(resource, **options)

    def test_of_another_type_are_refused(self, device: Device) -> None:
        resource = ResourceDescriptor.from_opaque_array(array_of(device))
        with pytest.raises(TypeError, match="options must be TextureObjectOptions, a mapping"):
            device.create_texture_object(resource=resource, options="no")  # type: ignore[arg-type]
        made = device.create_texture_object(resource=resource, options={"filter_mode": "linear"})
        assert made.options.filter_mode is FilterModeType.LINEAR

    @pytest.mark.parametrize(
        ("form", "options", "message"),
        [
            ("uint8", {"filter_mode": "linear"}, "uint8 elements are read as integers; read_mode"),
            ("int32", {"filter_mode": "linear"}, "int32 elements are read as integers$"),
            ("int32", {"read_mode": "normalized_float"}, "elements of 8 or 16 bits, not int32"),
            ("uint32", {"read_mode": "normalized_float"}, "elements of 8 or 16 bits, not uint32"),
            ("int8", {"srgb": True}, "srgb needs uint8 elements, not int8"),
        ],
    )
    def test_reads_that_a_format_lacks_are_refused(
        self, device: Device, form: str, options: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            texture_of(ResourceDescriptor.from_opaque_array(array_of(device, form)), **options)

    def test_a_filter_between_levels_needs_floats(self, device: Device) -> None:
        resource = ResourceDescriptor.from_mipmapped_array(mipmaps_of(device, "uint8"))
        options = {"mipmap_filter_mode": "linear", "normalized_coords": True}
        with pytest.raises(ValueError, match="a linear filter needs floats"):
            texture_of(resource, **options)
        texture_of(resource, read_mode="normalized_float", **options)

    def test_levels_need_normalized_coordinates(self, device: Device) -> None:
        resource = ResourceDescriptor.from_mipmapped_array(mipmaps_of(device))
        with pytest.raises(ValueError, match="MipmappedArray needs normalized_coords"):
            texture_of(resource)


class TestTextures:
    def test_properties(self, device: Device) -> None:
        resource = ResourceDescriptor.from_opaque_array(array_of(device))
        options = TextureObjectOptions(filter_mode="linear", normalized_coords=True)
        made = device.create_texture_object(resource=resource, options=options)
        assert made.handle != 0
        assert made.resource is resource
        assert made.options is options
        assert made.device is device
        assert repr(made) == f"TextureObject(handle={made.handle:#x}, resource={resource!r})"
        assert device.create_texture_object(resource=resource).options == TextureObjectOptions()

    def test_all_resources(self, device: Device, buffer: Buffer) -> None:
        for resource in (
            ResourceDescriptor.from_mipmapped_array(mipmaps_of(device)),
            ResourceDescriptor.from_linear(buffer, format="int8", num_channels=1),
            ResourceDescriptor.from_pitch2d(
                buffer, format="uint8", num_channels=4, width=8, height=8, pitch_bytes=512
            ),
        ):
            options = {"address_mode": ("wrap", "clamp"), "normalized_coords": True}
            assert texture_of(resource, **options).handle != 0

    def test_is_not_made_directly(self) -> None:
        for kind in (TextureObject, SurfaceObject):
            for error in (RuntimeError, TypeError):
                with pytest.raises(error, match=f"^{kind.__name__} cannot be instantiated direct"):
                    kind()

    def test_other_resources_are_refused(self, device: Device) -> None:
        for make in (device.create_texture_object, device.create_surface_object):
            with pytest.raises(TypeError, match="resource must be a ResourceDescriptor, got obj"):
                make(resource=object())  # type: ignore[arg-type]
            with pytest.raises(TypeError, match=r"; ResourceDescriptor.from_opaque_array\(array\)"):
                make(resource=array_of(device))  # type: ignore[arg-type]

    def test_closed_resources_are_refused(self, device: Device, buffer: Buffer) -> None:
        array, mipmaps = array_of(device), mipmaps_of(device)
        resources = [
            ResourceDescriptor.from_opaque_array(array),
            ResourceDescriptor.from_mipmapped_array(mipmaps),
            ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1),
            ResourceDescriptor.from_pitch2d(
                buffer, format="uint8", num_channels=1, width=8, height=8, pitch_bytes=512
            ),
        ]
        for source in (array, mipmaps, buffer):
            source.close()
        for resource in resources:
            with pytest.raises(ValueError, match=r"this \w+ is closed"):
                texture_of(resource)

    def test_memory_must_be_aligned(self, device: Device, buffer: Buffer) -> None:
        resource = ResourceDescriptor.from_linear(buffer[4:], format="uint8", num_channels=1)
        with pytest.raises(ValueError, match=r"address of the Buffer.*\(texture_alignment\)"):
            texture_of(resource)
        pitch = device.properties.texture_pitch_alignment
        rows = ResourceDescriptor.from_pitch2d(
            buffer, format="uint8", num_channels=1, width=8, height=8, pitch_bytes=pitch + 8
        )
        with pytest.raises(ValueError, match=r"pitch_bytes.*\(texture_pitch_alignment\)"):
            texture_of(rows)
        rows = ResourceDescriptor.from_pitch2d(
            buffer[4:], format="uint8", num_channels=1, width=8, height=8, pitch_bytes=pitch
        )
        with pytest.raises(ValueError, match=r"address of the Buffer.*\(texture_alignment\)"):
            texture_of(rows)

    def test_pinned_memory_is_read(self) -> None:
        pinned = LegacyPinnedMemoryResource().allocate(4096)
        resource = ResourceDescriptor.from_linear(pinned, format="uint8", num_channels=1)
        assert texture_of(resource).handle != 0

    @pytest.mark.multi_gpu
    def test_what_is_on_another_device_is_refused(self, device: Device, buffer: Buffer) -> None:
        other = Device(1)
        resources = [
            ResourceDescriptor.from_opaque_array(array_of(device, is_surface=True)),
            ResourceDescriptor.from_mipmapped_array(mipmaps_of(device)),
            ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1),
        ]
        for resource in resources:
            with pytest.raises(ValueError, match="is on device 0, and .* is for device 1"):
                other.create_texture_object(resource=resource)
        with pytest.raises(ValueError, match="is on device 0, and .* is for device 1"):
            other.create_surface_object(resource=resources[0])

    def test_closing_twice_is_fine(self, device: Device) -> None:
        resource = ResourceDescriptor.from_opaque_array(array_of(device, is_surface=True))
        options = TextureObjectOptions()
        texture = device.create_texture_object(resource=resource, options=options)
        surface = device.create_surface_object(resource=resource)
        for made in (texture, surface):
            with made as entered:
                assert entered is made
            made.close()
            assert made.is_closed
            assert made.handle == 0
            assert made.resource is None
            assert repr(made) == f"<{type(made).__name__}, closed>"
            with pytest.raises(ValueError, match=f"this {type(made).__name__} is closed"):
                _ = made.device
        assert texture.options is options

    def test_keep_what_they_reach(self, device: Device) -> None:
        array = array_of(device, is_surface=True)
        resource = ResourceDescriptor.from_opaque_array(array)
        made = [texture_of(resource), surface_of(array)]
        assert resource in gc.get_referents(made[0])
        assert array in gc.get_referents(resource)
        array.close()
        del array, resource
        gc.collect()
        for one in made:
            assert one.handle != 0
            one.close()

    def test_cycles_are_collected(self, device: Device) -> None:
        class Options(TextureObjectOptions):
            texture: Any = None

        options = Options()
        made = device.create_texture_object(
            resource=ResourceDescriptor.from_opaque_array(array_of(device)), options=options
        )
        options.texture = made
        import weakref

        seen = weakref.ref(options)
        del options, made
        gc.collect()
        assert seen() is None


class TestSurfaces:
    def test_properties(self, device: Device) -> None:
        array = array_of(device, is_surface=True)
        made = surface_of(array)
        assert made.handle != 0
        assert made.resource is not None
        assert made.resource.source is array
        assert made.device is device
        assert repr(made) == f"SurfaceObject(handle={made.handle:#x}, resource={made.resource!r})"

    def test_needs_an_array_that_can_be_written(self, device: Device, buffer: Buffer) -> None:
        with pytest.raises(ValueError, match="is_surface_load_store=True"):
            surface_of(array_of(device))
        resources = [
            ResourceDescriptor.from_mipmapped_array(mipmaps_of(device)),
            ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1),
            ResourceDescriptor.from_pitch2d(
                buffer, format="uint8", num_channels=1, width=8, height=8, pitch_bytes=64
            ),
        ]
        for resource in resources:
            with pytest.raises(ValueError, match="requires an array-backed ResourceDescriptor"):
                device.create_surface_object(resource=resource)

    def test_levels_are_arrays(self, device: Device) -> None:
        assert surface_of(mipmaps_of(device).get_level(1)).handle != 0

    def test_closed_arrays_are_refused(self, device: Device) -> None:
        array = array_of(device, is_surface=True)
        resource = ResourceDescriptor.from_opaque_array(array)
        array.close()
        with pytest.raises(ValueError, match="this OpaqueArray is closed"):
            device.create_surface_object(resource=resource)
