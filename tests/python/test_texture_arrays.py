# SPDX-License-Identifier: Apache-2.0
"""Arrays for textures: what they are, copies, and how they end."""

import array as host_array
import gc
import weakref
from typing import Any

import pytest
from cudacore import Buffer, Device, Stream
from cudacore.texture import (
    MipmappedArray,
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
)
from cudacore.typing import ArrayFormatType


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def make(device: Device, shape: Any = (8, 4), **options: Any) -> OpaqueArray:
    chosen = {"format": "uint32", "num_channels": 1, **options}
    return device.create_opaque_array(OpaqueArrayOptions(shape, **chosen))


class TestOptions:
    def test_fields_become_plain(self) -> None:
        options = OpaqueArrayOptions([16, 8], "uint8", 4)  # type: ignore[arg-type]
        assert options.shape == (16, 8)
        assert options.format is ArrayFormatType.UINT8
        assert not options.is_surface_load_store
        assert MipmappedArrayOptions((8,), ArrayFormatType.INT16, 2, 3).num_levels == 3

    @pytest.mark.parametrize("name", ["f4", "<f4", "=f4", "float32"])
    def test_names_of_dtypes_are_formats(self, name: str) -> None:
        assert OpaqueArrayOptions((8,), name, 1).format is ArrayFormatType.FLOAT32
        with pytest.raises(ValueError, match="format must be"):
            OpaqueArrayOptions((8,), f">{name}", 1)

    def test_dtypes_are_formats(self) -> None:
        np = pytest.importorskip("numpy")
        for name in ArrayFormatType:
            assert OpaqueArrayOptions((8,), np.dtype(name.value), 1).format is name
            assert OpaqueArrayOptions((8,), getattr(np, name.value), 1).format is name
        with pytest.raises(ValueError, match="float64.*no ArrayFormatType equivalent"):
            OpaqueArrayOptions((8,), np.float64, 1)

    @pytest.mark.parametrize("form", ["float64", "", 0, 3.5, None, object(), True])
    def test_other_formats_are_refused(self, form: Any) -> None:
        pytest.importorskip("numpy")
        with pytest.raises(ValueError, match="format must be an ArrayFormatType|no ArrayFormat"):
            OpaqueArrayOptions((8,), form, 1)

    @pytest.mark.parametrize("channels", [True, 1.0, "1", None])
    def test_numbers_of_channels_are_ints(self, channels: Any) -> None:
        with pytest.raises(TypeError, match="num_channels must be an int, not"):
            OpaqueArrayOptions((8,), "uint8", channels)
        with pytest.raises(TypeError, match="num_channels must be an int, not"):
            MipmappedArrayOptions((8,), "uint8", channels, 1)

    @pytest.mark.parametrize("channels", [0, 3, 8, -1])
    def test_numbers_of_channels_are_checked(self, channels: int) -> None:
        with pytest.raises(ValueError, match="num_channels must be 1, 2, or 4, got"):
            OpaqueArrayOptions((8,), "uint8", channels)
        with pytest.raises(ValueError, match="num_channels must be 1, 2, or 4, got"):
            MipmappedArrayOptions((8,), "uint8", channels, 1)

    def test_flags_are_bools(self) -> None:
        flag: Any = "no"
        with pytest.raises(TypeError, match="is_surface_load_store must be a bool, not str"):
            OpaqueArrayOptions((8,), "uint8", 1, is_surface_load_store=flag)
        with pytest.raises(TypeError, match="is_surface_load_store must be a bool, not str"):
            MipmappedArrayOptions((8,), "uint8", 1, 1, is_surface_load_store=flag)

    @pytest.mark.parametrize(
        ("shape", "error", "message"),
        [
            (8, TypeError, "shape must be a tuple of ints, got int"),
            (b"8", TypeError, "shape must be a tuple of ints, got bytes"),
            ({8, 4}, TypeError, "shape must be a tuple of ints, got set"),
            (("8",), TypeError, r"shape\[0\] must be an int, not str"),
            ((1.5,), TypeError, r"shape\[0\] must be an int, not float"),
            ((True,), TypeError, r"shape\[0\] must be an int, not bool"),
            ((), ValueError, "shape rank must be 1, 2, or 3, got 0"),
            ((1, 1, 1, 1), ValueError, "shape rank must be 1, 2, or 3, got 4"),
            ((8, 0), ValueError, r"shape\[1\] must be >= 1, got 0"),
            ((-8,), ValueError, r"shape\[0\] must be >= 1, got -8"),
        ],
    )
    def test_shapes_are_checked(self, shape: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            OpaqueArrayOptions(shape, "uint8", 1)
        with pytest.raises(error, match=message):
            MipmappedArrayOptions(shape, "uint8", 1, 1)

    def test_levels_are_checked(self, device: Device) -> None:
        with pytest.raises(ValueError, match="num_levels must be >= 1, got 0"):
            MipmappedArrayOptions((8, 8), "uint8", 1, 0)
        with pytest.raises(OverflowError, match="num_levels must lie in"):
            MipmappedArrayOptions((8,), "uint8", 1, 2**31)
        with pytest.raises(TypeError, match="num_levels must be an int"):
            MipmappedArrayOptions((8, 8), "uint8", 1, 1.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="num_levels is 5, but halving 8 .* gives 4 levels"):
            device.create_mipmapped_array(MipmappedArrayOptions((8, 8), "uint8", 1, 5))

    def test_options_are_the_class_or_a_mapping(self, device: Device) -> None:
        made = device.create_opaque_array({"shape": (4,), "format": "uint8", "num_channels": 1})
        assert made.shape == (4,)
        with pytest.raises(TypeError, match="options must be OpaqueArrayOptions or a mapping"):
            device.create_opaque_array("nope")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="options must be MipmappedArrayOptions or a mapping"):
            device.create_mipmapped_array(None)  # type: ignore[arg-type]

    @pytest.mark.parametrize("flag", [False, True])
    def test_the_limits_of_the_device_hold(self, device: Device, flag: bool) -> None:
        properties = device.properties
        most = properties.maximum_surface1d_width if flag else properties.maximum_texture1d_width
        with pytest.raises(ValueError, match=rf"shape\[0\] is {most + 1}, and .* up to {most} "):
            make(device, (most + 1,), is_surface_load_store=flag)
        with pytest.raises(ValueError, match="maximum_texture2d_height"):
            make(device, (1, properties.maximum_texture2d_height + 1))
        with pytest.raises(OverflowError):
            make(device, (2**70,))


class TestArrays:
    def test_properties(self, device: Device) -> None:
        made = make(device, (32, 16, 2), format="float16", num_channels=4)
        assert made.shape == (32, 16, 2)
        assert made.format is ArrayFormatType.FLOAT16
        assert made.num_channels == 4
        assert made.element_bytes == 8
        assert made.size_bytes == 32 * 16 * 2 * 8
        assert made.is_surface_load_store is False
        assert made.handle != 0
        assert made.device is device
        assert repr(made) == "OpaqueArray(shape=(32, 16, 2), format=FLOAT16, num_channels=4)"
        assert make(device, is_surface_load_store=True).is_surface_load_store is True

    def test_is_not_made_directly(self) -> None:
        for kind in (OpaqueArray, MipmappedArray):
            for error in (RuntimeError, TypeError):
                with pytest.raises(error, match=f"^{kind.__name__} cannot be instantiated direct"):
                    kind()

    def test_closing_twice_is_fine(self, device: Device) -> None:
        with make(device) as made:
            shown = hash(made)
        assert made.is_closed
        made.close()
        assert made.handle == 0
        assert repr(made) == "<OpaqueArray, closed>"
        assert hash(made) == shown
        for use in (
            lambda: made.shape, lambda: made.device, lambda: made.size_bytes,
            lambda: made.copy_from(b"", stream=None), lambda: made.copy_to(bytearray(1)),
        ):  # fmt: skip
            with pytest.raises(ValueError, match="this OpaqueArray is closed"):
                use()

    def test_equality_is_identity(self, device: Device) -> None:
        made, other = make(device), make(device)
        assert made == made  # noqa: PLR0124
        assert made != other
        assert made != 1
        assert len({made, other}) == 2

    def test_can_be_referenced_weakly(self, device: Device) -> None:
        made = make(device)
        seen = weakref.ref(made)
        del made
        gc.collect()
        assert seen() is None

    @pytest.mark.multi_gpu
    def test_is_on_the_device_that_makes_it(self) -> None:
        other = Device(1)
        assert make(other).device is other


class TestCopies:
    @pytest.mark.parametrize("shape", [(16,), (8, 4), (4, 3, 2)])
    def test_round_trip(self, device: Device, stream: Stream, shape: tuple[int, ...]) -> None:
        made = make(device, shape)
        count = made.size_bytes // 4
        source = host_array.array("I", range(count))
        target = host_array.array("I", bytes(made.size_bytes))
        made.copy_from(source, stream=stream)
        assert made.copy_to(target, stream=stream) is target
        stream.sync()
        assert target == source == host_array.array("I", range(count))

    @pytest.mark.parametrize("form", list(ArrayFormatType))
    @pytest.mark.parametrize("channels", [1, 2, 4])
    def test_formats(
        self, device: Device, stream: Stream, form: ArrayFormatType, channels: int
    ) -> None:
        made = make(device, (5, 3), format=form, num_channels=channels)
        data = bytes(i % 251 for i in range(made.size_bytes))
        target = bytearray(len(data))
        made.copy_from(data, stream=stream)
        made.copy_to(target, stream=stream)
        stream.sync()
        assert target == data

    def test_buffers(self, device: Device, stream: Stream) -> None:
        made = make(device, (4, 4))
        data = bytes(range(64))
        source = device.to_device(data, stream=stream)
        target = device.allocate(64, stream=stream)
        made.copy_from(source, stream=stream)
        assert made.copy_to(target, stream=stream) is target
        assert bytes(target.copy_to(bytearray(64), stream=stream)[:0]) == b""
        got = target.copy_to(bytearray(64), stream=stream)
        stream.sync()
        assert got == data

    def test_current_stream(self, device: Device, stream: Stream) -> None:
        made = make(device, (4,), format="uint8")
        target = bytearray(4)
        with stream:
            made.copy_from(b"abcd")
            made.copy_to(target)
        stream.sync()
        assert target == b"abcd"

    def test_arrays_of_other_libraries(self, device: Device, stream: Stream) -> None:
        np = pytest.importorskip("numpy")
        made = make(device, (4, 3), format="float32")
        data = np.arange(12, dtype=np.float32).reshape(3, 4)
        made.copy_from(data, stream=stream)
        on_device = device.allocate(48, stream=stream).view("f4", (3, 4))
        assert made.copy_to(on_device, stream=stream) is on_device
        made.copy_from(on_device, stream=stream)
        back = made.copy_to(np.empty_like(data), stream=stream)
        stream.sync()
        assert (back == data).all()
        with pytest.raises(TypeError, match=r"OpaqueArray.copy_from: src.*C-contiguous"):
            made.copy_from(data.T, stream=stream)
        data.flags.writeable = False
        with pytest.raises(TypeError, match="OpaqueArray.copy_to: dst"):
            made.copy_to(data, stream=stream)

    def test_other_objects_are_refused(self, device: Device, stream: Stream) -> None:
        made = make(device)
        with pytest.raises(TypeError, match="OpaqueArray.copy_from: src"):
            made.copy_from(5, stream=stream)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="OpaqueArray.copy_to: dst"):
            made.copy_to(b"constant", stream=stream)
        with pytest.raises(TypeError):
            made.copy_from(bytes(128), stream="not a stream")  # type: ignore[arg-type]

    def test_other_elements_are_refused(self, device: Device, stream: Stream) -> None:
        np = pytest.importorskip("numpy")
        made = make(device, (8, 4), format="float32")
        for use in (made.copy_from, made.copy_to):
            for wrong in (np.ones((4, 8)), np.ones((4, 4), "c8")):
                with pytest.raises(TypeError, match=r"float32: pass array\.astype\(np\.float32\)"):
                    use(wrong, stream=stream)
            on_device = device.allocate(128, stream=stream)
            with pytest.raises(
                TypeError, match="elements are int32, those of this OpaqueArray flo"
            ):
                use(on_device.view("i4", (4, 8)), stream=stream)
            shape = r"has shape \(8, 4\); a width of 8 and a height of 4 is .* shape \(4, 8\)"
            for array in (np.ones((8, 4), "f4"), on_device.view("f4", (8, 4))):
                with pytest.raises(ValueError, match=shape):
                    use(array, stream=stream)
            for right in (np.ones((4, 8, 1), "f4"), np.ones(32, "f4"), on_device, bytearray(128)):
                use(right, stream=stream)
        colors = make(device, (4, 2, 3), format="uint8", num_channels=4)
        colors.copy_from(np.ones((3, 2, 4, 4), "u1"), stream=stream)
        with pytest.raises(ValueError, match=r"depth of 3, with 4 channels, is .* \(3, 2, 4, 4\)"):
            colors.copy_from(np.ones((4, 2, 3, 4), "u1"), stream=stream)
        stream.sync()

    def test_too_large_is_refused(self, device: Device, stream: Stream) -> None:
        np = pytest.importorskip("numpy")
        made = make(device, (8, 4))
        for other in (bytearray(132), np.ones(33, "u4"), device.allocate(132, stream=stream)):
            for use in (made.copy_from, made.copy_to):
                with pytest.raises(
                    ValueError, match=r"132 bytes, larger than the array extent \(1"
                ):
                    use(other, stream=stream)

    def test_too_small_is_refused(self, device: Device, stream: Stream) -> None:
        made = make(device, (8, 4))
        small: list[bytearray | Buffer] = [bytearray(127), device.allocate(127, stream=stream)]
        for other in small:
            with pytest.raises(ValueError, match=r"127 bytes, smaller than the array extent \(128"):
                made.copy_from(other, stream=stream)
            with pytest.raises(ValueError, match=r"127 bytes, smaller than the array extent \(128"):
                made.copy_to(other, stream=stream)
        closed = device.allocate(128, stream=stream)
        closed.close()
        with pytest.raises(ValueError, match="this Buffer is closed"):
            made.copy_from(closed, stream=stream)

    @pytest.mark.multi_gpu
    def test_streams_of_other_devices_are_refused(self, device: Device) -> None:
        other = Device(1).create_stream()
        with pytest.raises(ValueError, match="array is on device 0, and the stream is of device 1"):
            make(device).copy_from(bytes(128), stream=other)

    def test_graphs_keep_the_array(self, device: Device, stream: Stream) -> None:
        made = make(device, (4,), format="uint8")
        source = device.to_device(b"abcd", stream=stream)
        target = device.allocate(4, stream=stream)
        stream.sync()
        builder = device.create_graph_builder().begin_building()
        made.copy_from(source, stream=builder)
        made.copy_to(target, stream=builder)
        graph = builder.end_building().complete()
        made.close()
        del made
        graph.launch(stream)
        got = target.copy_to(bytearray(4), stream=stream)
        stream.sync()
        assert got == b"abcd"
        graph.close()


class TestLevels:
    def options(self, shape: Any = (64, 32), levels: int = 7) -> MipmappedArrayOptions:
        return MipmappedArrayOptions(shape, "uint8", 2, levels, is_surface_load_store=True)

    def test_properties(self, device: Device) -> None:
        made = device.create_mipmapped_array(self.options())
        assert made.shape == (64, 32)
        assert made.format is ArrayFormatType.UINT8
        assert made.num_channels == 2
        assert made.num_levels == 7
        assert made.is_surface_load_store is True
        assert made.handle != 0
        assert made.device is device
        assert repr(made) == (
            "MipmappedArray(shape=(64, 32), format=UINT8, num_channels=2, num_levels=7)"
        )

    def test_levels_halve(self, device: Device) -> None:
        made = device.create_mipmapped_array(self.options())
        shapes = [made.get_level(i).shape for i in range(7)]
        assert shapes == [(64, 32), (32, 16), (16, 8), (8, 4), (4, 2), (2, 1), (1, 1)]
        level = made.get_level(3)
        assert level.is_surface_load_store
        assert (level.format, level.num_channels) == (ArrayFormatType.UINT8, 2)

    def test_other_levels_are_refused(self, device: Device) -> None:
        made = device.create_mipmapped_array(self.options())
        with pytest.raises(ValueError, match=r"level \(7\) must be < num_levels \(7\)"):
            made.get_level(7)
        with pytest.raises(ValueError, match="level must be >= 0, got -1"):
            made.get_level(-1)
        with pytest.raises(TypeError, match="level"):
            made.get_level(1.0)  # type: ignore[arg-type]

    def test_levels_are_apart_and_outlive_the_whole(self, device: Device, stream: Stream) -> None:
        made = device.create_mipmapped_array(self.options((8, 8), 3))
        levels = [made.get_level(i) for i in range(3)]
        made.close()
        del made
        gc.collect()
        for i, level in enumerate(levels):
            level.copy_from(bytes([i + 1]) * level.size_bytes, stream=stream)
        got = [level.copy_to(bytearray(level.size_bytes), stream=stream) for level in levels]
        stream.sync()
        assert [set(data) for data in got] == [{1}, {2}, {3}]

    def test_closed(self, device: Device) -> None:
        with device.create_mipmapped_array(self.options()) as made:
            pass
        made.close()
        assert made.is_closed
        assert made.handle == 0
        assert repr(made) == "<MipmappedArray, closed>"
        with pytest.raises(ValueError, match="this MipmappedArray is closed"):
            made.get_level(0)
