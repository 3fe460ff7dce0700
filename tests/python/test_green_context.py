# SPDX-License-Identifier: Apache-2.0
"""Green contexts: parts of a device's multiprocessors."""

import gc
import pickle
import weakref
from typing import Any

import cudacore
import pytest
from cudacore import (
    Context,
    ContextOptions,
    CUDAError,
    Device,
    NotSupportedError,
    SMResource,
    SMResourceOptions,
    Stream,
    StreamOptions,
    WorkqueueResource,
    WorkqueueResourceOptions,
)
from cudacore.typing import WorkqueueSharingScopeType
from harness import build

FILL = "__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }"


@pytest.fixture
def whole(device: Device) -> SMResource:
    try:
        return device.resources.sm
    except NotSupportedError as error:
        if cudacore.simulator.is_enabled():
            raise
        pytest.skip(f"the driver or the device has no green contexts: {error}")


@pytest.fixture
def groups(whole: SMResource) -> list[SMResource]:
    return whole.split(SMResourceOptions(count=whole.min_partition_size))[0]


@pytest.fixture
def queues(device: Device) -> WorkqueueResource:
    try:
        return device.resources.workqueue
    except NotSupportedError as error:
        if cudacore.system.get_user_mode_driver_version() >= (13, 1):
            raise
        pytest.skip(f"the driver has no resources of work queues: {error}")


@pytest.fixture
def context(device: Device, groups: list[SMResource]) -> Context:
    return device.create_context(ContextOptions(resources=groups))


class TestResources:
    def test_of_a_device(self, device: Device, whole: SMResource) -> None:
        assert whole.sm_count == device.properties.multiprocessor_count
        assert whole.sm_count >= whole.min_partition_size >= 2
        assert whole.coscheduled_alignment >= 2
        assert whole.handle != 0
        assert whole.flags == 0
        assert device.context.resources.sm.sm_count == whole.sm_count
        assert device.create_stream().resources.sm.sm_count == whole.sm_count
        assert str(whole.sm_count) in repr(whole)
        assert f"sm={whole!r}" in repr(device.resources)

    def test_splits_share_nothing(self, whole: SMResource) -> None:
        size = whole.min_partition_size
        (first, second), rest = whole.split(SMResourceOptions(count=(size, size)))
        assert first.sm_count == second.sm_count == size
        assert first.sm_count + second.sm_count + rest.sm_count == whole.sm_count

    def test_without_a_count_takes_all(self, whole: SMResource) -> None:
        (group,), rest = whole.split(SMResourceOptions())
        assert group.sm_count % whole.coscheduled_alignment == 0
        assert rest.sm_count == whole.sm_count - group.sm_count < whole.coscheduled_alignment

    def test_options_may_be_a_dict(self, whole: SMResource) -> None:
        (group,), _ = whole.split({"count": whole.min_partition_size})
        assert group.sm_count == whole.min_partition_size

    def test_a_dry_run_only_tells_sizes(self, device: Device, whole: SMResource) -> None:
        (dry,), _ = whole.split(SMResourceOptions(count=None), dry_run=True)
        (real,), _ = whole.split(SMResourceOptions(count=None))
        assert dry.sm_count == real.sm_count
        with pytest.raises(TypeError, match="dry_run"):
            whole.split(SMResourceOptions(count=2), dry_run="no")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="dry-run"):
            device.create_context(ContextOptions(resources=[dry]))
        with pytest.raises(ValueError, match="dry-run"):
            dry.split(SMResourceOptions(count=2))

    def test_more_than_there_are_is_refused(self, whole: SMResource) -> None:
        for count in (whole.sm_count + 1, (whole.sm_count, 8), 2**33):
            with pytest.raises(ValueError):
                whole.split(SMResourceOptions(count=count))

    @pytest.mark.simulator_only(reason="older drivers round up")
    def test_alignment_is_required(self, whole: SMResource) -> None:
        with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"):
            whole.split(SMResourceOptions(count=6))
        (group,), _ = whole.split(SMResourceOptions(count=6, backfill=True))
        assert group.sm_count == 6
        (group,), _ = whole.split(SMResourceOptions(count=6, coscheduled_sm_count=2))
        assert (group.sm_count, group.coscheduled_alignment) == (6, 2)

    @pytest.mark.parametrize(
        ("options", "error", "word"),
        [
            ({"count": -1}, ValueError, "count must be non-negative"),
            ({"count": 1.5}, TypeError, "count"),
            ({"count": "8"}, TypeError, "count"),
            ({"count": True}, TypeError, "count"),
            ({"count": ()}, ValueError, "at least one"),
            ({"count": 8, "coscheduled_sm_count": (8, 8)}, ValueError, "count is scalar"),
            ({"count": (8, 8), "coscheduled_sm_count": (8,) * 3}, ValueError, "expected 2"),
            ({"count": 8, "coscheduled_sm_count": -2}, ValueError, "non-negative"),
            ({"count": 8, "backfill": 1}, TypeError, "backfill"),
            ({"no_such_field": 1}, TypeError, "no_such_field"),
            (8, TypeError, "SMResourceOptions"),
        ],
    )
    def test_wrong_options_are_refused(
        self, whole: SMResource, options: Any, error: type[Exception], word: str
    ) -> None:
        with pytest.raises(error, match=word):
            whole.split(options)

    def test_are_not_made_or_pickled(self, device: Device, whole: SMResource) -> None:
        for made in (whole, device.resources):
            with pytest.raises(RuntimeError):
                type(made)()
            with pytest.raises(TypeError):
                pickle.dumps(made)


class TestQueues:
    def test_are_not_made_or_pickled(self, queues: WorkqueueResource) -> None:
        with pytest.raises(RuntimeError):
            WorkqueueResource()
        with pytest.raises(TypeError):
            pickle.dumps(queues)

    def test_are_configured(self, device: Device, queues: WorkqueueResource) -> None:
        assert queues.device == device
        assert queues.handle != 0
        assert queues.concurrency_limit >= 1
        assert queues.sharing_scope is WorkqueueSharingScopeType.DEVICE_CTX
        queues.configure(WorkqueueResourceOptions("green_ctx_balanced", 4))
        assert queues.sharing_scope is WorkqueueSharingScopeType.GREEN_CTX_BALANCED
        queues.configure({})
        assert queues.concurrency_limit == 4
        assert repr(queues).startswith(f"WorkqueueResource(device={device!r}, sharing_scope=")
        with pytest.raises(ValueError, match="concurrency_limit must lie in"):
            queues.configure({"concurrency_limit": 2**32})

    @pytest.mark.parametrize(
        ("options", "error", "word"),
        [
            ({"sharing_scope": "all"}, ValueError, "WorkqueueSharingScopeType"),
            ({"concurrency_limit": 0}, ValueError, "concurrency_limit must be >= 1"),
            ({"concurrency_limit": 1.5}, TypeError, "concurrency_limit"),
            ({"limit": 1}, TypeError, "limit"),
        ],
    )
    def test_wrong_options_are_refused(
        self, options: Any, error: type[Exception], word: str
    ) -> None:
        with pytest.raises(error, match=word):
            WorkqueueResourceOptions(**options)

    def test_wrong_configurations_are_refused(self, queues: WorkqueueResource) -> None:
        with pytest.raises(ValueError, match="concurrency_limit must be >= 1"):
            queues.configure({"concurrency_limit": 0})
        with pytest.raises(TypeError, match="limit"):
            queues.configure({"limit": 1})

    def test_too_large_a_limit_is_named(self, queues: WorkqueueResource) -> None:
        with pytest.raises(ValueError, match=r"concurrency_limit must lie in 0 \.\. 2\*\*32 - 1"):
            queues.configure({"concurrency_limit": 2**32})


class TestContext:
    def test_has_its_part(self, context: Context, whole: SMResource) -> None:
        assert context.is_green
        assert not context.is_closed
        assert context.resources.sm.sm_count == whole.min_partition_size
        assert "green" in repr(context)

    def test_streams_and_events_belong_to_it(self, context: Context) -> None:
        stream = context.create_stream()
        event = stream.record()
        assert stream.context == event.context == context
        assert hash(stream.context) == hash(context)
        assert stream.context.is_green
        assert stream.is_nonblocking
        assert stream.resources.sm.sm_count == context.resources.sm.sm_count
        event.sync()
        assert cudacore.Stream.from_handle(stream.handle).context == context

    @pytest.mark.usefixtures("queues")
    def test_streams_have_queues(self, context: Context) -> None:
        assert context.create_stream().resources.workqueue.concurrency_limit >= 1

    def test_work_runs(self, device: Device, context: Context) -> None:
        kernel = build(FILL).get_kernel("fill")
        stream = context.create_stream()
        buffer = device.allocate(4 * 32, stream=stream)
        kernel[1, 32, stream](buffer, 7)
        timing = {"timing_enabled": True}
        start = stream.record(options=timing)
        kernel[1, 32, stream](buffer, 8)
        end = stream.record(options=timing)
        stream.sync()
        assert end - start >= 0
        assert memoryview(buffer.to_host()).cast("i").tolist() == [8] * 32
        with stream:
            kernel[1, 32](buffer, 9)
        other = device.create_stream()
        other.wait(stream)
        kernel[1, 1, other](buffer, 1)
        other.sync()
        assert memoryview(buffer.to_host()).cast("i").tolist() == [1] + [9] * 31

    def test_two_of_one_split(self, device: Device, whole: SMResource) -> None:
        size = whole.min_partition_size
        parts, _ = whole.split(SMResourceOptions(count=(size, size)))
        contexts = [device.create_context(ContextOptions([part])) for part in parts]
        assert contexts[0] != contexts[1]
        assert len({context.handle for context in contexts}) == 2
        together = device.create_context(ContextOptions(parts))
        assert together.resources.sm.sm_count == 2 * size

    def test_takes_queues(
        self, device: Device, groups: list[SMResource], queues: WorkqueueResource
    ) -> None:
        queues.configure({"sharing_scope": "green_ctx_balanced", "concurrency_limit": 2})
        context = device.create_context({"resources": [*groups, queues]})
        assert context.resources.workqueue.concurrency_limit == 2
        context.create_stream().sync()

    def test_can_be_current(self, device: Device, context: Context) -> None:
        previous = device.set_current(context)
        try:
            assert device.create_stream().context == device.context
            with pytest.raises(RuntimeError, match="while it is current"):
                context.close()
        finally:
            assert device.set_current(previous) == context
        context.close()

    def test_lives_as_long_as_its_streams(self, context: Context) -> None:
        stream = context.create_stream()
        context.close()
        assert context.is_closed
        assert repr(context) == "<Context, closed>"
        again = stream.context
        assert again.is_green
        again.close()
        stream.record().sync()
        stream.sync()

    def test_is_collected(self, device: Device, groups: list[SMResource]) -> None:
        context = device.create_context(ContextOptions(resources=groups))
        alive = weakref.ref(context)
        del context
        gc.collect()
        assert alive() is None

    def test_closing_twice_does_nothing(self, context: Context) -> None:
        before = hash(context)
        context.close()
        context.close()
        assert hash(context) == before
        assert context == context  # noqa: PLR0124
        assert context != Device().context

    def test_blocking_streams_are_refused(self, context: Context) -> None:
        with pytest.raises(ValueError, match="must be non-blocking"):
            context.create_stream(StreamOptions(nonblocking=False))
        with pytest.raises(ValueError, match="priority"):
            context.create_stream(StreamOptions(priority=1))
        assert context.create_stream({"priority": -1}).priority == -1

    @pytest.mark.parametrize(
        ("options", "error", "word"),
        [
            (None, ValueError, "resources must be provided"),
            ({}, ValueError, "resources must be provided"),
            (ContextOptions(resources=None), ValueError, "resources must be provided"),
            (ContextOptions(resources=[]), ValueError, "resources must be provided"),
            (ContextOptions(resources=[1]), TypeError, "SMResource"),  # type: ignore[list-item]
            (ContextOptions(resources=1), TypeError, "sequence"),  # type: ignore[arg-type]
            (
                ContextOptions(resources=[[1]]),  # type: ignore[list-item]
                TypeError,
                r"resources\[0\] must be an SMResource .*, not list; .*resources=groups",
            ),
            (ContextOptions(resources="ab"), TypeError, "sequence"),  # type: ignore[arg-type]
            (1, TypeError, "ContextOptions"),
            ({"no_such_field": 1}, TypeError, "no_such_field"),
        ],
        ids=str,
    )
    def test_wrong_options_are_refused(
        self, device: Device, options: Any, error: type[Exception], word: str
    ) -> None:
        with pytest.raises(error, match=word):
            device.create_context(options)

    @pytest.mark.simulator_only(reason="drivers before CUDA 13.1 take them")
    def test_resources_of_two_splits_are_refused(self, device: Device, whole: SMResource) -> None:
        size = whole.min_partition_size
        first, _ = whole.split(SMResourceOptions(count=size))
        second, _ = whole.split(SMResourceOptions(count=size))
        with pytest.raises(CUDAError, match="CONFIGURATION"):
            device.create_context(ContextOptions(resources=[*first, *second]))

    def test_one_group_twice_is_refused(self, device: Device, groups: list[SMResource]) -> None:
        with pytest.raises(ValueError, match="given twice"):
            device.create_context(ContextOptions(resources=groups + groups))

    def test_closed_in_a_callback(self, device: Device, context: Context, stream: Stream) -> None:
        closed: list[bool] = []

        def close() -> None:
            context.close()
            closed.append(context.is_closed)

        stream.add_callback(close)
        stream.sync()
        assert closed == [True]

    def test_nothing_left_makes_no_context(self, device: Device, whole: SMResource) -> None:
        _, rest = whole.split(SMResourceOptions(count=whole.sm_count))
        if rest.sm_count != 0:
            pytest.skip("a split of this device leaves multiprocessors over")
        with pytest.raises(ValueError, match="no multiprocessors"):
            device.create_context(ContextOptions(resources=[rest]))

    @pytest.mark.multi_gpu
    def test_resources_of_another_device_are_refused(self, groups: list[SMResource]) -> None:
        with pytest.raises(ValueError, match="device 0.*device 1"):
            Device(1).create_context(ContextOptions(resources=groups))
