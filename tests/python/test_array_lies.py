# SPDX-License-Identifier: Apache-2.0
"""Hostile arrays: protocols that lie, and Python code that runs while arguments are read."""

import contextlib
import gc
import weakref
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, ObjectCode, Stream
from foreign_arrays import (
    CUDA,
    DEVICE_ARRAYS,
    CapsuleArray,
    CudaArray,
    ExchangeArray,
    HostArray,
    OldCapsuleArray,
    floats,
    refused,
)


class TestLies:
    """What a protocol says is checked before it is used."""

    @pytest.mark.parametrize(
        ("lies", "expected"),
        [
            ({"shape": KeyError}, "lacks 'shape'"),
            ({"typestr": KeyError}, "lacks 'typestr'"),
            ({"data": KeyError}, "lacks 'data'"),
            ({"version": KeyError}, "lacks 'version'"),
            ({"version": 1}, "has version 1; cudacore knows 2 and 3"),
            ({"version": 4}, "has version 4"),
            ({"version": "3"}, "has 'version', which must be an int, not '3'"),
            ({"version": 2**70}, "has 'version'"),
            ({"shape": [16]}, "has 'shape', which must be a tuple"),
            ({"shape": 16}, "has 'shape', which must be a tuple"),
            ({"shape": ("16",)}, "has 'shape', which must be a tuple of ints"),
            ({"shape": (4.0,)}, "has 'shape', which must be a tuple of ints"),
            ({"shape": (-1,)}, "has a negative extent, -1"),
            ({"shape": (2**63,)}, "has 'shape'"),
            ({"shape": (2**62,)}, "has more elements than the address space holds"),
            ({"shape": (2**32, 2**32)}, "has more elements than the address space holds"),
            ({"shape": (1,) * 65}, "has 65 dimensions"),
            ({"strides": (4, 4)}, "has 'strides', which must be one for each dimension"),
            ({"strides": "4"}, "has 'strides', which must be a tuple"),
            ({"strides": (6,)}, "has a stride of 6 bytes"),
            ({"strides": (2**60,)}, "has strides that lead out of the address space"),
            ({"strides": (-(2**60),)}, "has strides that lead out of the address space"),
            ({"data": 16}, "has 'data', which must be (address, read_only)"),
            ({"data": (16,)}, "has 'data', which must be (address, read_only)"),
            ({"data": (None, False)}, "has a null address, but 16 elements"),
            ({"data": (0, False)}, "has a null address, but 16 elements"),
            ({"data": (-1, False)}, "has 'data', which must be (address, read_only)"),
            ({"data": (2**64, False)}, "has 'data', which must be (address, read_only)"),
            ({"data": (2**64 - 4, False)}, "has more elements than the address space holds"),
            ({"data": (1.5, False)}, "has 'data', which must be (address, read_only)"),
            ({"typestr": 4}, "has 'typestr', which must be such as '<f4', not 4"),
            ({"typestr": "f4"}, "has 'typestr'"),
            ({"typestr": "<f"}, "has 'typestr'"),
            ({"typestr": "<f-4"}, "has 'typestr'"),
            ({"typestr": "<f0"}, "has 'typestr'"),
            ({"typestr": "<f99999"}, "has 'typestr'"),
            ({"typestr": "?f4"}, "has 'typestr'"),
            ({"typestr": "\udc80f4"}, "has 'typestr'"),
            ({"typestr": ">f4"}, "has big-endian elements"),
            ({"typestr": "|O8"}, "has elements of type '|O8', which no device has"),
            ({"typestr": "<M8"}, "has elements of type '<M8', which no device has; view them"),
            ({"typestr": "<f3"}, "has elements of type '<f3'"),
            ({"mask": True}, "has a mask"),
            ({"stream": 0}, "has 'stream', which must be None, 1, 2 or a CUstream, not 0"),
            ({"stream": -1}, "has 'stream'"),
            ({"stream": "1"}, "has 'stream'"),
            ({"stream": True}, "has 'stream'"),
        ],
        ids=str,
    )  # fmt: skip
    def test_dict(self, scale: Kernel, block: Buffer, lies: Any, expected: str) -> None:
        liar = CudaArray(block.handle, (16,))
        liar.lies.update(lies)
        message = refused(scale, liar)
        assert f"its __cuda_array_interface__ {expected}" in message

    @pytest.mark.parametrize("value", [1, "dict", (), []])
    def test_no_dict(self, scale: Kernel, value: Any) -> None:
        class Liar:
            __cuda_array_interface__ = value

        assert "must be a dict" in refused(scale, Liar())

    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray, OldCapsuleArray])
    @pytest.mark.parametrize(
        ("lies", "expected"),
        [
            ({"dimensions": -1}, "has -1 dimensions"),
            ({"dimensions": 65}, "has 65 dimensions"),
            ({"dimensions": 2**31 - 1}, "dimensions"),
            ({"bits": 0}, "has elements of 0 bits"),
            ({"lanes": 0}, "has elements of 0 bits"),
            ({"shape": None}, "has dimensions, but no shape"),
            ({"byte_offset": 2**64 - 1}, "has more elements than the address space holds"),
            ({"code": 200}, "its elements are DLPack's type 200"),
            ({"lanes": 2}, "its elements are float32 x 2"),
        ],
        ids=str,
    )
    def test_tensor(
        self, scale: Kernel, block: Buffer, array: Any, lies: Any, expected: str
    ) -> None:
        liar = array(block.handle, (16,))
        liar.lies.update(lies)
        assert expected in refused(scale, liar)
        assert liar.released == len(liar.streams)

    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray, OldCapsuleArray])
    @pytest.mark.parametrize(
        ("address", "layout", "expected"),
        [
            (0, ((4,), None), "has a null address, but 4 elements"),
            (4096, ((-1,), None), "has a negative extent, -1"),
            (4096, ((2**62, 2**62), None), "has more elements than the address space holds"),
            (4096, ((16,), (2**61,)), "has strides that lead out of the address space"),
            (4096, ((16,), (-(2**61),)), "has strides that lead out of the address space"),
            (4096, ((16,), (-512,)), "has strides that lead out of the address space"),
        ],
    )
    def test_extents(
        self, scale: Kernel, array: Any, address: int, layout: Any, expected: str
    ) -> None:
        shape, strides = layout
        liar = array(address, shape, strides=strides)
        assert expected in refused(scale, liar)
        assert liar.released == len(liar.streams)

    @pytest.mark.parametrize(
        ("lies", "expected", "released"),
        [
            ({"capsule": b"other"}, "returned a capsule named 'other'", 0),
            ({"capsule": b"used_dltensor"}, "returned a capsule that was consumed before", 0),
            ({"capsule": b"used_dltensor_versioned"}, "that was consumed before", 0),
            ({"version": (2, 0)}, "it speaks version 2 of DLPack; cudacore knows version 1", 1),
            ({"dlpack_device": (CUDA,)}, "its __dlpack_device__() must return (type, ordinal)", 0),
            ({"dlpack_device": [CUDA, 0]}, "its __dlpack_device__() must return", 0),
            ({"dlpack_device": (CUDA, "0")}, "its __dlpack_device__() must return", 0),
            ({"dlpack_device": (CUDA, 2**40)}, "its __dlpack_device__() must return", 0),
            ({"dlpack_device": (CUDA, -1)}, "its __dlpack_device__() must return", 0),
        ],
        ids=str,
    )
    def test_capsule(
        self, scale: Kernel, block: Buffer, lies: Any, expected: str, released: int
    ) -> None:
        array = CapsuleArray(block.handle, (16,), **lies)
        assert expected in refused(scale, array)
        assert array.released == released

    def test_no_capsule(self, scale: Kernel) -> None:
        class Liar(CapsuleArray):
            def __dlpack__(self, **_: Any) -> Any:
                return 42

        assert "its __dlpack__() must return a capsule, not 42" in refused(scale, Liar(0, (0,)))

    def test_no_device(self, scale: Kernel) -> None:
        class Liar:
            def __dlpack__(self, **_: Any) -> Any:
                raise AssertionError

        assert "it has __dlpack__, but no __dlpack_device__" in refused(scale, Liar())

    @pytest.mark.parametrize("array", [CapsuleArray, OldCapsuleArray])
    def test_managed_tensor_is_released_once(
        self, scale: Kernel, block: Buffer, array: Any
    ) -> None:
        x = array(block.handle, (16,))
        scale[1, 1](block, x, 1.0, 16)
        assert (x.released, len(x.streams)) == (1, 1)
        with pytest.raises(TypeError, match="float64"):
            scale[1, 1](x, y := array(block.handle, (16,), np.float64), 1.0, 16)
        assert (x.released, y.released) == (2, 1)


class TestHostilePython:
    @pytest.mark.parametrize("error", [ValueError("boom"), RuntimeError("boom"), KeyError("boom")])
    @pytest.mark.parametrize(
        "name", ["__cuda_array_interface__", "__array_interface__", "__dlpack__"]
    )
    def test_exception_is_the_cause(self, scale: Kernel, name: str, error: Exception) -> None:
        def fail(self: Any) -> Any:
            raise error

        liar = type("Liar", (), {name: property(fail)})()
        with pytest.raises(TypeError, match="argument 2 'x'.*Liar: it raised .*boom") as caught:
            scale[1, 1](0, liar, 1.0, 16)
        assert caught.value.__cause__ is error

    @pytest.mark.parametrize(
        ("error", "text"),
        [
            (KeyError("mine"), "it raised KeyError: 'mine'"),
            (RuntimeError(), "it raised RuntimeError"),
            (RuntimeError("broken\nException raised from f at a.cpp:1"), "RuntimeError: broken"),
        ],
        ids=repr,
    )
    def test_message_has_no_more_than_what_was_raised(
        self, scale: Kernel, error: Exception, text: str
    ) -> None:
        class Liar:
            @property
            def __cuda_array_interface__(self) -> Any:
                raise error

        assert refused(scale, Liar()).endswith(text)

    @pytest.mark.parametrize("name", [b"\xff\xfe", b"x" * 100_000])
    def test_capsule_with_an_odd_name(self, scale: Kernel, block: Buffer, name: bytes) -> None:
        message = refused(scale, CapsuleArray(block.handle, (4,), capsule=name))
        assert "returned a capsule named " in message
        assert len(message) < 600

    def shown_and_number(self, device: Device) -> tuple[Any, Any]:
        """An array, and a number that frees its memory when it is converted."""
        buffer = device.allocate(64)
        view = buffer.view("float32")

        class Shown:
            @property
            def __cuda_array_interface__(self) -> Any:
                return view.__cuda_array_interface__

        class Number:
            def __index__(self) -> int:
                buffer.close()
                return 0

        return Shown(), Number()

    def test_number_frees_what_an_array_has_shown(self, device: Device, scale: Kernel) -> None:
        shown, number = self.shown_and_number(device)
        assert "closed" in refused(scale, shown, count=number)

    def test_number_for_a_pointer_frees_what_an_array_has_shown(
        self, device: Device, scale: Kernel
    ) -> None:
        shown, address = self.shown_and_number(device)
        with pytest.raises(TypeError, match="argument 1 'y'.*closed"):
            scale[1, 1](shown, address, 1.0, 0)

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
    def test_what_ends_a_program_goes_through(self, scale: Kernel, error: Any) -> None:
        class Liar:
            @property
            def __cuda_array_interface__(self) -> Any:
                raise error

        with pytest.raises(error):
            scale[1, 1](0, Liar(), 1.0, 16)

    def test_type_error_in_dlpack_is_asked_again_without_a_version(self, scale: Kernel) -> None:
        class Liar(CapsuleArray):
            def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
                self.streams.append(max_version)
                raise TypeError("no")

        liar = Liar(0, (0,))
        assert "it raised TypeError: no" in refused(scale, liar)
        assert liar.streams == [(1, 3), None]

    def test_buffer_closed_by_an_array(self, device: Device, scale: Kernel) -> None:
        buffer = device.allocate(64)

        class Closer(CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                buffer.close()
                return CudaArray(0, (0,)).__cuda_array_interface__

        with pytest.raises(ValueError, match="argument 1 'y'.*closed Buffer"):
            scale[1, 1](buffer, Closer(0, (0,)), 1.0, 0)

    def test_array_moved_by_another(
        self, code: ObjectCode, scale: Kernel, memory: Buffer, pinned: Any, stream: Stream
    ) -> None:
        out = pinned(64)
        y = ExchangeArray(memory.handle, (16,))

        class Mover(CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                y.address = out.handle
                return super().__cuda_array_interface__

        scale[1, 32, stream](y, Mover(memory.handle, (16,)), 2.0, 16)
        stream.sync()
        assert floats(out) == [2.0 * i for i in range(16)]

    def test_stream_closed_by_an_array(self, device: Device, scale: Kernel, block: Buffer) -> None:
        stream = device.create_stream()

        class Closer(CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                stream.close()
                return super().__cuda_array_interface__

        scale[1, 1, stream](block, Closer(block.handle, (16,)), 1.0, 16)
        device.sync()
        assert stream.is_closed

    def test_array_that_launches(self, scale: Kernel, block: Buffer) -> None:
        class Launcher(CudaArray):
            depth = 0

            @property
            def __cuda_array_interface__(self) -> Any:
                if self.depth < 3:
                    self.depth += 1
                    scale[1, 1](block, self, 1.0, 16)
                return super().__cuda_array_interface__

        scale[1, 1](block, Launcher(block.handle, (16,)), 1.0, 16)

    def test_dict_that_changes_while_it_is_read(self, scale: Kernel, block: Buffer) -> None:
        description: dict[str, Any] = {}

        class Extent:
            def __index__(self) -> int:
                description.clear()
                gc.collect()
                return 16

        description.update(CudaArray(block.handle, (Extent(),)).__cuda_array_interface__)
        liar = type("Liar", (), {"__cuda_array_interface__": description})()
        scale[1, 1](block, liar, 1.0, 16)
        assert not description

    def test_keys_that_are_not_interned(self, scale: Kernel, block: Buffer) -> None:
        class Text(str):
            __slots__ = ()

        described = CudaArray(block.handle, (16,)).__cuda_array_interface__
        copied = {Text(key): value for key, value in described.items()}
        scale[1, 1](block, type("Holder", (), {"__cuda_array_interface__": copied})(), 1.0, 16)

    def test_objects_are_not_leaked(self, scale: Kernel, block: Buffer) -> None:
        kept = []
        for kind in (*DEVICE_ARRAYS, HostArray):
            for dtype in (np.float32, np.float64):
                array = kind(block.handle, (16,), dtype)
                kept.append(weakref.ref(array))
                with contextlib.suppress(TypeError):
                    scale[1, 1](block, array, 1.0, 16)
                del array
        gc.collect()
        assert [made() for made in kept] == [None] * len(kept)
