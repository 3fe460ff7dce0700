# SPDX-License-Identifier: Apache-2.0
"""Limits of contexts and attributes of streams."""

import pickle
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import (
    AccessPolicyWindow,
    Context,
    Device,
    InvalidValueError,
    NotSupportedError,
    Stream,
)
from cudacore.typing import AccessPropertyType, MemSyncDomainType, SyncPolicyType
from harness import run_cleanly

LIMITS = (
    "stack_size", "printf_fifo_size", "malloc_heap_size", "dev_runtime_pending_launch_count",
    "max_l2_fetch_granularity", "persisting_l2_cache_size",
)  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_limits_can_be_set(device: Device, name: str) -> None:
    if name == "persisting_l2_cache_size" and not device.properties.max_persisting_l2_cache_size:
        pytest.skip("the device has no persisting accesses")
    # In a process of its own: once a kernel that prints or allocates has been launched, a driver
    # changes the sizes of these no more.
    run_cleanly(f"""
    from cudacore import Device
    device = Device()
    device.set_current()
    limits = device.context.limits
    before = limits.{name}
    limits.{name} = 64
    assert limits.{name} >= 64
    assert f"{name}={{limits.{name}}}" in repr(limits)
    limits.{name} = before
    assert device.context.limits.{name} == before
    """)


def test_sync_depth_is_of_older_devices(device: Device) -> None:
    if device.compute_capability >= (9, 0):
        with pytest.raises(NotSupportedError, match="dev_runtime_sync_depth"):
            _ = device.context.limits.dev_runtime_sync_depth
        assert "dev_runtime_sync_depth" not in repr(device.context.limits)
    else:
        assert device.context.limits.dev_runtime_sync_depth >= 1


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("stack_size", -1, (ValueError, OverflowError)),
        ("stack_size", 2**70, (ValueError, OverflowError)),
        ("stack_size", 1.5, TypeError),
        ("stack_size", "1", TypeError),
        ("stack_size", None, TypeError),
        ("stack_size", True, TypeError),
        ("max_l2_fetch_granularity", 129, ValueError),
    ],
)
def test_wrong_limits_are_refused(
    device: Device, name: str, value: Any, error: type[Exception]
) -> None:
    limits = device.context.limits
    before = getattr(limits, name)
    with pytest.raises(error):
        setattr(limits, name, value)
    assert getattr(limits, name) == before


def test_a_stack_that_is_too_large_is_refused(device: Device) -> None:
    with pytest.raises((InvalidValueError, cudacore.OutOfMemoryError), match="stack_size"):
        device.context.limits.stack_size = 2**40


def test_limits_are_not_made_or_pickled(device: Device) -> None:
    with pytest.raises(TypeError, match=r"Context\.limits"):
        cudacore.ContextLimits()
    with pytest.raises(TypeError):
        pickle.dumps(device.context.limits)
    with pytest.raises(AttributeError):
        device.context.limits.no_such_limit = 1  # type: ignore[attr-defined]


def test_persisting_lines_are_reset(device: Device) -> None:
    device.context.reset_persisting_l2_cache()


@pytest.fixture
def windows(device: Device) -> int:
    largest = device.properties.max_access_policy_window_size
    if not largest:
        pytest.skip("the device has no access policy windows")
    return largest


def test_window_of_a_stream(device: Device, stream: Stream, windows: int) -> None:
    attributes = stream.attributes
    assert attributes.access_policy_window == AccessPolicyWindow(hit_ratio=0) or (
        attributes.access_policy_window.num_bytes == 0
    )
    buffer = device.allocate(4096, stream=stream)
    stream.sync()
    window = AccessPolicyWindow(
        buffer, 4096, 0.6, AccessPropertyType.PERSISTING, AccessPropertyType.STREAMING
    )
    assert (window.base_ptr, window.num_bytes) == (buffer.handle, 4096)
    attributes.access_policy_window = window
    assert attributes.access_policy_window == window
    other = device.create_stream()
    other.attributes.copy_from(stream)
    assert other.attributes.access_policy_window == window
    attributes.access_policy_window = None
    assert attributes.access_policy_window.num_bytes == 0
    attributes.access_policy_window = {"base_ptr": buffer, "num_bytes": 16}
    assert attributes.access_policy_window.num_bytes == 16


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"hit_ratio": 1.5}, "hit_ratio"),
        ({"hit_ratio": -0.1}, "hit_ratio"),
        ({"hit_ratio": float("nan")}, "hit_ratio"),
        ({"miss_prop": "persisting"}, "miss_prop"),
    ],
)
def test_wrong_windows_are_refused(
    device: Device, stream: Stream, windows: int, fields: dict[str, Any], word: str
) -> None:
    buffer = device.allocate(64, stream=stream)
    window = AccessPolicyWindow(buffer, 64, **fields)
    with pytest.raises(ValueError, match=word):
        stream.attributes.access_policy_window = window
    with pytest.raises(ValueError, match=word):
        cudacore.LaunchConfig(access_policy_window=window)


def test_a_window_is_no_larger_than_the_devices(
    device: Device, stream: Stream, windows: int
) -> None:
    buffer = device.allocate(64, stream=stream)
    with pytest.raises(ValueError, match="too large"):
        stream.attributes.access_policy_window = AccessPolicyWindow(buffer.handle, windows + 1)


def test_a_window_is_no_larger_than_its_buffer(
    device: Device, stream: Stream, windows: int
) -> None:
    buffer = device.allocate(64, stream=stream)
    for wrong in (
        lambda: AccessPolicyWindow(buffer, 65),
        lambda: cudacore.LaunchConfig(access_policy_window={"num_bytes": 65, "base_ptr": buffer}),
        lambda: setattr(
            stream.attributes, "access_policy_window", {"base_ptr": buffer, "num_bytes": 65}
        ),
        lambda: AccessPolicyWindow(buffer[32:], 33),
    ):
        with pytest.raises(ValueError, match="num_bytes: this Buffer has .* bytes, and the window"):
            wrong()
    assert AccessPolicyWindow(buffer[32:], 32).num_bytes == 32


def test_a_window_is_over_memory(device: Device, stream: Stream, windows: int) -> None:
    with pytest.raises(ValueError, match="no memory"):
        stream.attributes.access_policy_window = AccessPolicyWindow(16, 64)
    buffer = device.allocate(64, stream=stream)
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        AccessPolicyWindow(buffer, 64)


@pytest.mark.multi_gpu
def test_a_window_is_over_memory_of_the_device(stream: Stream, windows: int) -> None:
    other = Device(1)
    buffer = other.allocate(64, stream=other.create_stream())
    with pytest.raises(ValueError, match="device 1"):
        stream.attributes.access_policy_window = AccessPolicyWindow(buffer, 64)
    with pytest.raises(ValueError, match="one device"):
        stream.attributes.copy_from(other.create_stream())


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"base_ptr": "x"}, TypeError),
        ({"base_ptr": 1.5}, TypeError),
        ({"num_bytes": -1}, (ValueError, OverflowError)),
        ({"num_bytes": "x"}, TypeError),
        ({"hit_ratio": "x"}, TypeError),
        ({"hit_ratio": 10**400}, OverflowError),
        ({"hit_prop": "often"}, ValueError),
        ({"hit_prop": None}, TypeError),
        ({"no_such_field": 1}, TypeError),
    ],
)
def test_fields_of_a_window_are_checked(fields: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        AccessPolicyWindow(**fields)


def test_attributes_of_a_stream(device: Device, stream: Stream) -> None:
    attributes = stream.attributes
    for policy in SyncPolicyType:
        attributes.sync_policy = policy
        assert attributes.sync_policy == policy
    attributes.priority = -2
    assert stream.priority == attributes.priority == -2
    other = device.create_stream()
    other.attributes.copy_from(stream)
    assert other.attributes.sync_policy == "blocking_sync"
    assert repr(attributes).startswith(f"StreamAttributes(priority={attributes.priority}, sync_")


def test_memory_domains_of_a_stream(device: Device, stream: Stream) -> None:
    domains = device.properties.mem_sync_domain_count
    if domains < 2:
        pytest.skip("the device has one memory domain")
    attributes = stream.attributes
    assert attributes.mem_sync_domain == MemSyncDomainType.DEFAULT
    assert attributes.mem_sync_domain_map == (0, 1)
    attributes.mem_sync_domain = "remote"
    attributes.mem_sync_domain_map = (1, 0)
    assert (attributes.mem_sync_domain, attributes.mem_sync_domain_map) == ("remote", (1, 0))
    with pytest.raises(ValueError, match=f"0 .. {domains - 1}"):
        attributes.mem_sync_domain_map = (0, domains)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("sync_policy", "never", ValueError),
        ("sync_policy", 1, TypeError),
        ("priority", 99, ValueError),
        ("priority", 2**40, OverflowError),
        ("priority", "high", TypeError),
        ("mem_sync_domain", "near", ValueError),
        ("mem_sync_domain_map", (0,), ValueError),
        ("mem_sync_domain_map", (0, 256), ValueError),
        ("mem_sync_domain_map", (0, "1"), TypeError),
        ("mem_sync_domain_map", 1, TypeError),
        ("access_policy_window", 1, TypeError),
    ],
)
def test_wrong_attributes_are_refused(
    stream: Stream, name: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=None if name == "access_policy_window" else name):
        setattr(stream.attributes, name, value)


def test_a_closed_stream_has_no_attributes(device: Device) -> None:
    stream = device.create_stream()
    attributes = stream.attributes
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        _ = stream.attributes
    assert attributes.priority == 0  # it holds a share of the stream
    with pytest.raises(ValueError, match="closed"):
        attributes.copy_from(stream)
    with pytest.raises(TypeError, match=r"Stream\.attributes"):
        cudacore.StreamAttributes()


CLOSED: list[Callable[[Context], object]] = [
    lambda context: context.limits,
    lambda context: context.resources,
    lambda context: context.handle,
    lambda context: context.device,
    lambda context: context.is_green,
    lambda context: context.create_stream(),
    lambda context: context.sync(),
    lambda context: context.reset_persisting_l2_cache(),
    lambda context: Device().set_current(context),
]


@pytest.mark.parametrize("use", CLOSED)
def test_a_closed_context_is_refused(device: Device, use: Callable[[Context], object]) -> None:
    groups, _ = device.resources.sm.split({"count": None})
    context = device.create_context({"resources": groups})
    context.close()
    with pytest.raises(ValueError, match="closed"):
        use(context)
