# SPDX-License-Identifier: Apache-2.0
"""Launches of tile kernels that are like earlier ones: where they go, and what they keep."""

import enum
import gc
import itertools
import threading
import weakref
from typing import Any

import cudacore
import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device, Stream
from foreign_arrays import ExchangeArray
from recorded_kernels import Calls
from tile_launches import (  # noqa: F401 - fixtures are found by their names
    again,
    block_fixture,
    current_fixture,
    floats,
    make_fill,
    make_nothing,
)
from tile_programs import define


class TestStreams:
    def test_of_others(self, block: Any, stream: Stream) -> None:
        class Other:
            def __cuda_stream__(self) -> tuple[int, int]:
                return 0, int(stream.handle)

        fill = make_fill()
        y = block.view(np.float32)
        for value, queue in enumerate((Other(), int(stream.handle), Other()), 1):
            ct.launch(queue, (1,), fill, (y, float(value), 8))
            assert floats(block, stream)[0] == value
        assert again(fill, Other(), (y, 1.0, 8))
        assert again(fill, int(stream.handle), (y, 1.0, 8))

    def test_a_launch_does_not_wait_for_what_another_thread_compiles(
        self, block: Any, stream: Stream
    ) -> None:
        fill = make_fill()
        ct.launch(stream, (1,), fill, (block.view(np.float32)[:16], 1.0, 8))
        other = ExchangeArray(block.handle, (16,))
        assert not again(fill, stream, (other, 2.0, 8))
        [key] = fill._specializations
        compiling = fill._compiling[key] = threading.RLock()
        with fill._lock, compiling:
            thread = threading.Thread(
                target=ct.launch, args=(stream, (1,), fill, (other, 2.0, 8)), daemon=True
            )
            thread.start()
            thread.join(60)
            assert not thread.is_alive()
        assert len(fill._specializations) == 1
        assert floats(block, stream)[0] == 2

    @pytest.mark.multi_gpu
    def test_default_stream_of_the_device_of_the_arrays(self, stream: Stream) -> None:
        class Default:
            def __cuda_stream__(self) -> tuple[int, int]:
                return 0, 0

        other = Device(1)
        there = other.allocate(64, stream=other.default_stream)
        fill = make_fill()
        for value, queue in enumerate((Default(), 0, Default(), 0), 1):
            ct.launch(queue, (1,), fill, (there.view(np.float32), float(value), 8))
            assert Device().device_id == 0
            assert floats(there, other.default_stream)[0] == value
        assert again(fill, Default(), (there.view(np.float32), 1.0, 8))
        assert again(fill, 0, (there.view(np.float32), 1.0, 8))

    @pytest.mark.multi_gpu
    def test_another_device(self, block: Any, stream: Stream) -> None:
        other = Device(1)
        there = other.allocate(4096, stream=other.default_stream)
        fill = make_fill()
        ct.launch(stream, (1,), fill, (block.view(np.float32), 1.0, 8))
        args = (there.view(np.float32), 1.0, 8)
        assert not again(fill, stream, args)
        with pytest.raises(ValueError, match="arrays are on device 1.*stream is on device 0"):
            ct.launch(stream, (1,), fill, args)
        ct.launch(other.default_stream, (1,), fill, args)
        assert floats(there, other.default_stream)[0] == 1

    def test_what_is_no_stream(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        args = (block.view(np.float32), 1.0, 8)
        ct.launch(stream, (1,), fill, args)
        for queue in (None, "x", True, object(), -1):
            assert not again(fill, queue, args)

        class Wrong:
            def __cuda_stream__(self) -> Any:
                return 0

        with pytest.raises(TypeError, match="must return"):
            ct.launch(Wrong(), (1,), fill, args)

    def test_closed(self, device: Device, block: Any, stream: Stream) -> None:
        fill = make_fill()
        args = (block.view(np.float32), 1.0, 8)
        closed = device.create_stream()
        ct.launch(closed, (1,), fill, args)
        closed.close()
        with pytest.raises(ValueError, match="closed"):
            ct.launch(closed, (1,), fill, args)


def test_traced_launches(block: Any, stream: Stream) -> None:
    fill = make_fill()
    before = cudacore._core._trace_launches(True)
    try:
        ct.launch(stream, (1,), fill, (object(), 1.0, 8))
    finally:
        cudacore._core._trace_launches(before)
    args = (block.view(np.float32), 1.0, 8)
    assert not again(fill, stream, args)
    ct.launch(stream, (1,), fill, args)
    assert again(fill, stream, args)


class TestGraphs:
    def test_graphs_keep_arrays(self, device: Device, stream: Stream) -> None:
        fill = make_fill()

        def pair_of(pair, value):  # type: ignore[no-untyped-def]
            ct.store(pair[0], 0, ct.full((8,), value, ct.float32))

        fill_pair = ct.kernel(pair_of)
        for kernel, wrap in (
            (fill, lambda array: (array, 5.0, 8)),
            (fill_pair, lambda array: ((array, array), 5.0)),
        ):
            ct.launch(stream, (1,), kernel, wrap(device.allocate(64, stream=stream).view("f4")))
            buffer = device.allocate(64, stream=stream)
            stream.sync()
            builder = stream.create_graph_builder()
            with builder:
                ct.launch(builder, (1,), kernel, wrap(buffer.view(np.float32)))
            graph = builder.complete()
            result = device.allocate(64, stream=stream)
            address, size = buffer.handle, buffer.size
            buffer.close()
            others = [device.allocate(64, stream=stream) for _ in range(8)]
            assert address not in [other.handle for other in others]
            graph.launch(stream)
            result.copy_from(cudacore.Buffer.from_handle(address, size), stream=stream)
            assert (floats(result, stream)[:8] == 5).all()

    def test_graphs_keep_arrays_of_others(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        ct.launch(stream, (1,), fill, (ExchangeArray(block.handle, (8,)), 1.0, 8))
        array = ExchangeArray(block.handle, (8,))
        kept = weakref.ref(array)
        builder = stream.create_graph_builder()
        with builder:
            assert again(fill, builder, (array, 1.0, 8))
        graph = builder.complete()
        del array
        assert kept() is not None
        graph.launch(stream)
        stream.sync()
        del builder, graph
        gc.collect()
        assert kept() is None

    def test_recorded_functions(self, device: Device, stream: Stream) -> None:
        fill = make_fill()
        calls = Calls()

        @cudacore.graph
        def step(y, value):  # type: ignore[no-untyped-def]
            calls()
            ct.launch(cudacore.current_stream(), (1,), fill, (y, value, 8))

        with stream:
            for value in (1.0, 2.0, 3.0):
                buffer = device.allocate(64, stream=stream)
                step(buffer.view(np.float32), value)
                assert (floats(buffer, stream)[:8] == value).all()
        assert calls.count <= 2

    def test_constants_of_recorded_functions(self, device: Device, stream: Stream) -> None:
        fill = make_fill()

        @cudacore.graph
        def step(y, size):  # type: ignore[no-untyped-def]
            ct.launch(cudacore.current_stream(), (1,), fill, (y, 1.0, size))

        with stream:
            for size in (4, 8, 4):
                buffer = device.allocate(64, stream=stream)
                buffer.fill(0, stream=stream)
                step(buffer.view(np.float32), size)
                assert floats(buffer, stream).sum() == size

    def test_numbers_of_recorded_functions(self, block: Any, stream: Stream) -> None:
        """A replay refuses what a launch does, and names the argument that the caller gave."""

        @ct.kernel
        def put(y, numbers, narrow):  # type: ignore[no-untyped-def]
            total = numbers[0] + numbers[1] + narrow
            ct.store(y, (0,), ct.full((4,), total, ct.float32))

        @ct.kernel
        def put_wide(y, wide: ct.ScalarInt64, long):  # type: ignore[no-untyped-def]
            ct.store(y, (1,), ct.full((4,), ct.astype(wide, ct.float32) + long, ct.float32))

        y = block.view(np.float32)

        @cudacore.graph
        def step(y, a, b, narrow, wide):  # type: ignore[no-untyped-def]
            ct.launch(cudacore.current_stream(), (1,), put, (y, (a, b), narrow))
            ct.launch(cudacore.current_stream(), (1,), put_wide, (y, wide, a))

        usual = {"a": 1.0, "b": 2.0, "narrow": 3, "wide": 4}
        with stream:
            for narrow in (3, 2**31 - 1, -(2**31)):
                step(y, 1.0, 2.0, narrow, wide=4)
                assert floats(block, stream)[0] == np.float32(narrow + 3.0)
            for name, value, message in (
                ("narrow", 2**31, r"argument 4 of the call: put: argument \d 'narrow' \(int\)"),
                ("narrow", 2**32 - 1, r"cannot hold 4294967295: it takes -2147483648 to"),
                ("narrow", -(2**31) - 1, r"cannot hold -2147483649"),
                ("wide", 2**63, r"argument 'wide' of the call: put_wide: .* 'wide' \(long long\)"),
                ("b", 1e39, r"argument 3 of the call: put: argument \d 'numbers_1' \(float\)"),
            ):
                given = usual | {name: value}
                wide = given.pop("wide")
                with pytest.raises(OverflowError, match=message):
                    step(y, *given.values(), wide=wide)
            step(y, 1.0, 2.0, 3, wide=-(2**63))
            assert floats(block, stream)[4] == -(2.0**63)


class TestTables:
    def test_many_kinds(self, stream: Stream) -> None:
        nothing = make_nothing()
        args = (1.0, 0)
        ct.launch(stream, (1,), nothing, args)
        specialization = next(iter(nothing._specializations.values()))
        config = specialization.config((1, 1, 1), False)
        for i in range(3000):
            nothing._known_launches().add(
                stream, (1.0, i), False, config, specialization.kernel, ()
            )
        known = sum(again(nothing, stream, (1.0, i)) for i in range(3000))
        assert 0 < known <= 1024
        stream.sync()

    def test_cycles_are_collected(self, stream: Stream) -> None:
        nothing = make_nothing()

        class Color(enum.Enum):
            RED = 1

        Color.kernel = nothing  # type: ignore[attr-defined]
        ct.launch(stream, (1,), nothing, (1.0, Color.RED))
        assert again(nothing, stream, (1.0, Color.RED))
        kept = weakref.ref(nothing._launches)
        nothing._specializations.clear()
        del nothing, Color
        gc.collect()
        assert kept() is None

    def test_arrays_are_not_kept(self, block: Any, stream: Stream) -> None:
        nothing = make_nothing()
        array = ExchangeArray(block.handle, (16,))
        kept = weakref.ref(array)
        for args in ((array, 0), ((array, array), 0)):
            ct.launch(stream, (1,), nothing, args)
            assert again(nothing, stream, args)
        del array, args
        gc.collect()
        assert kept() is None

    def test_threads(self, device: Device) -> None:
        fill = make_fill()
        failures: list[Exception] = []
        start = threading.Barrier(4)

        def work(number: int) -> None:
            try:
                device.set_current()
                stream = device.create_stream()
                buffer = device.allocate(256, stream=stream)
                start.wait()
                for i, step in itertools.product(range(20), (1, 2, 3)):
                    y = buffer.view(np.float32)[::step]
                    ct.launch(stream, (1,), fill, (y, float(number + i), 8))
                    assert floats(buffer, stream)[0] == number + i
            except Exception as error:  # noqa: BLE001 - shown by the test
                failures.append(error)

        threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures

    def test_threads_compile_specializations_at_once(self, device: Device) -> None:
        """Each waits, while it compiles, for the other to do so."""
        both = threading.Barrier(2)
        evaluated: list[int] = []
        results: list[float] = []

        def meet(number: int) -> int:
            evaluated.append(number)
            both.wait(60)
            return 8

        fill = define(
            """@ct.kernel
def k(y, number: ct.Constant[int]):
    ct.store(y, 0, ct.full(ct.static_eval(meet(number)), number, ct.float32))
""",
            meet=meet,
        )

        def work(number: int) -> None:
            device.set_current()
            stream = device.create_stream()
            buffer = device.allocate(256, stream=stream)
            for _ in range(2):
                ct.launch(stream, (1,), fill, (buffer.view(np.float32), number))
            results.append(floats(buffer, stream)[0])

        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == [1, 2]
        assert sorted(evaluated) == [1, 2]

    def test_threads_compile_a_specialization_once(self, device: Device) -> None:
        evaluated: list[int] = []

        def note() -> int:
            evaluated.append(1)
            return 8

        fill = define(
            """@ct.kernel
def k(y):
    ct.store(y, 0, ct.full(ct.static_eval(note()), 1, ct.float32))
""",
            note=note,
        )
        start = threading.Barrier(4)

        def work() -> None:
            device.set_current()
            stream = device.create_stream()
            buffer = device.allocate(256, stream=stream)
            start.wait(60)
            ct.launch(stream, (1,), fill, (buffer.view(np.float32),))
            stream.sync()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert evaluated == [1]

    def test_wrong_uses(self, stream: Stream) -> None:
        launches = make_nothing()._known_launches()
        with pytest.raises(TypeError, match="takes 4 arguments"):
            launches.try_launch(stream)
        with pytest.raises(TypeError, match="must be a LaunchConfig"):
            launches.add(stream, (), False, 1, 2, ())
        with pytest.raises(TypeError, match="cudacore.tile.kernel"):
            type(launches)()


def test_kernels_that_launch_each_other_while_they_are_compiled(block: Any, stream: Stream) -> None:
    both = threading.Barrier(2, timeout=60)
    seen = set[str]()
    y = block.view(np.float32)

    def launch_once(name: str, other: Any) -> float:
        if name not in seen:
            seen.add(name)
            both.wait()
            ct.launch(stream, (1,), other(), (y,))
        return 1.0

    @ct.kernel
    def first(y: Any) -> None:
        value = ct.static_eval(launch_once("first", lambda: second))
        ct.store(y, (0,), ct.full((4,), value, ct.float32))

    @ct.kernel
    def second(y: Any) -> None:
        value = ct.static_eval(launch_once("second", lambda: first))
        ct.store(y, (0,), ct.full((4,), value, ct.float32))

    threads = [
        threading.Thread(target=ct.launch, args=(stream, (1,), each, (y,)), daemon=True)
        for each in (first, second)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert floats(block, stream)[0] == 1
