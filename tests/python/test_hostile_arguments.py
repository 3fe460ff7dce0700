# SPDX-License-Identifier: Apache-2.0
"""Arguments that lie, change, end programs or are damaged."""

import dataclasses
import json
import mmap
import threading
from pathlib import Path
from typing import Any

import cudacore
import cudacore.tile as ct
import pytest
from cudacore import Buffer, Device, Program, Stream, TensorMapDataType, VirtualMemoryResource
from cudacore.tile import compilation
from cudacore.utils import StridedMemoryView, copy_batch

np = pytest.importorskip("numpy")


class TestReadOnlyMemory:
    @pytest.fixture
    def registered(self, device: Device, tmp_path: Path) -> Buffer:
        device.set_current()
        if not device.properties.read_only_host_register_supported:
            pytest.skip("the device can't register read-only memory")
        path = tmp_path / "file"
        path.write_bytes(b"x" * 8192)
        with path.open("rb") as file:
            return cudacore.register_host(mmap.mmap(file.fileno(), 8192, prot=mmap.PROT_READ))

    def test_is_shown_as_read_only(self, registered: Buffer) -> None:
        for shown in (memoryview(registered), memoryview(registered[:16])):
            assert shown.readonly
            assert shown[0] == ord("x")
        view = registered.view(np.uint8)
        assert view.readonly
        assert not np.from_dlpack(view).flags.writeable
        assert not np.asarray(memoryview(registered)).flags.writeable

    def test_is_not_written(self, device: Device, registered: Buffer, stream: Stream) -> None:
        with pytest.raises(ValueError, match="is read-only"):
            registered.fill(0, stream=stream)
        with pytest.raises(ValueError, match="is read-only"):
            registered.copy_from(bytes(8192), stream=stream)
        with pytest.raises(ValueError, match="is read-only"):
            registered[:16].fill(0, stream=stream)
        source = device.allocate(8192, stream=stream)
        with pytest.raises(ValueError, match="destination 0 is read-only"):
            copy_batch(stream, [source], [registered])
        assert bytes(memoryview(registered)[:2]) == b"xx"

    def test_virtual_memory_of_the_host(self, device: Device) -> None:
        def allocate(access: str | None) -> Buffer:
            options: Any = {
                "location_type": "host",
                "self_access": access,
                "handle_type": None,
            }
            return VirtualMemoryResource(device, options).allocate(4096)

        device.set_current()
        hidden = allocate(None)
        assert not hidden.is_host_accessible
        with pytest.raises(BufferError, match="the host has no access"):
            memoryview(hidden)
        assert memoryview(allocate("r")).readonly
        assert not memoryview(allocate("rw")).readonly

    def test_views_are_refused_as_arrays_are(self, device: Device, stream: Stream) -> None:
        source = """
        __global__ void writes(unsigned char* p) { *p = 1; }
        __global__ void reads(const unsigned char* p, unsigned char* q) { *q = *p; }
        """
        code = Program(source, "c++").compile()
        buffer = device.to_device(np.full(64, 7, np.uint8), stream=stream)
        view = StridedMemoryView.from_buffer(buffer, shape=(64,), dtype=np.uint8, is_readonly=True)
        result = device.to_device(np.zeros(1, np.uint8), stream=stream)
        writes, reads = code.get_kernel("writes"), code.get_kernel("reads")
        for launch in (
            lambda: writes[1, 1, stream](view),
            lambda: writes[1, 1, stream](view[:32]),
        ):
            with pytest.raises(TypeError, match="read-only, and the kernel may write"):
                launch()
        reads[1, 1, stream](view, result)
        assert result.to_host(np.uint8, stream=stream)[0] == 7


class TestRecordedDataclasses:
    def test_fields_that_change_while_they_are_read(self, device: Device) -> None:
        device.set_current()
        buffer = device.allocate(64)
        on: list[int] = []

        @dataclasses.dataclass(frozen=True)
        class Plain:
            pass

        class Hostile(Plain):
            def __getattr__(self, name: str) -> int:
                if on:
                    vars(Hostile)["__dataclass_fields__"].clear()
                    on.extend(range(1000))
                return 1

        setattr(  # noqa: B010
            Hostile, "__dataclass_fields__", {"z" * 120 + str(i): 1 for i in range(10, 50)}
        )
        step = cudacore.graph(lambda x, _: x.fill(0))
        step(buffer, Hostile())
        on.append(1)
        step(buffer, Hostile())

    def test_what_ends_a_program_goes_on(self, device: Device) -> None:
        device.set_current()
        buffer = device.allocate(64)
        raised: list[BaseException] = []

        @dataclasses.dataclass(frozen=True)
        class Settings:
            size: int

            def __getattribute__(self, name: str) -> Any:
                if name == "size" and raised:
                    raise raised.pop()
                return object.__getattribute__(self, name)

        step = cudacore.graph(lambda x, _: x.fill(0))
        step(buffer, Settings(1))
        raised.append(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            step(buffer, Settings(1))
        raised.append(ValueError("of the field"))  # then it counts as another argument
        step(buffer, Settings(1))

    def test_a_view_of_a_closed_buffer(self, device: Device) -> None:
        device.set_current()
        buffer = device.allocate(64)
        view = buffer.view(np.int32)
        buffer.close()
        step = cudacore.graph(lambda x: x.fill(0))
        with pytest.raises(ValueError, match="argument 1 'x' is a view of a closed Buffer"):
            step(view)

    def test_attributes_of_functions_hide_no_methods(self, device: Device) -> None:
        device.set_current()

        def fill(x: Buffer) -> None:
            x.fill(1)

        fill._record = fill.clear = 5  # type: ignore[attr-defined]
        fill.author = "somebody"  # type: ignore[attr-defined]
        step: Any = cudacore.graph(fill)
        assert step.author == "somebody"
        buffer = device.allocate(4)
        step(buffer)
        step.clear()
        assert bytes(buffer.to_host()) == b"\1\1\1\1"


class TestBlocksOutOfOrder:
    def test_the_capture_ends_first(self, device: Device, stream: Stream) -> None:
        device.set_current()
        builder = device.create_stream().create_graph_builder()
        builder.__enter__()
        stream.__enter__()
        device.allocate(4, stream=stream)
        builder.end_building()
        builder.__exit__(None, None, None)
        assert cudacore.current_stream() is stream
        stream.__exit__(None, None, None)
        assert cudacore.current_stream() != stream

    def test_another_thread_is_refused(self, device: Device) -> None:
        device.set_current()
        builder = device.create_stream().create_graph_builder()
        builder.__enter__()
        refused: list[str] = []

        def leave() -> None:
            try:
                builder.__exit__(None, None, None)
            except RuntimeError as error:
                refused.append(str(error))

        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        [text] = refused
        assert text.startswith("GraphBuilder.__exit__: this thread has not entered the stream")
        assert builder.is_building
        builder.__exit__(ValueError, None, None)

    def test_too_many_branches(self, device: Device) -> None:
        device.set_current()
        with (
            device.create_stream().create_graph_builder() as builder,
            pytest.raises(ValueError, match=r"count must lie in 1 \.\. 1048576"),
        ):
            builder.split(2**31 - 1)
        with pytest.warns(RuntimeWarning, match="no nodes"):
            builder.complete()


class TestAddresses:
    def test_errors_of_their_own(self, device: Device) -> None:
        device.set_current()

        class Interrupted:
            def __index__(self) -> int:
                raise KeyboardInterrupt

        class Wrong:
            def __index__(self) -> int:
                raise TypeError("mine")

        wrong: Any = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            Buffer.from_handle(wrong, 16)
        wrong = Wrong()
        with pytest.raises(TypeError, match="ptr must be an int, not Wrong") as caught:
            Buffer.from_handle(wrong, 16)
        assert str(caught.value.__cause__) == "mine"

    def test_text_is_no_number(self, device: Device) -> None:
        device.set_current()
        for text in (bytearray(b"77"), b"77", "77", memoryview(b"77")):
            wrong: Any = text
            with pytest.raises(TypeError, match="ptr must be an int"):
                Buffer.from_handle(wrong, 16)


def test_members_that_no_enumeration_has(device: Device, stream: Stream) -> None:
    device.set_current()
    view = device.allocate(4096, stream=stream).view(np.float32, (32, 32))
    for number in (99, 255, -1):
        forged = int.__new__(TensorMapDataType, number)
        with pytest.raises(ValueError, match=f"there is no TensorMapDataType {number}"):
            view.as_tensor_map((8, 8), data_type=forged)


class TestTiles:
    @pytest.fixture
    def view(self, device: Device, stream: Stream) -> StridedMemoryView:
        return device.to_device(np.ones(64, np.float32), stream=stream).view(np.float32)

    def test_parameters_named_as_words_of_cxx(self, stream: Stream, view: Any) -> None:
        @ct.kernel
        def fill(operator, char8_t, wchar_t, x):
            ct.store(x, (0,), ct.full((64,), operator + char8_t + wchar_t, dtype=ct.float32))

        ct.launch(stream, (1,), fill, (3.0, 4.0, 5.0, view))
        assert (np.from_dlpack(view, device="cpu") == 12).all()

    @pytest.mark.parametrize("limit", [float("inf"), 1e10, 2**70])
    def test_long_limits(self, stream: Stream, view: Any, limit: float) -> None:
        @ct.kernel
        def fill(x):
            ct.store(x, (0,), ct.full((64,), 5, dtype=ct.float32))

        with ct.compiler_timeout(limit):
            ct.launch(stream, (1,), fill, (view,))
        assert (np.from_dlpack(view, device="cpu") == 5).all()

    @pytest.mark.parametrize("limit", ["x", None, []])
    def test_limits_that_are_no_numbers(self, limit: Any) -> None:
        with (
            pytest.raises(TypeError, match="timeout_sec must be a number, not"),
            ct.compiler_timeout(limit),
        ):
            pass

    def test_damaged_results_of_searches(
        self, stream: Stream, view: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from cudacore.tile import _tuning_cache

        @ct.kernel
        def twice(x, n: ct.Constant[int]):
            ct.store(x, (0,), 2 * ct.load(x, (0,), (n,)))

        def search() -> Any:
            return ct.tune.exhaustive_search(
                [8, 16], stream, lambda _: (1,), twice, lambda n: (view, n), quiet=True
            )

        whole = {"best": 0, "successes": [[0, 1.0, 2, 0.5], [1, 2.0, 2, 0.5]], "failures": []}
        damaged: list[Any] = [
            {**whole, "best": 5},
            {**whole, "best": []},
            {**whole, "successes": [[9, 1.0, 2, 3.0]], "best": 9},
            {**whole, "successes": [[0, float("inf"), 2, 3.0]]},
            {**whole, "successes": [[0, "1", 2, 3.0]]},
            {**whole, "successes": [[-1, 1.0, 2, 3.0]], "best": -1},
            {**whole, "successes": 5},
            {**whole, "failures": [[0, 1, 2]]},
            {**whole, "failures": {}},
        ]
        for kept in damaged:
            monkeypatch.setattr(_tuning_cache, "read", lambda _, kept=kept: kept)
            assert not search().is_cached, kept
        monkeypatch.setattr(_tuning_cache, "read", lambda _: json.loads(json.dumps(whole)))
        found = search()
        assert found.is_cached
        assert found.best.config == 8

    def test_names_of_kernels_are_str(self) -> None:
        wrong: Any = 5
        with pytest.raises(TypeError, match="symbol must be a str, not int"):
            compilation.demangle_kernel_name(wrong)
