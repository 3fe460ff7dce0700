# SPDX-License-Identifier: Apache-2.0
"""LaunchConfig: the shape of a launch and its attributes."""

import pickle
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import AccessPolicyWindow, Device, LaunchConfig, NotSupportedError, Stream, launch
from cudacore.graph import GraphDefinition
from harness import build

DIMS = ("grid", "block", "cluster")


@pytest.mark.parametrize("field", DIMS)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, (7, 1, 1)),
        ((7,), (7, 1, 1)),
        ((7, 3), (7, 3, 1)),
        ((7, 3, 2), (7, 3, 2)),
        ([7, 3], (7, 3, 1)),
        (np.int64(7), (7, 1, 1)),
        ((np.uint8(7), 3), (7, 3, 1)),
        (np.array([7, 3]), (7, 3, 1)),
        (np.array(7), (7, 1, 1)),
        (2**31 - 1, (2**31 - 1, 1, 1)),
    ],
    ids=str,
)
def test_dimensions(field: str, given: Any, expected: tuple[int, int, int]) -> None:
    assert getattr(LaunchConfig(**{field: given}), field) == expected


@pytest.mark.parametrize("field", DIMS)
@pytest.mark.parametrize("how", ["constructor", "replacement"])
@pytest.mark.parametrize(
    ("given", "error"),
    [
        (0, ValueError),
        (-1, (ValueError, OverflowError)),
        ((1, 0), ValueError),
        ((1, 1, -1), (ValueError, OverflowError)),
        ((), ValueError),
        ((1, 1, 1, 1), ValueError),
        (2**32, (ValueError, OverflowError)),
        (2**100, (ValueError, OverflowError)),
        (1.5, TypeError),
        ("1", TypeError),
        ((1, 2.5), TypeError),
        (np.ones(4, int), ValueError),
        (np.ones(0, int), ValueError),
        (np.ones((2, 2), int), TypeError),
        (np.ones(2), TypeError),
        pytest.param(object(), TypeError, id="object"),
    ],
    ids=str,
)
def test_bad_dimensions_name_the_field(
    field: str, how: str, given: Any, error: type[Exception] | tuple[type[Exception], ...]
) -> None:
    uses = {
        "constructor": lambda: LaunchConfig(**{field: given}),
        "replacement": lambda: LaunchConfig().__replace__(**{field: given}),
    }
    with pytest.raises(error, match=field):
        uses[how]()


def test_defaults() -> None:
    config = LaunchConfig()
    assert config.grid == config.block == (1, 1, 1)
    assert config.cluster is None
    assert config.shmem_size == 0
    assert config.is_cooperative is False
    assert config.programmatic_stream_serialization is False
    assert config.priority is None


def test_order_of_arguments_is_cuda_cores() -> None:
    config = LaunchConfig(8, 2, 128, 16, True, True, -1)
    assert config == LaunchConfig(
        grid=8, cluster=2, block=128, shmem_size=16, is_cooperative=True,
        programmatic_stream_serialization=True, priority=-1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("shmem_size", -1, (ValueError, OverflowError)),
        ("shmem_size", 1.5, TypeError),
        ("shmem_size", "1", TypeError),
        ("is_cooperative", "yes", TypeError),
        ("programmatic_stream_serialization", "yes", TypeError),
        ("priority", 1.5, TypeError),
        ("priority", "high", TypeError),
        ("cluster_scheduling_policy_preference", "near", ValueError),
        ("cluster_scheduling_policy_preference", 1, TypeError),
        ("preferred_cluster", (2, 0), ValueError),
        ("access_policy_window", 1, TypeError),
        ("programmatic_event", 1, TypeError),
        ("launch_completion_event", "x", TypeError),
        ("trigger_at_block_start", True, ValueError),
        ("trigger_at_block_start", 1, TypeError),
        ("mem_sync_domain", "near", ValueError),
        ("mem_sync_domain_map", (1,), ValueError),
        ("mem_sync_domain_map", 1, TypeError),
        ("shared_memory_carveout", 101, ValueError),
        ("shared_memory_carveout", 0.5, TypeError),
        ("shared_memory_mode", "large", ValueError),
        ("portable_cluster_size_mode", 2, TypeError),
        ("nvlink_util_centric_scheduling", 1, TypeError),
        ("device_updatable_kernel_node", "yes", TypeError),
    ],
)
def test_bad_field_is_named(field: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=field):
        LaunchConfig(**{field: value})
    with pytest.raises(error, match=field):
        LaunchConfig().__replace__(**{field: value})


ATTRIBUTES = {
    "cluster_scheduling_policy_preference": "spread",
    "preferred_cluster": (2, 1, 1),
    "access_policy_window": {"base_ptr": 4096, "num_bytes": 16},
    "mem_sync_domain": "remote",
    "mem_sync_domain_map": (1, 0),
    "shared_memory_carveout": 50,
    "shared_memory_mode": "allow_non_portable",
    "portable_cluster_size_mode": "require_portable",
    "nvlink_util_centric_scheduling": True,
    "device_updatable_kernel_node": True,
}
CHANGES = {"grid": 2, "cluster": 2, "block": 2, "shmem_size": 1, "is_cooperative": True,
           "programmatic_stream_serialization": True, "priority": 0} | ATTRIBUTES  # fmt: skip


@pytest.mark.parametrize("field", CHANGES)
def test_every_field_counts_for_equality(field: str) -> None:
    changed = LaunchConfig(**{field: CHANGES[field]})
    assert changed != LaunchConfig()
    assert changed == LaunchConfig(**{field: CHANGES[field]})
    assert hash(changed) == hash(LaunchConfig(**{field: CHANGES[field]}))
    before = LaunchConfig()
    assert before.__replace__(**{field: CHANGES[field]}) == changed
    assert before == LaunchConfig()


@pytest.mark.parametrize("field", CHANGES)
def test_never_changes(field: str) -> None:
    config = LaunchConfig()
    with pytest.raises(AttributeError, match=rf"LaunchConfig\.{field} .* copy\.replace"):
        setattr(config, field, CHANGES[field])
    with pytest.raises(AttributeError):
        delattr(config, field)
    assert config == LaunchConfig()


def test_is_not_equal_to_anything_else() -> None:
    assert LaunchConfig() != (1, 1)
    assert len({LaunchConfig(grid=1), LaunchConfig(grid=(1, 1, 1)), LaunchConfig(grid=2)}) == 2


def test_unknown_field_is_named() -> None:
    with pytest.raises(TypeError, match="no_such_field"):
        LaunchConfig(no_such_field=1)  # type: ignore[call-arg]


def test_repr_makes_it_again() -> None:
    config = LaunchConfig(grid=(2, 3), block=128, shmem_size=64)
    assert eval(repr(config), {"LaunchConfig": LaunchConfig}) == config


def test_whole_floats_are_ints() -> None:
    assert LaunchConfig(grid=(64 / 16, 2.0), block=8.0) == LaunchConfig(grid=(4, 2), block=8)


@pytest.mark.parametrize("field", ATTRIBUTES)
def test_attributes_are_as_given(field: str) -> None:
    given = ATTRIBUTES[field]
    config = LaunchConfig(grid=2, **{field: given})
    shown = AccessPolicyWindow(**given) if isinstance(given, dict) else given
    assert getattr(config, field) == shown
    assert getattr(LaunchConfig(), field) in {None, False}
    assert f"{field}=" in repr(config)
    assert f"{field}=" not in repr(LaunchConfig())
    assert eval(repr(config), vars(cudacore)) == config
    assert pickle.loads(pickle.dumps(config)) == config
    assert config.__replace__(grid=3).__replace__(grid=2) == config
    assert config.__replace__(**{field: type(given)() if given is True else None}) != config


class TestEvents:
    def test_are_recorded(self, device: Device, stream: Stream) -> None:
        kernel = build("__global__ void wait() { __nanosleep(1000); }").get_kernel("wait")
        first, second = device.create_event(), device.create_event()
        config = LaunchConfig(block=32, programmatic_event=first, launch_completion_event=second)
        assert (config.programmatic_event, config.launch_completion_event) == (first, second)
        launch(stream, config, kernel)
        other = device.create_stream()
        other.wait(first)
        other.wait(second)
        other.sync()
        first.sync()
        second.sync()
        assert first.is_done
        assert second.is_done

    def test_are_kept(self, device: Device, stream: Stream) -> None:
        kernel = build("__global__ void nothing() {}").get_kernel("nothing")
        event = device.create_event()
        config = LaunchConfig(programmatic_event=event, trigger_at_block_start=True)
        event.close()
        del event
        launch(stream, config, kernel)
        stream.sync()
        kept = config.programmatic_event
        assert kept is not None
        assert kept.is_done

    def test_have_no_timing(self, device: Device) -> None:
        event = device.create_event({"timing_enabled": True})
        for field in ("programmatic_event", "launch_completion_event"):
            with pytest.raises(ValueError, match=f"{field}.*timing_enabled"):
                LaunchConfig(**{field: event})

    def test_are_open(self, device: Device) -> None:
        event = device.create_event()
        event.close()
        with pytest.raises(ValueError, match="closed"):
            LaunchConfig(launch_completion_event=event)


class TestLaunches:
    def test_with_each_attribute(self, device: Device, stream: Stream) -> None:
        kernel = build("__global__ void one(int* out) { *out = 1; }").get_kernel("one")
        buffer = device.allocate(4, stream=stream)
        hints: dict[str, Any] = {"shared_memory_carveout": 50}
        if device.properties.max_access_policy_window_size:
            hints["access_policy_window"] = {"base_ptr": buffer, "num_bytes": 4}
        if device.compute_capability >= (9, 0):
            hints["mem_sync_domain"] = "remote"
            hints["cluster_scheduling_policy_preference"] = "default"
        for hint, value in hints.items():
            buffer.fill(0, stream=stream)
            launch(stream, LaunchConfig(**{hint: value}), kernel, buffer)
            stream.sync()
            assert bytes(buffer.to_host()) == bytes([1, 0, 0, 0])
        launch(stream, LaunchConfig(**hints), kernel, buffer)
        kernel[LaunchConfig(**hints)](buffer)
        stream.sync()

    def test_a_window_is_no_larger_than_the_devices(self, device: Device, stream: Stream) -> None:
        most = device.properties.max_access_policy_window_size
        kernel = build("__global__ void nothing() {}").get_kernel("nothing")
        window = AccessPolicyWindow(4096, most + 1)
        with pytest.raises((ValueError, NotSupportedError), match="window"):
            launch(stream, LaunchConfig(access_policy_window=window), kernel)

    def test_a_preferred_cluster_is_a_multiple(self, device: Device, stream: Stream) -> None:
        if not device.properties.cluster_launch:
            pytest.skip("the device has no clusters")
        kernel = build("__global__ void nothing() {}").get_kernel("nothing")
        for fields in ({}, {"cluster": 3, "grid": 4}, {"cluster": 2}):
            config = LaunchConfig(preferred_cluster=4, **fields)  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="preferred cluster"):
                launch(stream, config, kernel)

    def test_nodes_of_graphs(self, device: Device, stream: Stream) -> None:
        kernel = build("__global__ void one(int* out) { *out = 1; }").get_kernel("one")
        buffer = device.allocate(4, stream=stream)
        buffer.fill(0, stream=stream)
        stream.sync()
        config = LaunchConfig(block=32, cluster_scheduling_policy_preference="spread")
        graph = cudacore.graph.GraphDefinition()
        node = graph.launch(config, kernel, buffer)
        assert node.config == config
        node.update(config=LaunchConfig(block=32))
        assert node.config == LaunchConfig(block=32)
        node.update(config=config)
        assert node.config == config
        graph.instantiate().launch(stream)
        stream.sync()
        assert bytes(buffer.to_host())[0] == 1

    def test_recorded_launches(self, device: Device) -> None:
        kernel = build("__global__ void one(int* out) { *out = 1; }").get_kernel("one")
        buffer = device.allocate(4)
        device.sync()
        with device.create_graph_builder() as builder:
            config = LaunchConfig(cluster_scheduling_policy_preference="spread")
            launch(builder.stream, config, kernel, buffer)
        (node,) = builder.graph_definition.nodes()
        assert node.config == config

    def test_nodes_record_no_events(self, device: Device) -> None:
        kernel = build("__global__ void nothing() {}").get_kernel("nothing")
        graph = cudacore.graph.GraphDefinition()
        event = device.create_event()
        for fields in ({"programmatic_event": event}, {"launch_completion_event": event},
                       {"shared_memory_carveout": 1}):  # fmt: skip
            with pytest.raises(NotSupportedError, match=next(iter(fields))):
                graph.launch(LaunchConfig(**fields), kernel)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value"), [("priority", -(10**6)), ("mem_sync_domain_map", (255, 0))]
)
def test_launches_refuse_what_the_device_lacks(device: Device, field: str, value: Any) -> None:
    device.set_current()
    kernel = build("__global__ void nothing() {}").get_kernel("nothing")
    config = LaunchConfig(grid=1, block=1, **{field: value})
    with pytest.raises(ValueError, match=f"nothing: {field} "):
        launch(device.default_stream, config, kernel)
    with pytest.raises(ValueError, match=f"nothing: {field} "):
        GraphDefinition().launch(config, kernel)
