# SPDX-License-Identifier: Apache-2.0
"""Views of other libraries' arrays: the class methods of StridedMemoryView, and the decorator."""

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Stream
from cudacore.utils import StridedMemoryView, args_viewable_as_strided_memory
from foreign_arrays import (
    CPU,
    CUDA_HOST,
    CapsuleArray,
    CudaArray,
    ExchangeArray,
    HostArray,
    OldCapsuleArray,
)
from harness import hide, run_cleanly

READERS = {
    CapsuleArray: StridedMemoryView.from_dlpack,
    OldCapsuleArray: StridedMemoryView.from_dlpack,
    ExchangeArray: StridedMemoryView.from_dlpack,
    CudaArray: StridedMemoryView.from_cuda_array_interface,
}


@pytest.fixture
def memory(device: Device) -> Buffer:
    return device.allocate(256)


@pytest.mark.parametrize("read", ["from_dlpack", "from_cuda_array_interface"])
def test_view_of_a_view_knows_the_buffer(device: Device, read: str) -> None:
    buffer = device.allocate(64)
    view = buffer.view("float32")
    for _ in range(3):
        view = getattr(StridedMemoryView, read)(view, -1)
    assert view.exporting_obj is buffer
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        view.__dlpack__()


@pytest.mark.parametrize("kind", READERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("read", ["its own", "any"])
def test_reads_each_protocol(device: Device, memory: Buffer, kind: Any, read: str) -> None:
    array = kind(memory.handle, (4, 3), np.int16, strides=(8, 2))
    reader = READERS[kind] if read == "its own" else StridedMemoryView.from_any_interface
    view = reader(array, -1)
    assert (view.ptr, view.shape, view.strides) == (memory.handle, (4, 3), (8, 2))
    assert (view.dtype, view.size, view.nbytes) == (np.int16, 12, 24)
    assert (view.device_id, view.is_device_accessible) == (device.device_id, True)
    assert view.exporting_obj is array
    assert view.readonly is False
    assert view[1, 1].ptr == memory.handle + 20


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3, dtype="i4"), np.arange(36, dtype="f8").reshape(6, 6)[::2, ::2],
        np.zeros((3, 4), order="F"), np.zeros((), "f2"), np.zeros((0, 3)),
        np.frombuffer(b""),
        np.arange(5, dtype="c8")[::-1], np.frombuffer(b"abcdefgh", "u2"),
    ],
    ids=str,
)  # fmt: skip
def test_numpy(array: Any) -> None:
    for view in (
        StridedMemoryView.from_any_interface(array, -1),
        StridedMemoryView.from_dlpack(array, -1),
        StridedMemoryView.from_array_interface(array),
    ):
        assert (view.ptr, view.shape) == (array.ctypes.data, array.shape) or array.size == 0
        assert view.dtype == array.dtype
        assert view.is_device_accessible is False
        assert view.readonly is not array.flags.writeable
        if view.strides is None:
            assert array.flags.c_contiguous
        else:
            assert view.strides == tuple(step // array.itemsize for step in array.strides)
        if array.size:
            again = np.from_dlpack(view)
            assert again.tolist() == array.tolist()
            assert np.shares_memory(again, array)


def test_device_of_host_memory(device: Device) -> None:
    array = np.arange(4.0)
    by_array_interface = HostArray(array.ctypes.data, (4,))
    made: dict[str, list[int]] = {}

    def view() -> list[int]:
        views = [
            StridedMemoryView.from_dlpack(array, -1),
            StridedMemoryView.from_any_interface(array, -1),
            StridedMemoryView.from_array_interface(array),
            StridedMemoryView.from_array_interface(array)[1:],
            StridedMemoryView.from_any_interface(by_array_interface, -1),
        ]
        return [view.device_id for view in views]

    def in_new_thread() -> None:
        made["no device is current"] = view()
        for other in Device.get_all_devices():
            other.set_current()
            assert view() == [-1, -1, *[other.device_id] * 3]
        made["end"] = []

    device.set_current()
    assert view() == [-1, -1, *[device.device_id] * 3]
    thread = threading.Thread(target=in_new_thread)
    thread.start()
    thread.join()
    assert made == {"no device is current": [-1] * 5, "end": []}
    text = repr(StridedMemoryView.from_array_interface(array))
    assert f"device_id={device.device_id}, is_device_accessible=False" in text


def test_numpy_needs_no_driver(tmp_path: Path) -> None:
    script = """
        import numpy as np
        from cudacore.utils import StridedMemoryView
        array = np.arange(6.0).reshape(2, 3)
        view = StridedMemoryView.from_any_interface(array)
        print(np.from_dlpack(view.T, copy=True).tolist(), view.dtype)
        print(StridedMemoryView.from_array_interface(array).device_id)
    """
    environment = hide(tmp_path, "driver")
    environment.pop("PYTHONPATH")
    said = run_cleanly(script, env=environment)
    assert said == "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] float64\n-1\n"


def test_structured_elements_of_numpy() -> None:
    array = np.zeros(2, [("a", "i4"), ("b", "f8")])
    view = StridedMemoryView.from_array_interface(array)
    assert (view.dtype, view.itemsize) == (np.dtype("V12"), 12)
    with pytest.raises(BufferError, match=r"no type for elements of \|V12"):
        view.__dlpack__()


@pytest.mark.parametrize("base", [CapsuleArray, ExchangeArray])
def test_classes_of_arrays_end(memory: Buffer, base: Any) -> None:
    """What is known of a class keeps neither it nor what it owns."""

    def read() -> weakref.ref[Any]:
        kind = type("Own", (base,), {})
        for _ in range(2):
            StridedMemoryView.from_any_interface(kind(memory.handle, (4,)), -1)
        return weakref.ref(kind)

    ended = [read() for _ in range(100)]
    gc.collect()
    assert not any(one() for one in ended)


def test_view_keeps_the_array() -> None:
    class Kept(HostArray):
        pass

    memory = np.arange(4, dtype="f4")
    array = Kept(memory.ctypes.data, (4,))
    gone = weakref.ref(array)
    exported = np.from_dlpack(StridedMemoryView.from_array_interface(array)[1:])
    del array
    gc.collect()
    assert gone() is not None
    assert exported.tolist() == [1, 2, 3]
    del exported
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("kind", [CapsuleArray, OldCapsuleArray, ExchangeArray])
def test_tensor_is_released_once(memory: Buffer, kind: Any) -> None:
    array = kind(memory.handle, (4,))
    view = StridedMemoryView.from_dlpack(array, -1)
    part = view[1:]
    capsule = part.__dlpack__(stream=-1)
    del view, part
    assert array.released == 0
    del capsule
    assert array.released == 1


class TestStreams:
    @pytest.mark.parametrize("given", ["handle", "object", "current"])
    @pytest.mark.parametrize("kind", [CudaArray, ExchangeArray])
    def test_consumer_waits(
        self, *, device: Device, stream: Stream, memory: Buffer, gate: Any, kind: Any, given: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(ExchangeArray, "current_stream", stream.handle)
        array = kind(memory.handle, (4,), stream=stream.handle)
        consumer = device.create_stream()
        gate.hold(stream)
        if given == "current":
            with consumer:
                StridedMemoryView.from_any_interface(array)
        else:
            StridedMemoryView.from_any_interface(
                array, consumer.handle if given == "handle" else consumer
            )
        event = consumer.record()
        assert not event.is_done
        gate.open()
        event.sync()

    @pytest.mark.parametrize("kind", [CudaArray, ExchangeArray])
    def test_no_order(
        self, *, device: Device, stream: Stream, memory: Buffer, gate: Any, kind: Any,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(ExchangeArray, "current_stream", stream.handle)
        gate.hold(stream)
        consumer = device.create_stream()
        with consumer:
            StridedMemoryView.from_any_interface(
                kind(memory.handle, (4,), stream=stream.handle), -1
            )
        consumer.record().sync()
        assert not stream.is_done
        gate.open()

    @pytest.mark.parametrize(("given", "told"), [(-1, -1), (0, 1), (1, 1), (2, 2)])
    def test_dlpack_is_told(self, memory: Buffer, given: int, told: int) -> None:
        array = CapsuleArray(memory.handle, (4,))
        StridedMemoryView.from_dlpack(array, given)
        assert array.streams == [told]

    def test_host_arrays_are_told_none(self, memory: Buffer) -> None:
        array = CapsuleArray(memory.handle, (4,), device=(CUDA_HOST, 0))
        StridedMemoryView.from_dlpack(array, 1)
        assert array.streams == [None]

    @pytest.mark.parametrize(
        ("given", "error"),
        [(-2, ValueError), (2**70, ValueError), ("1", TypeError), (1.0, TypeError)],
    )
    def test_wrong_ones(self, memory: Buffer, given: Any, error: type[Exception]) -> None:
        with pytest.raises(error, match="stream"):
            StridedMemoryView.from_dlpack(CapsuleArray(memory.handle, (4,)), given)


class TestBadArrays:
    @pytest.mark.parametrize(
        "read",
        [
            StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface,
            StridedMemoryView.from_any_interface,
            lambda array, _: StridedMemoryView.from_array_interface(array),
        ],
    )  # fmt: skip
    def test_without_a_protocol(self, read: Any) -> None:
        with pytest.raises(BufferError, match="int does not support"):
            read(3, -1)

    @pytest.mark.parametrize(
        ("lies", "message"),
        [
            ({"version": 1}, "version 1"), ({"mask": 1}, "mask"),
            ({"typestr": ">f4"}, "big-endian"),
            ({"typestr": "|O8"}, "no device has"), ({"typestr": 4}, "typestr"),
            ({"shape": [4]}, "a tuple"), ({"shape": (-4,)}, "negative extent"),
            ({"data": (0, False)}, "null address"),
            ({"data": KeyError}, "lacks 'data'"), ({"shape": (2**62, 4)}, "address space"),
        ],
        ids=str,
    )  # fmt: skip
    def test_interfaces_that_lie(self, memory: Buffer, lies: Any, message: str) -> None:
        array = CudaArray(memory.handle, (4,))
        array.lies = lies
        with pytest.raises(BufferError, match=message) as raised:
            StridedMemoryView.from_cuda_array_interface(array, -1)
        assert isinstance(raised.value, TypeError)

    def test_strides_that_are_no_whole_elements(self, memory: Buffer) -> None:
        array = CudaArray(memory.handle, (4,))
        array.lies = {"strides": (10,)}
        with pytest.raises(ValueError, match="stride of 10 bytes, which is not a mult") as raised:
            StridedMemoryView.from_cuda_array_interface(array, -1)
        assert isinstance(raised.value, TypeError)
        records = np.zeros(2, [("a", "i4"), ("b", "f8")])
        with pytest.raises(ValueError, match="stride of 12 bytes"):
            StridedMemoryView.from_array_interface(records["b"])

    @pytest.mark.parametrize(
        ("lies", "message"),
        [
            ({"capsule": b"used_dltensor_versioned"}, "consumed before"),
            ({"capsule": b"nonsense"}, "named 'nonsense'"), ({"version": (2, 0)}, "version 2"),
            ({"dimensions": -1}, "-1 dimensions"), ({"bits": 0}, "0 bits"),
            ({"bits": 4, "code": 17}, "elements of 4 bits, not of whole bytes"),
            ({"dlpack_device": 3}, "must return"),
        ],
        ids=str,
    )  # fmt: skip
    def test_capsules_that_lie(self, memory: Buffer, lies: Any, message: str) -> None:
        with pytest.raises(BufferError, match=message):
            StridedMemoryView.from_dlpack(CapsuleArray(memory.handle, (4,), **lies), -1)

    def test_device_that_is_not_cudas(self, memory: Buffer) -> None:
        class NeverAsked(CapsuleArray):
            def __dlpack__(self, **_: Any) -> Any:
                raise AssertionError("its memory is of no use")

        with pytest.raises(BufferError, match="device type 10"):
            StridedMemoryView.from_dlpack(NeverAsked(memory.handle, (4,), device=(10, 0)), -1)
        # What __dlpack_device__ kept to itself is found, and given back.
        array = CapsuleArray(memory.handle, (4,), device=(10, 0), dlpack_device=(2, 0))
        with pytest.raises(BufferError, match="device type 10"):
            StridedMemoryView.from_dlpack(array, -1)
        gc.collect()
        assert array.released == 1

    def test_what_it_raises_is_passed_on(self) -> None:
        class Raising:
            def __dlpack_device__(self) -> tuple[int, int]:
                return (CPU, 0)

            def __dlpack__(self, **_: object) -> object:
                raise LookupError("no answer")

        with pytest.raises(LookupError, match="no answer"):
            StridedMemoryView.from_any_interface(Raising(), -1)

    def test_vectors_are_opaque(self, memory: Buffer) -> None:
        view = StridedMemoryView.from_dlpack(CapsuleArray(memory.handle, (4,), lanes=4), -1)
        assert (view.itemsize, view.shape) == (16, (4,))


class TestFromBuffer:
    def test_shows_a_buffer(self, device: Device, memory: Buffer) -> None:
        view = StridedMemoryView.from_buffer(
            memory, (4, 3), (1, 4), dtype=np.dtype("f4"), is_readonly=True
        )
        assert (view.shape, view.strides, view.dtype) == ((4, 3), (1, 4), np.float32)
        assert (view.readonly, view.device_id) == (True, device.device_id)
        assert view.exporting_obj is memory
        given = StridedMemoryView.from_buffer(memory, (4, 3), (3, 1), itemsize=4, dtype="f4")
        assert given.strides == (3, 1)
        assert given.__cuda_array_interface__["strides"] is None

    def test_without_a_dtype(self, memory: Buffer) -> None:
        view = StridedMemoryView.from_buffer(memory, (16,), itemsize=3)
        assert (view.dtype, view.itemsize) == (None, 3)
        assert "dtype=NoneType" in repr(view)
        with pytest.raises(BufferError, match="without a dtype"):
            view.__dlpack__()
        with pytest.raises(AttributeError, match="__cuda_array_interface__"):
            _ = view.__cuda_array_interface__

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, "itemsize or dtype"), ({"dtype": "i2", "itemsize": 1}, "itemsize is 1"),
            ({"itemsize": 0}, "itemsize is 0"), ({"itemsize": -1}, "itemsize must lie in 0"),
            ({"itemsize": 40}, "need 640 bytes, but the buffer has 256"),
            ({"dtype": "f4", "strides": (-1,)}, "before the start"),
        ],
        ids=str,
    )  # fmt: skip
    def test_wrong_ones(self, memory: Buffer, options: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            StridedMemoryView.from_buffer(memory, (16,), **options)

    def test_wrong_buffer(self) -> None:
        with pytest.raises(TypeError, match="buffer"):
            StridedMemoryView.from_buffer(bytearray(4), 4, itemsize=1)  # type: ignore[arg-type]

    def test_big_endian_elements_are_not_exported(self) -> None:
        view = StridedMemoryView.from_any_interface(np.zeros(3, "i4"), -1)
        swapped = view.view(dtype=np.dtype(">i4"))
        assert swapped.dtype == np.dtype(">i4")
        with pytest.raises(BufferError, match="big-endian"):
            swapped.__dlpack__()


class TestConstructor:
    def test_is_deprecated(self) -> None:
        array = np.zeros(3, "f4")
        with pytest.deprecated_call(match="from_any_interface"):
            view = StridedMemoryView(array, -1)
        assert view.exporting_obj is array

    def test_needs_an_array(self) -> None:
        with pytest.raises(TypeError, match="from_dlpack"):
            StridedMemoryView()
        with pytest.raises(TypeError, match="strem"):
            StridedMemoryView(np.zeros(3), strem=1)  # type: ignore[call-arg]


class TestDecorator:
    def test_arguments_become_viewable(self) -> None:
        @args_viewable_as_strided_memory((0, -1))
        def shapes(first: Any, scale: int, last: Any) -> tuple[object, ...]:
            return first.view(-1).shape, scale, last.view(stream_ptr=-1).shape

        assert shapes(np.zeros(3), 2, np.zeros((2, 2))) == ((3,), 2, (2, 2))
        assert shapes.__name__ == "shapes"

    def test_wrong_indices(self) -> None:
        for indices in (("0",), (True,), 0):
            with pytest.raises(TypeError, match="tuple of int"):
                args_viewable_as_strided_memory(indices)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"write @args_viewable_as_strided_memory\(\(0,\)\)"):
            args_viewable_as_strided_memory(lambda x: x)  # type: ignore[arg-type]

    def test_argument_that_is_not_given(self) -> None:
        @args_viewable_as_strided_memory((1,))
        def function(*_: Any, **__: Any) -> None:
            pytest.fail("not called")

        with pytest.raises(TypeError, match="argument 1 is to be viewed"):
            function(np.zeros(3), other=np.zeros(3))

    def test_argument_without_a_protocol(self) -> None:
        @args_viewable_as_strided_memory((0,))
        def function(array: Any) -> None:
            array.view(-1)

        with pytest.raises(BufferError, match="str does not support"):
            function("text")


@pytest.mark.parametrize("index", [..., (slice(None), 1), 0], ids=str)
def test_torch_on_the_host(index: Any) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(12, dtype=torch.float32).reshape(3, 4)[index]
    view = StridedMemoryView.from_any_interface(tensor, -1)
    assert (view.ptr, view.shape) == (tensor.data_ptr(), tuple(tensor.shape))
    assert view.strides in (None, tuple(tensor.stride()))
    assert (view.device_id, view.exporting_obj) == (-1, tensor) or view.exporting_obj is tensor
    shared = torch.from_dlpack(view)
    shared += 1
    assert torch.equal(shared, tensor)
    narrow = StridedMemoryView.from_any_interface(torch.zeros(3, dtype=torch.bfloat16), -1)
    assert "dtype=bfloat16" in repr(narrow)


@pytest.mark.gpu_only(reason="these libraries call the CUDA runtime")
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_arrays_of_devices(device: Device, stream: Stream, library: str) -> None:
    module = pytest.importorskip(library)
    array = module.zeros((4, 6), dtype=module.float32)
    if library == "torch":
        array = array.cuda()
    part = array[:, ::2]
    view = StridedMemoryView.from_any_interface(part, stream.handle)
    assert (view.shape, view.strides) == ((4, 3), (6, 2))
    assert (view.device_id, view.dtype) == (device.device_id, np.float32)
    again = module.from_dlpack(view)
    again += 1
    assert float(array.sum()) == 12


@pytest.mark.gpu_only(reason="Numba calls the CUDA driver by itself")
def test_numba_arrays(device: Device, stream: Stream) -> None:
    numba = pytest.importorskip("numba.cuda")
    array = numba.device_array((4, 2), dtype=np.float32)
    view = StridedMemoryView.from_any_interface(array, stream.handle)
    assert (view.ptr, view.shape) == (array.device_ctypes_pointer.value, (4, 2))
