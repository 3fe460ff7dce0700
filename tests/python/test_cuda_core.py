# SPDX-License-Identifier: Apache-2.0
"""Programs written for cuda.core: what they do that other programs don't."""

import ctypes
import re
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    EventOptions,
    InvalidValueError,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    MemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    Stream,
    _missing,
    launch,
)
from cudacore.typing import CompilerBackendType, PCHStatusType
from harness import ARCH, PACKAGE, build, ltoir, ptx, run, run_cleanly

FILL = 'extern "C" __global__ void fill(float* p, float v) { p[threadIdx.x] = v; }'


class Borrowing(MemoryResource):
    """As cuda.core's users write them: no super().__init__(), and a required stream."""

    def __init__(self, inner: MemoryResource) -> None:
        self.inner = inner
        self.live: dict[int, Buffer] = {}
        self.streams: list[Stream] = []

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        buffer = self.inner.allocate(size, stream=stream)
        self.live[buffer.handle] = buffer
        return Buffer.from_handle(ptr=buffer.handle, size=size, mr=self)

    def deallocate(self, ptr: Any, size: int, *, stream: Any) -> None:
        self.streams.append(stream)
        assert self.live[int(ptr)].size == size
        self.live.pop(int(ptr)).close()

    @property
    def is_device_accessible(self) -> bool:
        return True

    @property
    def is_host_accessible(self) -> bool:
        return self.inner.is_host_accessible

    @property
    def device_id(self) -> int:
        return 0


class Unreachable(Borrowing):
    is_device_accessible = False  # type: ignore[assignment]
    is_host_accessible = False  # type: ignore[assignment]


class TestMemoryResources:
    def test_init_of_a_subclass_need_not_call_that_of_the_base(self, device: Device) -> None:
        resource = Borrowing(DeviceMemoryResource(device))
        with resource.allocate(64) as buffer:
            assert buffer.memory_resource is resource
            assert (buffer.device_id, buffer.is_host_accessible) == (0, False)
        assert resource.live == {}

    def test_init_of_the_base_may_be_called_all_the_same(self) -> None:
        class Calling(MemoryResource):
            def __init__(self) -> None:
                super().__init__()
                super().__init__()

        class Making(MemoryResource):
            def __new__(cls, *_: Any) -> Any:
                return super().__new__(cls)

            def __init__(self, number: int) -> None:
                self.number = number

        assert isinstance(Calling(), MemoryResource)
        assert Making(7).number == 7

    def test_deallocate_gets_a_stream(self, device: Device, stream: Stream) -> None:
        resource = Borrowing(DeviceMemoryResource(device))
        resource.allocate(64).close()
        resource.allocate(64).close(stream)
        assert resource.streams == [device.default_stream, stream]

    def test_base_raises_what_either_program_catches(self) -> None:
        for error in (NotImplementedError, TypeError, RuntimeError):
            with pytest.raises(error, match="must define allocate"):
                MemoryResource().allocate(1)

    @pytest.mark.parametrize("make", [
        lambda: DeviceMemoryResource(0, {"max_size": 1 << 20}),
        lambda: DeviceMemoryResource(0),
        PinnedMemoryResource,
        ManagedMemoryResource,
    ])  # fmt: skip
    def test_closed_pool_allocates_no_more(
        self, device: Device, stream: Stream, make: Callable[[], Any]
    ) -> None:
        pool = make()
        buffer = pool.allocate(64, stream=stream)
        attributes = pool.attributes
        assert not pool.is_closed
        pool.close()
        pool.close()
        assert pool.is_closed
        with pytest.raises(ValueError, match="closed"):
            pool.allocate(64, stream=stream)
        buffer.fill(1, stream=stream)
        buffer.close()
        stream.sync()
        assert attributes.used_mem_high >= 64
        assert device.allocate(64, stream=stream).size == 64

    def test_device_pool_can_be_subclassed(self, device: Device, stream: Stream) -> None:
        class Counting(DeviceMemoryResource):
            def __init__(self, device_id: int) -> None:
                super().__init__(device_id)
                self.sizes: list[int] = []

            def allocate(self, size: int, *, stream: Any = None) -> Buffer:
                self.sizes.append(size)
                return super().allocate(size, stream=stream)

        usual, pool = device.memory_resource, Counting(0)
        device.memory_resource = pool
        try:
            buffer = device.allocate(64, stream=stream)
            assert buffer.memory_resource is pool
            buffer.copy_to(None, stream=stream).close()
            buffer.close()
        finally:
            device.memory_resource = usual
        assert pool.sizes == [64, 64]
        stream.sync()

    @pytest.mark.parametrize(("options", "expected"), [
        ({"preferred_location": 0}, ("device", 0)),
        ({"preferred_location": -1}, ("host", None)),
        ({"preferred_location": 0, "preferred_location_type": "device"}, ("device", 0)),
        ({}, None),
    ])  # fmt: skip
    def test_managed_location_without_a_type(
        self, device: Device, options: dict[str, Any], expected: tuple[str, int | None] | None
    ) -> None:
        if not device.properties.concurrent_managed_access:
            pytest.skip("the device has no pools of managed memory")
        chosen = ManagedMemoryResourceOptions(**options)
        assert ManagedMemoryResource(chosen).preferred_location == expected
        assert chosen == ManagedMemoryResourceOptions(**options)

    def test_numa_node_without_a_number(self, device: Device) -> None:
        options = ManagedMemoryResourceOptions(preferred_location_type="host_numa")
        node = device.properties.host_numa_id
        if node < 0:
            with pytest.raises(RuntimeError, match="host_numa_id"):
                ManagedMemoryResource(options)
        else:
            assert ManagedMemoryResource(options).preferred_location == ("host_numa", node)

    @pytest.mark.parametrize("options", [
        {"preferred_location": -2},
        {"preferred_location": -1, "preferred_location_type": "device"},
        {"preferred_location": -1, "preferred_location_type": "host_numa"},
        {"preferred_location_type": "device"},
        {"preferred_location": 0, "preferred_location_type": "host"},
    ])  # fmt: skip
    def test_places_that_are_none_are_refused(
        self, device: Device, options: dict[str, Any]
    ) -> None:
        assert device.device_id == 0
        with pytest.raises(ValueError, match="ManagedMemoryResourceOptions"):
            ManagedMemoryResource(options)


class TestBuffers:
    def test_closed_buffer_has_no_resource(self, device: Device) -> None:
        buffer = device.allocate(64)
        buffer.close()
        assert buffer.memory_resource is None

    def test_foreign_pinned_memory_knows_its_device(self, device: Device) -> None:
        pinned = LegacyPinnedMemoryResource().allocate(64)
        foreign = Buffer.from_handle(pinned.handle, 64, owner=pinned)
        assert (foreign.is_host_accessible, foreign.is_device_accessible) == (True, True)
        assert foreign.device_id == device.device_id

    def test_unknown_memory_knows_none(self, device: Device) -> None:
        assert device.device_id == 0
        memory = ctypes.create_string_buffer(64)
        foreign = Buffer.from_handle(ctypes.addressof(memory), 64, owner=memory)
        assert (foreign.device_id, foreign.is_device_accessible) == (-1, False)

    def test_managed_memory_exports_as_such(self, device: Device) -> None:
        if not device.properties.concurrent_managed_access:
            pytest.skip("the device has no pools of managed memory")
        buffer = ManagedMemoryResource().allocate(64)
        assert buffer.__dlpack_device__() == (13, 0)

    def test_memory_that_nobody_reaches_is_a_buffer_error(self, device: Device) -> None:
        buffer = Unreachable(DeviceMemoryResource(device)).allocate(64)
        for export in (buffer.__dlpack__, buffer.__dlpack_device__):
            with pytest.raises(BufferError, match="neither"):
                export()

    @pytest.mark.parametrize("version", [(), (9, 8, 7), "1.0", (1, "0"), [1, 0], 1])
    def test_versions_that_are_none_are_buffer_errors(self, device: Device, version: Any) -> None:
        with pytest.raises(BufferError, match="max_version"):
            device.allocate(64).__dlpack__(max_version=version)


class TestErrorsOfBothClasses:
    @pytest.mark.parametrize("error", [ValueError, RuntimeError])
    def test_times_that_cannot_be_had(self, stream: Stream, error: type[Exception]) -> None:
        timed = EventOptions(timing_enabled=True)
        untimed, recorded = stream.record(), stream.record(options=timed)
        with pytest.raises(error, match="timing"):
            _ = recorded - untimed
        with pytest.raises(error, match="never recorded"):
            _ = recorded - stream.device.create_event(timed)

    @pytest.mark.parametrize("error", [TypeError, ValueError])
    @pytest.mark.parametrize("waited_for", ["event", 7, None])
    def test_waiting_for_something_else(
        self, stream: Stream, waited_for: Any, error: type[Exception]
    ) -> None:
        with pytest.raises(error, match="Stream.wait"):
            stream.wait(waited_for)

    @pytest.mark.parametrize("error", [ValueError, RuntimeError])
    def test_unknown_code_type(self, error: type[Exception]) -> None:
        with pytest.raises(error, match="FORTRAN"):
            Program("", "FORTRAN")  # type: ignore[arg-type]

    @pytest.mark.parametrize("error", [ValueError, RuntimeError])
    def test_kernel_of_lto_ir(self, device: Device, error: type[Exception]) -> None:
        assert device.device_id == 0
        with pytest.raises(error, match="link it"):
            ltoir(FILL).get_kernel("fill")

    @pytest.mark.parametrize("error", [TypeError, RuntimeError])
    @pytest.mark.parametrize("made_elsewhere", [cudacore.Event, Kernel, ObjectCode])
    def test_objects_that_are_not_made_directly(
        self, made_elsewhere: Callable[[], Any], error: type[Exception]
    ) -> None:
        with pytest.raises(error, match="not made directly"):
            made_elsewhere()

    def test_cooperative_grid_that_is_too_large(self, device: Device, stream: Stream) -> None:
        kernel = build(FILL).get_kernel("fill")
        config = LaunchConfig(grid=1 << 24, block=64, is_cooperative=True)
        with pytest.raises(InvalidValueError, match="at once"):
            launch(stream, config, kernel, device.allocate(4, stream=stream), 1.0)
        stream.sync()
        assert device.allocate(4, stream=stream).size == 4


class TestPrograms:
    def test_backend_is_an_enum_member(self) -> None:
        program = Program(FILL, "c++", {"arch": ARCH})
        assert program.backend is CompilerBackendType.NVRTC
        assert Program(ptx(FILL).code, "ptx").backend is CompilerBackendType.NVJITLINK
        assert Linker.which_backend() is CompilerBackendType.NVJITLINK

    def test_pch_status_is_an_enum_member(self, tmp_path: Path) -> None:
        options = {"arch": ARCH, "create_pch": tmp_path / "a.pch"}
        program = Program(FILL, "c++", options)
        assert program.pch_status is None
        program.compile("ptx")
        assert program.pch_status in set(PCHStatusType)
        assert isinstance(program.pch_status, PCHStatusType)

    def test_names_have_their_defaults(self) -> None:
        assert ProgramOptions().name == "default_program" == ptx(FILL).name
        assert LinkerOptions().name == "default_linker"
        assert Linker(ptx(FILL), options={"arch": ARCH}).link().name == "default_linker"
        assert repr(ProgramOptions()) == "ProgramOptions()"
        assert ptx(FILL, name=None).name == "default_program"

    def test_options_that_mean_nothing_are_ignored(self) -> None:
        options = ProgramOptions(
            arch=ARCH, std="c++17", numba_debug=True, debug=True, use_fast_math=True, time=True,
            split_compile=True, define_macro="X",
        )  # fmt: skip
        assert Program(ptx(FILL).code, "ptx", options).compile("cubin").kernels == ("fill",)
        assert ptx(FILL, link_time_optimization=True).kernels == ("fill",)

    def test_options_that_are_none_are_refused(self) -> None:
        with pytest.raises(TypeError, match="max_register_count"):
            Program(ptx(FILL).code, "ptx", {"max_register_cuont": 32})

    def test_time_true_goes_to_the_log(self) -> None:
        assert ProgramOptions(time=True).time == "-"
        assert ProgramOptions(time=False).time is None
        program = Program(FILL, "c++", ProgramOptions(arch=ARCH, time=True))
        program.compile("ptx")
        assert "CUDA C++ Frontend" in program.log

    def test_split_compile_true_is_a_thread_for_each_processor(self) -> None:
        assert ProgramOptions(split_compile=True).split_compile == 0
        assert LinkerOptions(split_compile=True).split_compile == 0
        assert ProgramOptions(split_compile=False).split_compile is None

    def test_paths_are_paths(self, tmp_path: Path) -> None:
        (tmp_path / "seven.h").write_text("#define SEVEN 7\n")
        source = '#include "seven.h"\n__global__ void k(int* p) { *p = SEVEN; }'
        trace = tmp_path / "trace"
        code = ptx(source, include_path=[tmp_path], fdevice_time_trace=trace)
        assert code.kernels == ("k",)
        assert list(tmp_path.glob("trace*")) != []
        assert ProgramOptions(include_path=tmp_path).include_path == [str(tmp_path)]

    def test_sources_are_pairs(self) -> None:
        options = ProgramOptions(
            arch=ARCH, extra_sources=[("helper", "; IR"), ("raw", b"BC"), ("more", bytearray(b"D"))]
        )
        assert options.extra_sources == {"helper": "; IR", "raw": "BC", "more": "D"}
        with pytest.raises(ValueError, match="NVVM IR"):
            Program(FILL, "c++", options)
        for wrong in ("text", [("a",)], [(1, "x")], [("a", 1)], [7]):
            with pytest.raises(TypeError, match="extra_sources"):
                ProgramOptions(extra_sources=wrong)  # type: ignore[arg-type]

    def test_as_bytes(self) -> None:
        options = ProgramOptions(arch="sm_80", debug=True, ftz=True)
        assert options.as_bytes(CompilerBackendType.NVRTC) == [
            b"-arch=sm_80", b"--device-debug", b"--ftz=true",
        ]  # fmt: skip
        assert b"--dlink-time-opt" in options.as_bytes("nvrtc", "ltoir")
        linking = LinkerOptions(arch="sm_80", debug=True, max_register_count=32)
        assert linking.as_bytes() == [b"-arch=sm_80", b"-maxrregcount=32", b"-g"]
        with pytest.raises(ValueError, match="invalid"):
            options.as_bytes("invalid")
        with pytest.raises(ValueError, match="driver"):
            linking.as_bytes("driver")
        with pytest.raises(cudacore.NotSupportedError, match="libNVVM"):
            options.as_bytes("nvvm")

    def test_handles(self) -> None:
        program = Program(FILL, "c++", {"arch": ARCH})
        linked = Program(ptx(FILL).code, "ptx", {"arch": ARCH})
        linker = Linker(ptx(FILL), options={"arch": ARCH})
        for owner in (program, linked, linker):
            assert owner.handle == owner.handle != 0
            owner.close()
            with pytest.raises(ValueError, match="closed"):
                _ = owner.handle
        assert Program(FILL, "c++", {"arch": ARCH}).compile("ptx").kernels == ("fill",)

    def test_handle_outlives_nothing_at_exit(self) -> None:
        script = """
            import cudacore
            kept = cudacore.Program("__global__ void k() {}", "c++", {"arch": "sm_90"})
            print(kept.handle != 0)
        """
        assert run_cleanly(script) == "True\n"

    def test_linker_refuses_an_architecture_that_is_none(self) -> None:
        with pytest.raises(ValueError, match="sm_nine"):
            Linker(ptx(FILL), options={"arch": "sm_nine"})


class TestKernels:
    def test_module_of_a_handle_is_checked(self, device: Device) -> None:
        assert device.device_id == 0
        code = build(FILL)
        kernel = code.get_kernel("fill")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Kernel.from_handle(kernel.handle, code) == kernel
        for wrong in ("code", 7, kernel):
            with pytest.raises(TypeError, match="ObjectCode"):
                Kernel.from_handle(kernel.handle, mod=wrong)  # type: ignore[arg-type]
        with pytest.warns(UserWarning, match="does not match"):
            Kernel.from_handle(kernel.handle, build(FILL))

    def test_get_module(self, device: Device) -> None:
        assert device.device_id == 0
        code = build(FILL)
        assert code.get_module() == code.get_module() != 0
        with pytest.raises(ValueError, match="link it"):
            ltoir(FILL).get_module()

    def test_subclass_of_a_numpy_scalar_is_one(self, device: Device, stream: Stream) -> None:
        class Mine(np.float32):
            pass

        class Wide(np.int64):
            pass

        kernel = build(FILL).get_kernel("fill")
        buffer = LegacyPinnedMemoryResource().allocate(4)
        launch(stream, LaunchConfig(), kernel, buffer, Mine(2.5))
        stream.sync()
        assert np.from_dlpack(buffer).view(np.float32)[0] == 2.5
        assert device.device_id == 0
        with pytest.raises(TypeError, match="Wide"):
            launch(stream, LaunchConfig(), kernel, buffer, Wide(2))

    def test_function_for_shared_memory_is_not_a_size(self, device: Device) -> None:
        needed = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block: 16 * block)

        class CUoccupancyB2DSize:  # as cuda.bindings wraps a C function
            def __int__(self) -> int:
                return ctypes.cast(needed, ctypes.c_void_p).value or 0

        assert device.device_id == 0
        occupancy = build(FILL).get_kernel("fill").occupancy
        expected = occupancy.max_potential_block_size(lambda block: 16 * block, 256)
        assert occupancy.max_potential_block_size(CUoccupancyB2DSize(), 256) == expected  # type: ignore[arg-type]


class TestMissing:
    def test_names_say_where_they_are_listed(self) -> None:
        for names in _missing.NAMES.values():
            for name in names:
                with pytest.raises(AttributeError, match=rf"{name}.*{_missing.PAGE}"):
                    getattr(cudacore, name)
        assert not hasattr(cudacore, "GraphBuilder")

    def test_says_so_in_a_sentence(self) -> None:
        with pytest.raises(AttributeError) as caught:
            _ = cudacore.VirtualMemoryResource
        assert str(caught.value) == (
            "cudacore has no VirtualMemoryResource: it lacks virtual memory; see docs/cuda_core.md"
        )

    @pytest.mark.parametrize("before", ["", "import importlib"])
    def test_imports_of_a_script_say_so(self, before: str) -> None:
        # Without site, which may import importlib.
        script = f"{before}\nfrom cudacore import GraphBuilder"
        result = run(script, flags=["-S"], env={"PYTHONPATH": str(PACKAGE.parent)})
        assert "ImportError: cudacore has no GraphBuilder: it lacks graphs" in result.stderr
        assert _missing.PAGE in result.stderr

    def test_imports_say_so_too(self) -> None:
        with pytest.raises(ImportError, match=r"GraphBuilder.*docs/cuda_core.md"):
            from cudacore import GraphBuilder  # type: ignore[attr-defined]  # noqa: F401

    def test_no_other_name_is_guessed(self, device: Device) -> None:
        for ask in (lambda: Buffer.from_ipc_descriptor, lambda: cudacore.GraphMemoryType):  # type: ignore[attr-defined]
            with pytest.raises(AttributeError) as caught:
                ask()
            assert "Did you mean" not in "".join(traceback.format_exception(caught.value))
        with device.create_event() as event, pytest.raises(AttributeError) as caught:
            _ = event.ipc_descriptor
        assert "Did you mean" not in "".join(traceback.format_exception(caught.value))

    def test_dir_leaves_them_out(self, device: Device) -> None:
        offered = dir(device)
        assert "create_stream" in offered
        assert "__init__" in offered
        assert [name for name in offered if not hasattr(device, name)] == []
        assert "ipc_descriptor" not in dir(device.create_event())

    def test_dir_of_a_module_is_what_is_public(self) -> None:
        for module in (cudacore.simulator, cudacore.typing):
            assert dir(module) == sorted(module.__all__)

    def test_members_say_so_too(self, device: Device) -> None:
        stubs = (PACKAGE / "_core.pyi").read_text()
        with pytest.raises(AttributeError, match=r"Device.create_graph_builder.*docs/cuda_core"):
            device.create_graph_builder()  # type: ignore[attr-defined]
        assert not hasattr(device, "create_graph_builder")
        for members in _missing.MEMBERS.values():
            for owner, names in members.items():
                for name in names:
                    assert not hasattr(getattr(cudacore, owner), name)
                    stub = re.split(rf"^class {owner}\b", stubs, flags=re.MULTILINE)[1]
                    assert f"def {name}(" not in stub.partition("\nclass ")[0]

    def test_other_names_are_as_ever(self) -> None:
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'$"):
            _ = cudacore.nonsense
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = Device.nonsense  # type: ignore[attr-defined]

    def test_page_lists_them(self) -> None:
        page = Path(__file__).parents[2] / _missing.PAGE
        text = page.read_text()
        for names in _missing.NAMES.values():
            assert [name for name in names if f"`{name}`" not in text] == []
        for members in _missing.MEMBERS.values():
            for owner, names in members.items():
                assert [name for name in names if f"`{owner}.{name}`" not in text] == []
