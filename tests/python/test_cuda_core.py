# SPDX-License-Identifier: Apache-2.0
"""Programs written for cuda.core: what they do that other programs don't."""

import ctypes
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import (
    Device,
    EventOptions,
    InvalidValueError,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    launch,
)
from cudacore.typing import CompilerBackendType, PCHStatusType
from harness import ARCH, build, ltoir, ptx, run_cleanly

FILL = 'extern "C" __global__ void fill(float* p, float v) { p[threadIdx.x] = v; }'


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
        with pytest.raises(TypeError, match="Wide"):
            launch(stream, LaunchConfig(), kernel, buffer, Wide(2))

    def test_function_for_shared_memory_is_not_a_size(self, device: Device) -> None:
        needed = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block: 16 * block)

        address = ctypes.cast(needed, ctypes.c_void_p).value or 0

        class CUoccupancyB2DSize(ctypes.Structure):
            """As cuda.bindings wraps a C function, made with the function itself."""

            _fields_ = (("function", ctypes.c_void_p),)

            def __int__(self) -> int:
                return int(self.function)

            def getPtr(self) -> int:  # noqa: N802
                return ctypes.addressof(self)

        class OfPointer(CUoccupancyB2DSize):  # made with _ptr=function: the object is the code
            def __int__(self) -> int:
                raise AssertionError

            def getPtr(self) -> int:  # noqa: N802
                return address

        OfPointer.__name__ = "CUoccupancyB2DSize"
        occupancy = build(FILL).get_kernel("fill").occupancy
        expected = occupancy.max_potential_block_size(lambda block: 16 * block, 256)
        for wrapper in (CUoccupancyB2DSize(address), OfPointer()):
            assert occupancy.max_potential_block_size(wrapper, 256) == expected  # type: ignore[arg-type]
