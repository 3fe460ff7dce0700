# SPDX-License-Identifier: Apache-2.0
"""Module variables: `__device__`, `__constant__` and `__managed__`."""

import struct
from collections.abc import Callable

import pytest
from cudacore import Buffer, Device, ObjectCode, Stream
from harness import build, host_bytes

SOURCE = """
__device__ int counter = 5;
__constant__ float weights[4];
namespace ns { __device__ double inside = 2.5; }
extern "C" { __device__ unsigned char c_name[3] = {1, 2, 3}; }
template <typename T> __device__ T templated = T(7);
__global__ void bump() { counter += 1; }
__global__ void sum(float* out) { *out = weights[0] + weights[1] + weights[2] + weights[3]; }
__global__ void use(int* out) { *out = templated<int> + c_name[0] + (int)ns::inside; }
"""


@pytest.fixture
def code(device: Device) -> ObjectCode:
    return build(SOURCE, "&counter", "&weights", "&ns::inside", "&templated<int>")


def read(buffer: Buffer, stream: Stream) -> bytes:
    host = bytearray(buffer.size)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    return bytes(host)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("counter", struct.pack("<i", 5)),
        ("ns::inside", struct.pack("<d", 2.5)),
        ("c_name", b"\1\2\3"),
        ("weights", bytes(16)),
        ("templated<int>", struct.pack("<i", 7)),
    ],
)
def test_has_its_initial_value(
    code: ObjectCode, stream: Stream, name: str, expected: bytes
) -> None:
    variable = code.get_global(name)
    assert variable.size == len(expected)
    assert variable.device_id == 0
    assert read(variable, stream) == expected


def test_kernels_see_what_is_written(
    code: ObjectCode, stream: Stream, pinned: Callable[[int], Buffer]
) -> None:
    code.get_global("weights").copy_from(struct.pack("<4f", 1, 2, 3, 4), stream=stream)
    out = pinned(4)
    code.get_kernel("sum")[1, 1, stream](out)
    stream.sync()
    assert struct.unpack("<f", host_bytes(out)) == (10.0,)


def test_kernels_writes_are_seen(code: ObjectCode, stream: Stream) -> None:
    for _ in range(3):
        code.get_kernel("bump")[1, 1, stream]()
    assert read(code.get_global("counter"), stream) == struct.pack("<i", 8)


def test_two_modules_have_two_variables(code: ObjectCode, stream: Stream) -> None:
    other = build(SOURCE)
    code.get_kernel("bump")[1, 1, stream]()
    assert read(other.get_global("counter"), stream) == struct.pack("<i", 5)


def test_variable_keeps_its_library(stream: Stream) -> None:
    variable = build(SOURCE).get_global("counter")
    assert read(variable, stream) == struct.pack("<i", 5)


def test_closing_frees_nothing(code: ObjectCode, stream: Stream) -> None:
    code.get_global("counter").close()
    assert read(code.get_global("counter"), stream) == struct.pack("<i", 5)


@pytest.mark.parametrize("name", ["nothing_like_it", "bump", ""])
def test_unknown_name_is_named(code: ObjectCode, name: str) -> None:
    with pytest.raises(ValueError, match=name or "name"):
        code.get_global(name)


@pytest.mark.multi_gpu
def test_each_device_has_its_own(code: ObjectCode, stream: Stream) -> None:
    code.get_kernel("bump")[1, 1, stream]()
    assert read(code.get_global("counter"), stream) == struct.pack("<i", 6)
    other = Device(1)
    other.set_current()
    try:
        variable = code.get_global("counter")
        assert variable.device_id == 1
        assert read(variable, other.create_stream()) == struct.pack("<i", 5)
    finally:
        Device(0).set_current()


def test_without_a_value_it_begins_as_zeros(stream: Stream) -> None:
    source = "__device__ int plain[4096]; __global__ void touch() { plain[0] = 1; }"
    for _ in range(4):
        variable = build(source).get_global("plain")
        assert read(variable, stream) == bytes(4 * 4096)
        variable.fill(0xFF, stream=stream)
        stream.sync()
