# SPDX-License-Identifier: Apache-2.0
"""Device.to_device and Buffer.to_host."""

import array
import sys

import numpy as np
import pytest
from cudacore import Device, LegacyPinnedMemoryResource, Stream
from harness import run_cleanly

VALUES = np.arange(24, dtype=np.float32)


@pytest.mark.parametrize(
    "host",
    [VALUES.tobytes(), bytearray(VALUES), memoryview(VALUES), array.array("f", VALUES), VALUES,
     VALUES.reshape(2, 3, 4), np.float64(1.5), b""],
    ids=lambda host: type(host).__name__,
)  # fmt: skip
def test_to_device_and_back(device: Device, stream: Stream, host: object) -> None:
    buffer = device.to_device(host, stream=stream)
    expected = bytes(host) if not isinstance(host, np.generic) else host.tobytes()
    assert buffer.size == len(expected)
    assert buffer.device_id == device.device_id
    assert buffer.memory_resource is device.memory_resource
    assert buffer.to_host(stream=stream).tobytes() == expected


def test_to_device_takes_a_buffer(device: Device, stream: Stream) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(8)
    memoryview(pinned)[:] = b"abcdefgh"
    copied = device.to_device(device.to_device(pinned, stream=stream)[2:6], stream=stream)
    assert copied.to_host(stream=stream).tobytes() == b"cdef"


@pytest.mark.parametrize("host", [1, "text", None, [1, 2], VALUES[::2]], ids=str)
def test_to_device_refuses_what_shows_no_memory(device: Device, host: object) -> None:
    with pytest.raises(TypeError, match=r"Device\.to_device: host"):
        device.to_device(host)  # type: ignore[arg-type]


@pytest.mark.multi_gpu
def test_to_device_copies_to_this_device(device: Device) -> None:
    buffer = Device(1).to_device(VALUES)
    assert buffer.device_id == 1
    assert np.array_equal(buffer.to_host(np.float32), VALUES)
    assert Device() == device


def test_to_host_is_bytes_by_default(device: Device) -> None:
    result = device.to_device(b"\1\2\3").to_host()
    assert result.dtype == np.uint8
    assert result.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        (np.float32, None, (24,)),
        ("f4", (4, 6), (4, 6)),
        (np.dtype("float32"), (-1, 8), (3, 8)),
        ("<f4", 24, (24,)),
        (np.float32, [2, 12], (2, 12)),
        (np.float16, (2, -1), (2, 24)),
        ("datetime64[s]", None, (12,)),
        ([("x", "f4"), ("y", "f4")], (3, 4), (3, 4)),
    ],
)
def test_to_host_has_dtype_and_shape(
    device: Device, stream: Stream, dtype: object, shape: object, expected: tuple[int, ...]
) -> None:
    buffer = device.to_device(VALUES, stream=stream)
    result = buffer.to_host(dtype, shape, stream=stream)
    assert result.dtype == np.dtype(dtype)
    assert result.shape == expected
    assert result.tobytes() == VALUES.tobytes()
    assert result.flags.writeable
    assert result.flags.c_contiguous


def test_to_host_waits(device: Device, stream: Stream) -> None:
    buffer = device.to_device(bytes(1 << 20), stream=stream)
    buffer.fill(9, stream=stream)
    assert (buffer.to_host(stream=stream) == 9).all()
    assert stream.is_done


@pytest.mark.parametrize(
    ("dtype", "shape", "error", "said"),
    [
        (np.float64, (5,), ValueError, r"shape \(5,\) does not hold the 12 elements"),
        ("V7", None, ValueError, "96 bytes is not a whole number"),
        ("V0", None, ValueError, "not a whole number"),
        (object, None, TypeError, "Python objects"),
        ("nonsense", None, TypeError, "nonsense"),
        (None, "x", TypeError, "shape must be an int or a sequence of int, not 'x'"),
    ],
)
def test_to_host_refuses(
    device: Device, dtype: object, shape: object, error: type[Exception], said: str
) -> None:
    buffer = device.to_device(VALUES)
    with pytest.raises(error, match=said):
        buffer.to_host(dtype, shape)


def test_to_host_of_a_closed_buffer(device: Device) -> None:
    buffer = device.to_device(b"abc")
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        buffer.to_host()


def test_numpy_is_imported_when_it_is_needed(device: Device) -> None:
    said = run_cleanly("""
        import sys, cudacore
        buffer = cudacore.Device().to_device(b"abc")
        assert "numpy" not in sys.modules
        print(buffer.to_host().tolist(), "numpy" in sys.modules)
    """)
    assert said.strip() == "[97, 98, 99] True"


def test_without_numpy_the_error_says_what_to_do(device: Device, monkeypatch) -> None:
    buffer = device.to_device(b"abc")
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError, match=r"pip install numpy.*copy_to\(bytearray"):
        buffer.to_host()
