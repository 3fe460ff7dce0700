# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: how they are made, what is refused, and what kernels take."""

import gc
import weakref
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import (
    Device,
    LegacyPinnedMemoryResource,
    NotSupportedError,
    SynchronousMemoryResource,
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
)
from cudacore.utils import StridedMemoryView
from harness import build, run_cleanly

MAP = "struct alignas(64) Map { char bytes[128]; };"


@pytest.fixture
def tma(device: Device) -> Device:
    if not device.properties.tensor_map_access_supported:
        pytest.skip("the device has no Tensor Memory Accelerator")
    return device


def view_of(device: Device, dtype: str = "f4", shape: Any = (64, 64)) -> StridedMemoryView:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize if dtype != "bfloat16" else 8192
    return device.allocate(size).view(dtype, shape)


class TestMaking:
    def test_repr_and_device(self, tma: Device) -> None:
        made = view_of(tma).as_tensor_map((8, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
        assert repr(view_of(tma).as_tensor_map((8, 32), swizzle="swizzle_128b")) == repr(made)
        assert isinstance(made, TensorMapDescriptor)
        assert (
            repr(made) == "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)"
        )
        assert made.device is tma

    def test_is_not_made_directly(self) -> None:
        with pytest.raises(RuntimeError, match=r"cannot be instantiated directly.*as_tensor_map"):
            TensorMapDescriptor()
        with pytest.raises(TypeError):
            TensorMapDescriptor()

    @pytest.mark.parametrize("rank", range(1, 6))
    def test_ranks(self, tma: Device, rank: int) -> None:
        view = view_of(tma, "u4", (8,) * rank)
        assert f"rank={rank}" in repr(view.as_tensor_map([4] * rank, element_strides=[1] * rank))

    @pytest.mark.parametrize(
        ("dtype", "name"),
        [("u1", "UINT8"), ("u2", "UINT16"), ("u4", "UINT32"), ("i4", "INT32"), ("u8", "UINT64"),
         ("i8", "INT64"), ("f2", "FLOAT16"), ("f4", "FLOAT32"), ("f8", "FLOAT64"),
         ("bfloat16", "BFLOAT16")],
    )  # fmt: skip
    def test_types(self, tma: Device, dtype: str, name: str) -> None:
        view = view_of(tma, dtype)
        assert f"dtype={name}," in repr(view.as_tensor_map((4, 16)))
        assert f"dtype={name}," in repr(view.as_tensor_map((4, 16), data_type=dtype))
        given = TensorMapDataType[name]
        assert f"dtype={name}," in repr(view.as_tensor_map((4, 16), data_type=given))

    def test_another_type_takes_the_bytes(self, tma: Device) -> None:
        raw = StridedMemoryView.from_any_interface(tma.allocate(256), -1)
        with pytest.raises(ValueError, match=r"Unsupported dtype int8 .*UINT8"):
            raw.as_tensor_map([64])
        assert "dtype=TFLOAT32," in repr(
            raw.as_tensor_map([64], data_type=TensorMapDataType.TFLOAT32)
        )
        untyped = StridedMemoryView.from_buffer(tma.allocate(256), 64, itemsize=4)
        with pytest.raises(ValueError, match="Cannot infer TMA data type"):
            untyped.as_tensor_map([64])
        assert "dtype=FLOAT16," in repr(untyped.as_tensor_map([64], data_type=np.float16))
        with pytest.raises(ValueError, match="whole number|divide|multiple|elements"):
            view_of(tma, "f4", 31).as_tensor_map([2], data_type="f8")

    @pytest.mark.parametrize(
        "options",
        [TensorMapDescriptorOptions((8, 32), data_type="f4"), {"box_dim": [8, 32]},
         TensorMapDescriptorOptions(np.array([8, 32]), l2_promotion=TensorMapL2Promotion.L2_256B)],
        ids=["class", "dict", "array"],
    )  # fmt: skip
    def test_options(self, tma: Device, options: Any) -> None:
        assert "rank=2" in repr(view_of(tma).as_tensor_map(options=options))

    def test_names_of_members(self) -> None:
        options = TensorMapDescriptorOptions((8,), data_type="tfloat32", oob_fill="none")
        assert options.data_type is TensorMapDataType.TFLOAT32
        assert options.oob_fill is TensorMapOOBFill.NONE
        with pytest.raises(ValueError, match="swizzle must be one of 'none', .*, got '128B'"):
            TensorMapDescriptorOptions((8,), swizzle="128B")

    def test_strides_and_padding(self, tma: Device) -> None:
        view = view_of(tma)
        view[::2, :48].as_tensor_map((8, 32))
        view.as_tensor_map((8, 32), element_strides=(2, 1), oob_fill=TensorMapOOBFill(1))
        with pytest.raises(ValueError, match=r"last dimension must be contiguous.* 64 apart"):
            view.T.as_tensor_map((8, 32))
        with pytest.raises(ValueError, match=r"strides\[0\] must be a multiple of 16 bytes, got 8"):
            tma.allocate(512).view("f4", (8, 2)).as_tensor_map((4, 4))
        with pytest.raises(ValueError, match=r"strides\[0\] must be less than 2\*\*40 bytes and"):
            view[::-1].as_tensor_map((8, 32))

    def test_interleaved(self, tma: Device) -> None:
        view = view_of(tma, "u2", (2, 4, 8))
        view.as_tensor_map((2, 4, 8), interleave=TensorMapInterleave.INTERLEAVE_16B)
        wide = view_of(tma, "u2", (2, 4, 16))
        inter = TensorMapInterleave.INTERLEAVE_32B
        wide.as_tensor_map((2, 4, 16), interleave=inter, swizzle=TensorMapSwizzle.SWIZZLE_32B)
        with pytest.raises(ValueError, match="INTERLEAVE_32B needs swizzle SWIZZLE_32B"):
            wide.as_tensor_map((2, 4, 16), interleave=inter)
        with pytest.raises(ValueError, match="at least 3 dimensions, got 2"):
            view_of(tma).as_tensor_map((8, 32), interleave=inter)
        narrow = view_of(tma, "u2", (2, 4, 24))
        with pytest.raises(
            ValueError, match=r"strides\[1\] must be a multiple of 32 bytes, got 48"
        ):
            narrow.as_tensor_map((2, 4, 16), interleave=inter, swizzle=TensorMapSwizzle.SWIZZLE_32B)

    def test_memory_that_the_device_reads(self, tma: Device) -> None:
        pinned = LegacyPinnedMemoryResource().allocate(4096).view("f4")
        assert "rank=1" in repr(pinned.as_tensor_map([64]))

    def test_im2col(self, tma: Device) -> None:
        for spatial in (1, 2, 3):
            view = view_of(tma, "f4", (2, *[8] * spatial, 32))
            made = TensorMapDescriptor.from_im2col(view, [-1] * spatial, [-1] * spatial, 32, 16)
            assert repr(made) == (
                f"TensorMapDescriptor(im2col, rank={spatial + 2}, dtype=FLOAT32, swizzle=NONE)"
            )


class TestRefusals:
    @pytest.mark.parametrize(
        ("box", "message"),
        [((8,), r"box_dim must have 2 elements .*got 1"),
         ((8, 300), r"box_dim\[1\] must be in \[1, 256\], got 300"),
         ((0, 32), r"box_dim\[0\] must be in \[1, 256\], got 0"),
         ((8, 6), r"box_dim\[1\] must be a multiple of 16 bytes, got 6 elements of 4 bytes"),
         ((2**70, 4), r"box_dim")],
        ids=str,
    )  # fmt: skip
    def test_boxes(self, tma: Device, box: Any, message: str) -> None:
        with pytest.raises((ValueError, OverflowError), match=message):
            view_of(tma).as_tensor_map(box)

    @pytest.mark.parametrize("swizzle", list(TensorMapSwizzle)[1:])
    def test_swizzles_need_room(self, tma: Device, swizzle: TensorMapSwizzle) -> None:
        span = 16 << swizzle
        view_of(tma).as_tensor_map((8, span // 4), swizzle=swizzle)
        with pytest.raises(ValueError, match=f"at most {span} bytes with swizzle {swizzle.name}"):
            view_of(tma).as_tensor_map((8, span // 4 + 4), swizzle=swizzle)

    @pytest.mark.parametrize("shape", [(), (1, 1, 1, 1, 1, 4)], ids=str)
    def test_ranks(self, tma: Device, shape: Any) -> None:
        with pytest.raises(ValueError, match=f"rank must be between 1 and 5, got {len(shape)}"):
            view_of(tma, "f4", shape).as_tensor_map([1] * len(shape))

    def test_steps(self, tma: Device) -> None:
        view = view_of(tma)
        with pytest.raises(ValueError, match=r"element_strides must have 2 elements .*got 1"):
            view.as_tensor_map((8, 32), element_strides=[1])
        for step in (0, 9):
            with pytest.raises(ValueError, match=r"element_strides\[0\] must be in \[1, 8\]"):
                view.as_tensor_map((8, 32), element_strides=[step, 1])

    def test_fill(self, tma: Device) -> None:
        with pytest.raises(ValueError, match="needs a floating-point type, not UINT32"):
            view_of(tma, "u4").as_tensor_map(
                (8, 32), oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA
            )

    def test_empty(self, tma: Device) -> None:
        with pytest.raises(ValueError, match=r"shape\[0\] must be in \[1, "):
            view_of(tma)[:0].as_tensor_map((8, 32))

    def test_alignment(self, tma: Device) -> None:
        view = view_of(tma, "f4", 64)[1:61]
        with pytest.raises(ValueError, match=r"16-byte aligned, got address 0x"):
            view.as_tensor_map([32])
        made = view_of(tma, "f4", 32).as_tensor_map([32])
        with pytest.raises(ValueError, match=r"16-byte aligned, got address 0x"):
            made.replace_address(view)

    def test_host_memory(self) -> None:
        host = StridedMemoryView.from_any_interface(np.zeros((64, 64), "f4"), -1)
        with pytest.raises(ValueError, match="must be device-accessible"):
            host.as_tensor_map((8, 32))

    def test_closed_buffers(self, tma: Device) -> None:
        buffer = tma.allocate(4096)
        view = buffer.view("f4")
        made = view.as_tensor_map([32])
        kernel = build(MAP + "__global__ void k(const __grid_constant__ Map m) {}").get_kernel("k")
        kernel[1, 1](made)
        buffer.close()
        with pytest.raises(ValueError, match="closed"):
            view.as_tensor_map([32])
        with pytest.raises(ValueError, match="whose Buffer is closed"):
            kernel[1, 1](made)
        with pytest.raises(ValueError, match="closed"):
            made.replace_address(view)
        made.replace_address(tma.allocate(4096))
        kernel[1, 1](made)
        tma.sync()

    @pytest.mark.multi_gpu
    def test_other_devices(self, tma: Device) -> None:
        other = Device(1)
        other.set_current()
        away = SynchronousMemoryResource(1).allocate(4096).view("f4")
        there = away.as_tensor_map([32])
        assert there.device is other
        tma.set_current()
        with pytest.raises(ValueError, match="as_tensor_map expects tensor on device 0, got 1"):
            away.as_tensor_map([32])
        made = view_of(tma, "f4", 32).as_tensor_map([32])
        with pytest.raises(ValueError, match="replace_address expects tensor on device 0, got 1"):
            made.replace_address(away)
        kernel = build(MAP + "__global__ void k(const __grid_constant__ Map m) {}").get_kernel("k")
        with pytest.raises(TypeError, match="for device 1, and the launch is on device 0"):
            kernel[1, 1](there)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [({}, "box_dim is required unless options"),
         ({"box_dim": 8}, "box_dim must be a tuple of ints, got <class 'int'>"),
         ({"box_dim": [8, 32.0]}, r"box_dim\[1\] must be an int, not float"),
         ({"box_dim": [8, True]}, r"box_dim\[1\] must be an int, not bool"),
         ({"box_dim": (8, 32), "swizzle": 3}, "swizzle must be a TensorMapSwizzle, got"),
         ({"box_dim": (8, 32), "interleave": TensorMapSwizzle.NONE}, "must be a TensorMapInterl"),
         ({"box_dim": (8, 32), "data_type": 42}, "data_type must be .* 42"),
         ({"box_dim": (8, 32), "options": {}}, "either options or the individual"),
         ({"swizzle": TensorMapSwizzle.NONE, "options": {}}, "either options or the individual"),
         ({"options": (8, 32)}, "options must be TensorMapDescriptorOptions or a mapping"),
         ({"options": {"box": (8, 32)}}, "TensorMapDescriptorOptions has no field 'box'")],
        ids=str,
    )  # fmt: skip
    def test_types(self, tma: Device, arguments: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            view_of(tma).as_tensor_map(**arguments)

    def test_fields_are_checked_when_they_are_set(self) -> None:
        options = TensorMapDescriptorOptions([4])
        with pytest.raises(TypeError, match="l2_promotion must be a TensorMapL2Promotion"):
            options.l2_promotion = 1  # type: ignore[assignment]
        with pytest.raises(AttributeError, match="has no option 'swizzel'"):
            options.swizzel = 1  # type: ignore[attr-defined]
        assert options == TensorMapDescriptorOptions((4,))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [(((0,), (4, 4), 32, 4), r"pixel_box_lower_corner must have 2 elements .*got 1"),
         (((0, 0), (4,), 32, 4), r"pixel_box_upper_corner must have 2 elements .*got 1"),
         (((0, 128), (0, 0), 32, 4), r"lower_corner\[1\] must be in \[-128, 127\], got 128"),
         (((0, 0), (-129, 0), 32, 4), r"upper_corner\[0\] must be in \[-128, 127\], got -129"),
         (((4, 0), (-4, 0), 32, 4), r"box is empty: dimension 1 has 8 pixels, less 8"),
         (((0, 0), (0, 0), 257, 4), r"channels_per_pixel must be in \[1, 256\]"),
         (((0, 0), (0, 0), 32, 1025), r"pixels_per_column must be in \[1, 1024\]"),
         (((0, 0), (0, 0), 30, 4), r"channels_per_pixel must be a multiple of 16 bytes")],
        ids=str,
    )  # fmt: skip
    def test_im2col(self, tma: Device, arguments: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            TensorMapDescriptor.from_im2col(view_of(tma, "f4", (2, 8, 8, 32)), *arguments)

    def test_im2col_of_something_else(self, tma: Device) -> None:
        with pytest.raises(ValueError, match="Im2col tensor rank must be between 3 and 5, got 2"):
            TensorMapDescriptor.from_im2col(view_of(tma), (), (), 32, 4)
        with pytest.raises(TypeError, match="view must be a StridedMemoryView, not"):
            TensorMapDescriptor.from_im2col(tma.allocate(64), (), (), 32, 4)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="channels_per_pixel must be an int, not float"):
            TensorMapDescriptor.from_im2col(view_of(tma), (), (), 32.0, 4)  # type: ignore[arg-type]

    def test_im2col_wide(self, tma: Device) -> None:
        view = view_of(tma, "f4", (2, 8, 8, 32))
        make = TensorMapDescriptor.from_im2col_wide
        with pytest.raises(ValueError, match="Im2col-wide tensor rank must be between 3 and 5"):
            make(view_of(tma), 0, 0, 32, 4)
        with pytest.raises(ValueError, match="needs swizzle SWIZZLE_64B or SWIZZLE_128B"):
            make(view, 0, 0, 4, 4, swizzle=TensorMapSwizzle.NONE)
        with pytest.raises(TypeError, match="mode must be a TensorMapIm2ColWideMode"):
            make(view, 0, 0, 32, 4, mode=0)  # type: ignore[arg-type]
        if tma.compute_capability.major < 10:
            with pytest.raises(NotSupportedError, match=r"needs compute capability 10\.0 or newer"):
                make(view, 0, 0, 32, 4, mode=TensorMapIm2ColWideMode.W128)
        elif not cudacore.simulator.is_enabled():
            assert "im2col_wide" in repr(make(view, 0, 0, 32, 4))

    @pytest.mark.simulator_only(reason="it chooses the simulated device's compute capability")
    def test_older_devices(self) -> None:
        said = run_cleanly(
            """
import cudacore
device = cudacore.Device()
device.set_current()
try:
    device.allocate(64).view("f4").as_tensor_map([4])
except cudacore.NotSupportedError as error:
    print(error)
""",
            env={"CUDACORE_SIMULATOR_COMPUTE_CAPABILITY": "8.0"},
        )
        assert "has no Tensor Memory Accelerator: tensor maps need compute capability 9.0" in said


class TestArguments:
    def test_the_bytes_reach_the_kernel(self, tma: Device) -> None:
        kernel = build(
            MAP
            + "__global__ void k(int first, const __grid_constant__ Map m, int last, long* out) {"
            "  const long* words = reinterpret_cast<const long*>(&m);"
            "  if (threadIdx.x < 16) out[threadIdx.x] = words[threadIdx.x];"
            "  out[16] = first; out[17] = last; out[18] = ((unsigned long long)&m) % 64; }"
        ).get_kernel("k")
        out = LegacyPinnedMemoryResource().allocate(19 * 8)
        words = np.from_dlpack(out.view("i8"))
        view = view_of(tma)
        made = view.as_tensor_map((8, 32))
        results = []
        for _ in range(2):
            kernel[1, 32](7, made, 9, out)
            tma.sync()
            assert words[16:].tolist() == [7, 9, 0]
            results.append(words[:16].copy())
            made.replace_address(view_of(tma))
        assert results[0].any()
        assert (results[0] != results[1]).any()

    @pytest.mark.parametrize(
        ("parameter", "advice"),
        [("const char* m", "__grid_constant__ CUtensorMap"), ("float m", "CUtensorMap"),
         ("Small m", "128 bytes"), ("Loose m", "aligned to 64")],
    )  # fmt: skip
    def test_other_parameters(self, tma: Device, parameter: str, advice: str) -> None:
        code = "struct Small { char b[64]; }; struct Loose { char b[128]; };"
        kernel = build(code + f"__global__ void k({parameter}) {{}}").get_kernel("k")
        with pytest.raises(TypeError, match=f"argument 1 .*TensorMapDescriptor: .*{advice}"):
            kernel[1, 1](view_of(tma).as_tensor_map((8, 32)))

    def test_it_keeps_the_memory(self, tma: Device) -> None:
        buffer = tma.allocate(4096)
        kept = weakref.ref(buffer)
        made = buffer.view("f4").as_tensor_map([32])
        del buffer
        gc.collect()
        assert kept() is not None
        made.replace_address(tma.allocate(4096))
        gc.collect()
        assert kept() is None

    def test_replacements_are_large_enough(self, tma: Device) -> None:
        made = view_of(tma).as_tensor_map((8, 32))
        with pytest.raises(ValueError, match="describes 16384 bytes, but the tensor has 16380"):
            made.replace_address(tma.allocate(16380))
        with pytest.raises(ValueError, match="must be device-accessible"):
            made.replace_address(np.zeros((64, 64), "f4"))
        with pytest.raises(BufferError, match="does not support the data exchange protocol"):
            made.replace_address(3)  # type: ignore[arg-type]
        made.replace_address(view_of(tma, "u1", 16384))
        assert made.device is tma
