# SPDX-License-Identifier: Apache-2.0
"""Errors about wrong calls name the function, the argument, its valid values and the given one."""

import ctypes
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    MemoryResource,
    ObjectCode,
    Program,
    Signature,
    Stream,
    StreamOptions,
)
from cudacore._integers import to_int
from harness import build, cubin, ptx


def message(call: Callable[[], object], *kinds: type[Exception]) -> str:
    with pytest.raises(kinds or (TypeError,)) as caught:
        call()
    text = str(caught.value)
    for theirs in ("incompatible", "Unable to cast", "supported:", "Invoked with", "pybind11"):
        assert theirs not in text
    return text


def test_calls_of_methods(device: Device, stream: Stream) -> None:
    any_stream: Any = stream
    add = message(lambda: any_stream.add_callback(3))
    assert add == "Stream.add_callback: callback must be callable, not int"
    assert message(lambda: any_stream.sync(1)) == (
        "Stream.sync takes no positional arguments, but 1 was given"
    )
    assert message(any_stream.wait) == "Stream.wait needs the argument 'event_or_stream'"
    assert message(lambda: any_stream.wait(event_or_streem=3)) == (
        "Stream.wait has no argument 'event_or_streem'; did you mean 'event_or_stream'?"
    )
    any_type: Any = Stream
    assert (
        message(lambda: any_type.sync(3)) == "Stream.sync: self must be a cudacore.Stream, not int"
    )


def test_numbers(device: Device) -> None:
    occupancy: Any = build("__global__ void k() {}").get_kernel("k").occupancy
    blocks = occupancy.max_active_blocks_per_multiprocessor
    assert message(lambda: blocks("x", 0)) == (
        "KernelOccupancy.max_active_blocks_per_multiprocessor: block_size must be an int, not str"
    )
    assert "block_size must be a smaller int, not 1099511627776" in message(
        lambda: blocks(1 << 40, 0), OverflowError
    )
    assert "block_size must be an int that is not so low, not -1099511627776" in message(
        lambda: blocks(-(1 << 40), 0), OverflowError
    )
    for small in (128, 2**30):
        assert "dynamic_shared_memory_size must be an int that is not negative, not -1" in message(
            lambda small=small: blocks(small, -1), OverflowError
        )
        assert "dynamic_shared_memory_size must be an int, not str" in message(
            lambda small=small: blocks(small, "x")
        )

    class Hostile:
        def __index__(self) -> int:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        blocks(Hostile(), 0)
    with pytest.raises(ValueError, match=f"there is no device {2**70}: device_id must lie in 0 .."):
        Device(2**70)
    attributes: Any = build("__global__ void k() {}").get_kernel("k").attributes
    for wrong, error, text in (
        (True, TypeError, "must be an int, not bool"),
        (1.0, TypeError, "must be an int, not float"),
        (1 << 40, OverflowError, r"must lie in -2\*\*31 .. 2\*\*31 - 1, not 1099511627776"),
    ):
        with pytest.raises(error, match=f"KernelAttributes.max_dynamic_shared_size_bytes {text}"):
            attributes.max_dynamic_shared_size_bytes = wrong


def test_calls_of_class_methods() -> None:
    for owner in (Buffer, Stream):
        any_type: Any = owner
        name = f"{owner.__name__}.from_handle"
        assert message(any_type.from_handle).startswith(f"{name} needs the argument '")
        assert message(lambda any_type=any_type: any_type.from_handle(*range(9))).startswith(
            f"{name} takes at most "
        )


def test_properties_and_constructors(device: Device) -> None:
    pool: Any = cudacore.DeviceMemoryResource(device, {})
    text = message(lambda: setattr(pool.attributes, "reuse_allow_opportunistic", object()))
    assert text == "MemoryPoolAttributes.reuse_allow_opportunistic must be a bool, not object"
    for value in (1, None, float("nan")):
        with pytest.raises(TypeError, match="must be a bool"):
            pool.attributes.reuse_follow_event_dependencies = value
    resource: Any = cudacore.LegacyPinnedMemoryResource
    assert message(lambda: resource(1, 2)).startswith("LegacyPinnedMemoryResource takes ")


def test_dlpack(device: Device) -> None:
    buffer: Any = device.allocate(16)
    assert message(lambda: buffer.__dlpack__(dl_device="cpu")) == (
        "Buffer.__dlpack__: dl_device must be None or a tuple of two ints, not 'cpu'"
    )
    assert "max_version" in message(lambda: buffer.__dlpack__(max_version=1))
    assert isinstance(buffer, Buffer)


def test_surrogates() -> None:
    for call in (
        lambda: Program("// \udc80", "c++"),
        lambda: Signature("(int \udc80)"),
        lambda: cubin("__global__ void k() {}").signature("\udc80"),
    ):
        assert "surrogate" in message(call, ValueError)


def test_pickles() -> None:
    signature = Signature("k(int n)")
    rebuild, arguments = signature[0].__reduce__()  # type: ignore[misc]
    for place in range(9):
        wrong = list(arguments)
        wrong[place] = object()
        assert "object" in message(lambda wrong=wrong: rebuild(*wrong))  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(signature)) == signature


def test_arguments_that_go_by_name(device: Device, stream: Stream) -> None:
    any_device: Any = device
    assert message(lambda: any_device.allocate(8, stream)) == (
        "Device.allocate takes at most 1 positional argument, but 2 were given; give stream by name"
    )
    assert message(lambda: any_device.to_device(b"", stream)).endswith("; give stream by name")
    any_code: Any = ObjectCode
    assert message(lambda: any_code.from_ptx(b"", "name")).endswith(
        "; give name, symbol_mapping by name"
    )


def test_constructors() -> None:
    program: Any = Program
    assert message(lambda: program("", "c++", arch="sm_90")) == (
        "Program has no argument 'arch'; it is an option: options={\"arch\": ...}"
    )
    assert message(lambda: program("", "c++", optoins={})) == (
        "Program has no argument 'optoins'; did you mean 'options'?"
    )
    assert message(lambda: program("")) == "Program needs the argument 'code_type'"
    assert message(lambda: program("", "c++", None, 1)) == (
        "Program takes at most 3 positional arguments, but 4 were given"
    )
    assert message(lambda: program("", code="")) == "Program was given 'code' twice"
    assert message(lambda: program(**{1: 2})) == "Program takes arguments by names of str, not int"
    linker: Any = Linker
    assert message(lambda: linker(arch="sm_90")).endswith('options={"arch": ...}')
    assert message(lambda: linker(**{1: 2})) == "Linker takes arguments by names of str, not int"
    any_device: Any = Device
    assert message(lambda: any_device(device=1)) == (
        "Device has no argument 'device'; did you mean 'device_id'?"
    )
    signature: Any = Signature
    assert message(signature) == "Signature needs the argument 'declaration'"
    assert message(lambda: signature(3)).startswith("Signature: declaration must be a str")
    resource: Any = MemoryResource
    for call in (lambda: resource(1, 2, x=3), lambda: resource(x=3)):
        assert message(call).startswith("MemoryResource takes no arguments")

    class Own(MemoryResource):
        def __init__(self, size: int, *, name: str) -> None:
            self.both = size, name

    assert Own(1, name="a").both == (1, "a")


def test_names_of_others() -> None:
    options: Any = EventOptions
    assert message(lambda: options(enable_timing=True)).endswith("; did you mean 'timing_enabled'?")


def test_code_types() -> None:
    any_code: Any = ptx("__global__ void k() {}")
    program: Any = Program
    made = program("__global__ void k() {}", "C++", {"arch": "sm_90"}).compile("PTX")
    assert made.code_type == "ptx"
    assert '; there are "ptx", "cubin", ' in message(
        lambda: Linker(any_code, options={"arch": "sm_90"}).link("TEXT"),  # type: ignore[arg-type]
        ValueError,
    )
    code = cubin("__global__ void k() {}").code
    assert "look like a cubin: give them to from_cubin()" in message(
        lambda: ObjectCode.from_ptx(code).signature("k"), ValueError
    )


def test_methods_show_no_insides(device: Device, stream: Stream) -> None:
    assert repr(stream.sync) == "<bound method cudacore.sync of <Stream of device 0>>"
    for shown in (Stream.sync, device.create_context, cudacore.current_stream):
        assert "_core" not in repr(shown)
        assert "pybind" not in repr(shown)


@pytest.mark.parametrize("options", [{"nonblocking": False}, StreamOptions(nonblocking=False)])
def test_options_of_streams_go_by_name(device: Device, options: Any) -> None:
    with pytest.raises(TypeError, match=r"given by name: create_stream\(options=\.\.\.\)"):
        device.create_stream(options)


def test_streams(device: Device) -> None:
    any_device: Any = device
    assert message(lambda: any_device.allocate(8, stream=0)) == (
        "stream must be a cudacore.Stream or have __cuda_stream__, not int; None is the current "
        "stream, and Stream.from_handle wraps a handle"
    )


def test_closed_pool(device: Device) -> None:
    pool = DeviceMemoryResource(device, {})
    device.memory_resource = pool
    pool.close()
    cure = "device.memory_resource = DeviceMemoryResource(device)"
    assert cure in message(lambda: pool.allocate(8), ValueError)
    with pytest.raises(ValueError, match="is closed; allocate from another"):
        device.allocate(8)
    device.memory_resource = DeviceMemoryResource(device)
    before = device.memory_resource
    assert message(lambda: setattr(device, "memory_resource", pool), ValueError) == (
        f"Device.memory_resource: <DeviceMemoryResource of device {device.device_id}> is closed"
    )
    assert device.memory_resource is before
    assert device.allocate(8).size == 8


def test_fill(device: Device) -> None:
    buffer: Any = device.allocate(16)
    assert message(lambda: buffer.fill(device.allocate(16))) == (
        "Buffer.fill: value must be a pattern, not a cudacore.Buffer; copy_from copies one"
    )
    assert message(lambda: buffer.fill("a")) == (
        "Buffer.fill: value must be an int of 0 .. 255, a NumPy scalar or bytes, not str"
    )


@pytest.fixture
def kernel(device: Device) -> Any:
    return build("__global__ void k(float* p, int n, float x, bool b) {}").get_kernel("k")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (1, 1.0, "cannot take a Python float: pass int(...) of it"),
        (1, True, "cannot take a Python bool: pass int(...) of it"),
        (2, True, "cannot take a Python bool: pass float(...) of it"),
        (3, 1, "cannot take a Python int: pass bool(...) of it"),
        (2, np.longdouble(1), "pass float(...) of it"),
        (1, np.longdouble(1), "pass int(...) of it"),
        (2, np.str_("x"), "cannot take a numpy.str_"),
        (2, np.datetime64("2020-01-01"), "cannot take a numpy.datetime64"),
        (0, Buffer, "cannot take the class cudacore.Buffer: pass an object of it"),
        (0, np.ones(4, np.float32), "lives on the host; device.to_device(array) copies it"),
        (2, np.ones(1, np.float32), "it is an array; pass one element"),
    ],
    ids=str,
)
def test_kernel_arguments(
    device: Device, kernel: Any, place: int, value: object, said: str
) -> None:
    if said.startswith("lives on the host") and device.properties.pageable_memory_access:
        pytest.skip("this device reads it")
    arguments: list[object] = [None, 1, 1.0, True]
    arguments[place] = value
    text = message(lambda: kernel[1, 1](*arguments))
    assert said in text
    assert ("is an array" in text) == isinstance(value, np.ndarray) or place == 0


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    ("number", "error"),
    [(True, TypeError), (1.0, TypeError), (-1, ValueError), (2**63, OverflowError),
     (-(10**5000), ValueError)],
    ids=["bool", "float", "negative", "large", "huge"],
)  # fmt: skip
def test_ints_are_refused_in_the_same_words_by_python_code(
    number: Any, error: type[Exception]
) -> None:
    ours = message(lambda: to_int(number, "MemoryResource.allocate: size", least=0), error)
    assert ours == message(lambda: LegacyPinnedMemoryResource().allocate(number), error)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("number", [10**400, 10**5000], ids=["400", "5000"])
def test_huge_ints(kernel: Any, number: int) -> None:
    device: Any = Device()
    buffer = device.allocate(8)
    bits = f"an int of {number.bit_length()} bits"
    calls: dict[Callable[[], object], type[Exception]] = {
        lambda: kernel[1, 1](None, number, 1.0, True): OverflowError,
        lambda: kernel[1, 1](None, 1, number, True): OverflowError,
        lambda: kernel[1, 1](number, 1, 1.0, True): OverflowError,
        lambda: kernel[number, 1]: ValueError,
        lambda: kernel[1, 1, None, number]: ValueError,
        lambda: device.allocate(number): OverflowError,
        lambda: Device(number): ValueError,
        lambda: buffer.fill(number): OverflowError,
        lambda: buffer[number]: TypeError,
        lambda: buffer.__dlpack__(stream=-number): ValueError,
        lambda: Buffer.from_handle(number, 8): OverflowError,
        lambda: cudacore.StreamOptions(priority=number): OverflowError,
        lambda: cudacore.ProgramOptions(max_register_count=number): OverflowError,
        lambda: cudacore.DeviceMemoryResourceOptions(max_size=number): OverflowError,
        lambda: setattr(kernel.attributes, "required_cluster_width", number): OverflowError,
        lambda: kernel.occupancy.max_active_blocks_per_multiprocessor(number, 0): OverflowError,
        lambda: LaunchConfig(number, 2): TypeError,
        lambda: device.get_multicast_granularity(number): OverflowError,
        lambda: cudacore._core.nvml("nvmlInit", number): OverflowError,
    }
    for call, error in calls.items():
        assert bits in message(call, error)
    assert "(4300)" not in message(lambda: LaunchConfig((number,), 2))


def test_shapes(kernel: Any, stream: Stream) -> None:
    config = LaunchConfig(grid=1, block=1)
    assert "launch(stream, config, kernel, ...)" in message(lambda: kernel[config, stream])
    text = message(lambda: kernel[{"grid": 1, "block": 1}])
    assert "kernel[LaunchConfig(**config)]" in text
    assert "launch(stream, config, kernel, ...)" in text
    assert kernel[np.array([4, 4]), (16, 16)].config.grid == (4, 4, 1)
    for wrong in (np.ones((2, 2), int), np.array([1.0, 2.0])):
        assert message(lambda wrong=wrong: kernel[wrong, 1]).startswith(  # type: ignore[misc]
            "LaunchConfig: grid.x must be an int, not numpy."
        )


def test_names_that_are_no_utf_8(stream: Stream) -> None:
    any_stream: Any = stream
    with pytest.raises(TypeError, match=r"Stream.wait has no argument 'caf\\udce9'"):
        any_stream.wait(**{os.fsdecode(b"caf\xe9"): 1})


def test_closed_streams(device: Device) -> None:
    closed = device.create_stream()
    closed.close()
    kernel = build("__global__ void k() {}").get_kernel("k")
    for call in (lambda: device.create_stream(closed), lambda: kernel[1, 1, closed]):
        with pytest.raises(ValueError, match="this Stream is closed"):
            call()


def test_scalars_that_show_too_little(stream: Stream) -> None:
    class Larger(ctypes.c_byte):
        pass

    Larger._type_ = "d"  # type: ignore[assignment]
    launcher = build("__global__ void k(double d) {}").get_kernel("k")[1, 1, stream]
    with pytest.raises(TypeError, match="it shows 1 byte, but its type has 8"):
        launcher(Larger(1))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is new in Python 3.12")
def test_scalars_that_show_nothing(stream: Stream) -> None:
    class Pointer(ctypes.c_void_p):
        def __buffer__(self, _flags: int) -> memoryview:
            return memoryview((ctypes.c_char * 0).from_address(8))

    launcher = build("__global__ void k(int* p) {}").get_kernel("k")[1, 1, stream]
    with pytest.raises(TypeError, match="it shows 0 bytes, but its type has 8"):
        launcher(Pointer(5))
