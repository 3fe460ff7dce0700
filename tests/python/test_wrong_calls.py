# SPDX-License-Identifier: Apache-2.0
"""Errors about wrong calls name the function, the argument, what it may be and what was given."""

import pickle
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import Buffer, Device, Program, Signature, Stream
from harness import build, cubin


def message(call: Callable[[], object], *kinds: type[Exception]) -> str:
    with pytest.raises(kinds or (TypeError,)) as caught:
        call()
    text = str(caught.value)
    for theirs in ("incompatible", "Unable to cast", "supported:", "Invoked with", "pybind11"):
        assert theirs not in text
    return text


def test_calls_of_methods(device: Device, stream: Stream) -> None:
    assert device.device_id == 0
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
    assert device.device_id == 0
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
    with pytest.raises(ValueError, match=f"there is no device {2**70}: device_id must lie in 0 .."):
        Device(2**70)
    attributes: Any = build("__global__ void k() {}").get_kernel("k").attributes
    for wrong, error, text in (
        (True, TypeError, "must be an int, not bool"),
        (1.0, TypeError, "must be an int, not float"),
        (1 << 40, OverflowError, "must fit 32 bits, not be 1099511627776"),
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
    assert text.startswith("MemoryPoolAttributes.reuse_allow_opportunistic: ")
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
