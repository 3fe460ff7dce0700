# SPDX-License-Identifier: Apache-2.0
"""Advice in errors for users who come from another library, or who mistyped a word."""

from collections.abc import Callable
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, LaunchConfig, LinkerOptions, ProgramOptions, launch
from harness import build, cubin, ptx, run, run_cleanly

SOURCE = """
struct Pair { float low, high; };
__global__ void axpy(float a, float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
__global__ void low(float* x, Pair p) { *x = p.low; }
"""
TEMPLATE = "template <typename T, int N> __global__ void axpy(T* x) { *x = N; }"


@pytest.fixture(scope="module")
def axpy(device: Device) -> Kernel:
    return build(SOURCE).get_kernel("axpy")


def said(error: type[Exception], call: Callable[..., object], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    return str(caught.value)


class TestLaunches:
    def test_kernel_called_without_a_shape(self, axpy: Kernel) -> None:
        message = said(TypeError, axpy, 1.0, None, 0)  # type: ignore[operator]
        assert "axpy needs a shape" in message
        assert "kernel[grid, block](...)" in message

    def test_kernel_called_as_in_cupy(self, axpy: Kernel) -> None:
        message = said(TypeError, axpy, (4,), (32,), (1.0, None, 0))  # type: ignore[operator]
        assert "CuPy" in message
        assert "kernel[(4,), (32,)](*args)" in message

    def test_grid_without_block(self, axpy: Kernel) -> None:
        assert "threads in a block" in said(TypeError, lambda: axpy[4])  # type: ignore[index]

    def test_keywords(self, axpy: Kernel) -> None:
        message = said(TypeError, axpy[1, 1], 1.0, None, 0, stream=None)
        assert "kernel[grid, block, stream, shmem_size](...)" in message

    def test_forgotten_stream(self, axpy: Kernel) -> None:
        config = LaunchConfig(grid=1, block=1)
        message = said(TypeError, launch, config, axpy, 1.0, None, 0)
        assert "the stream is missing" in message
        assert "None for the current stream" in message
        assert "the stream is missing" in said(TypeError, launch, config, axpy)

    def test_config_and_kernel_exchanged(self, axpy: Kernel) -> None:
        message = said(TypeError, launch, None, axpy, LaunchConfig(grid=1, block=1))
        assert "the config goes before the kernel" in message

    def test_second_extent_is_no_block(self) -> None:
        message = said(TypeError, LaunchConfig, 8, 4)
        assert "cluster" in message
        assert "LaunchConfig(grid=8, block=4)" in message
        assert LaunchConfig(8, 4, 2).cluster == (4, 1, 1)
        assert LaunchConfig(8, None).cluster is None
        assert LaunchConfig(8, cluster=2).cluster == (2, 1, 1)


class TestArguments:
    @pytest.mark.parametrize(
        ("index", "value", "cure"),
        [
            (0, np.float64(2), "float(...)"),
            (0, np.int32(2), "float(...)"),
            (2, np.int64(2), "int(...)"),
            (2, np.float32(2), "int(...)"),
        ],
        ids=str,
    )
    def test_scalar_of_another_type(
        self, axpy: Kernel, index: int, value: object, cure: str
    ) -> None:
        args: list[Any] = [1.0, None, 0]
        args[index] = value
        message = said(TypeError, axpy[1, 1], *args)
        assert type(value).__name__ in message
        assert cure in message

    def test_device(self, axpy: Kernel, device: Device) -> None:
        assert "Buffer" in said(TypeError, axpy[1, 1], 1.0, device, 0)
        assert "device.device_id" in said(TypeError, axpy[1, 1], 1.0, None, device)

    def test_structured_array_without_dimensions(self, device: Device) -> None:
        kernel = build(SOURCE).get_kernel("low")
        pair = np.array((7.0, 8.0), dtype=[("low", np.float32), ("high", np.float32)])
        with device.create_stream() as stream, device.allocate(4) as x:
            kernel[1, 1](x, pair)
            kernel[1, 1](x, pair[()])
            host = np.empty(1, np.float32)
            x.copy_to(host, stream=stream)
            stream.sync()
            assert host[0] == 7
            assert "array.item()" in said(TypeError, kernel[1, 1], x, pair.reshape(1))


class TestMemory:
    @pytest.fixture
    def buffer(self, device: Device) -> Buffer:
        return device.allocate(64)

    def test_host_that_is_not_contiguous(self, buffer: Buffer) -> None:
        host = np.zeros(32, np.float32)[::2]
        assert "np.ascontiguousarray" in said(TypeError, buffer.copy_from, host)
        assert "a[...] = fresh" in said(TypeError, buffer.copy_to, host)

    def test_more_than_any_memory(self, device: Device) -> None:
        message = said(OverflowError, device.allocate, 2**64)
        assert "18446744073709551616" in message
        assert "Device.allocate" in message

    @pytest.mark.parametrize("value", [1.0, True])
    def test_fill_with_a_number_of_unknown_width(self, buffer: Buffer, value: object) -> None:
        assert "np.float32(...)" in said(TypeError, buffer.fill, value)


class TestNames:
    @pytest.mark.parametrize(
        ("call", "word", "meant"),
        [
            (ProgramOptions, "use_fastmath", "use_fast_math"),
            (ProgramOptions, "default_device", "device_as_default_execution_space"),
            (ProgramOptions, "maxrregcount", "max_register_count"),
            (ProgramOptions, "rdc", "relocatable_device_code"),
            (LinkerOptions, "optimisation_level", "optimization_level"),
            (cudacore.StreamOptions, "prioritty", "priority"),
            (cudacore.EventOptions, "timing", "timing_enabled"),
            (LaunchConfig, "shared_mem_size", "shmem_size"),
            (LaunchConfig, "blocks", "block"),
        ],
    )
    def test_misspelt_option(self, call: Callable[..., object], word: str, meant: str) -> None:
        assert f"did you mean '{meant}'?" in said(TypeError, call, **{word: 1})

    def test_misspelt_field_of_a_dict(self, axpy: Kernel) -> None:
        message = said(TypeError, launch, None, {"gird": 1}, axpy, 1.0, None, 0)
        assert "did you mean 'grid'?" in message

    def test_misspelt_keyword(self, device: Device) -> None:
        assert "did you mean 'stream'?" in said(TypeError, device.allocate, 4, steam=None)

    def test_word_that_is_like_no_other(self) -> None:
        assert "did you mean" not in said(TypeError, ProgramOptions, zzzz=1)

    def test_template_of_which_nothing_was_compiled(self) -> None:
        code = cubin(TEMPLATE + "__global__ void other() {}")
        message = said(ValueError, code.get_kernel, "axpy")
        assert "template<typename T, int N>" in message
        assert 'name_expressions=["axpy<float, 256>"]' in message
        assert 'name_expressions=["axpy<int, 2>"]' in said(
            ValueError, code.signature, "axpy<int, 2>"
        )
        assert "template<" not in said(ValueError, code.signature, "nope")

    def test_name_expression_that_names_nothing(self) -> None:
        message = said(cudacore.CompileError, cubin, "__global__ void k() {}", "k", "nope<int>")
        assert 'The name expression "nope<int>" does not name anything' in message

    def test_name_expression_without_template_arguments(self) -> None:
        message = said(cudacore.CompileError, cubin, TEMPLATE, "axpy")
        assert 'as in "axpy<float>"' in message


class TestCompilerOptions:
    def test_flags_as_they_are(self) -> None:
        source = "void f() {} __global__ void k() { f(); }"
        assert cubin(source, options=["-default-device"]).kernels == ("k",)
        assert "f" in said(cudacore.CompileError, cubin, source)

    def test_macros_as_a_dict(self) -> None:
        options = {"A": 2, "B": "3", "C": None, "D": True}
        source = "#ifdef C\n__global__ void k(int* x) { static_assert(A + B + D == 6); }\n#endif"
        assert cubin(source, define_macro=options).kernels == ("k",)
        assert ProgramOptions(define_macro=options).define_macro == [
            ("A", "2"), ("B", "3"), "C", ("D", "1"),
        ]  # fmt: skip
        assert "['A'] must be str, int" in said(TypeError, ProgramOptions, define_macro={"A": 1.5})

    def test_unknown_standard(self) -> None:
        message = said(cudacore.CompileError, cubin, "__global__ void k() {}", std="c++98")
        assert "c++98" in message
        assert "c++17" in message

    def test_architecture_belongs_to_arch(self) -> None:
        message = said(ValueError, cubin, "__global__ void k() {}", options=["-arch=sm_80"])
        assert "the option arch" in message


class TestForgottenHeaders:
    @pytest.mark.parametrize(
        ("source", "word", "header"),
        [
            ("__global__ void k(__half* x) {}", "__half", "cuda_fp16.h"),
            ("__global__ void k(const half2* x, int n) {}", "half2", "cuda_fp16.h"),
            ("__global__ void k(__nv_bfloat16 x) {}", "__nv_bfloat16", "cuda_bf16.h"),
            ("__global__ void k(uint32_t* x) {}", "uint32_t", "stdint.h"),
            ("__device__ int f(int64_t* x, int n) { return n; }", "int64_t", "stdint.h"),
            ("__global__ void k(float* x) { *x = FLT_MAX; }", "FLT_MAX", "float.h"),
            ("__global__ void k(int* x) { *x = INT_MAX; }", "INT_MAX", "limits.h"),
            ("__global__ void k(float* x) { *x = INFINITY; }", "INFINITY", "math.h"),
            ("__global__ void k(float* x) { *x = CUDART_PI; }", "CUDART_PI", "math_constants.h"),
            (
                "__global__ void k() { namespace cg = cooperative_groups; cg::sync(); }",
                "cooperative_groups", "cooperative_groups.h",
            ),
            (
                "__global__ void k() { cooperative_groups::this_grid().sync(); }",
                "cooperative_groups", "cooperative_groups.h",
            ),
            ("__global__ void k(cuFloatComplex* x) {}", "cuFloatComplex", "cuComplex.h"),
        ],
        ids=lambda text: text[-12:],
    )  # fmt: skip
    def test_is_named(self, source: str, word: str, header: str) -> None:
        message = said(cudacore.CompileError, cubin, source)
        assert f"{word} is declared in a header: add #include <{header}>" in message
        fixed = f"#include <{header}>\n" + source.replace("cg::sync()", "cg::this_grid().sync()")
        assert ptx(fixed).code

    def test_the_cause_is_shown_first(self) -> None:
        message = said(cudacore.CompileError, cubin, "\n__global__ void k(__half* x) {}")
        first = message.splitlines()[1:4]
        assert first[0].endswith('(2): error: identifier "__half" is undefined')
        assert first[1] == "  __global__ void k(__half* x) {}"
        assert "does not apply here" not in message
        assert "5 more errors" in message

    def test_other_names_get_no_advice(self) -> None:
        for source in ("__global__ void k() { nope(); }", "__global__ void k(Half* x) {}"):
            assert "#include" not in said(cudacore.CompileError, cubin, source)

    def test_forgotten_words_before_functions_and_variables(self) -> None:
        message = said(cudacore.CompileError, cubin, "void k(float* x) {}")
        assert "Write __global__ before a kernel" in message
        assert "device_as_default_execution_space=True" in message
        message = said(cudacore.CompileError, cubin, "int x; __global__ void k() { x = 1; }")
        assert "Write __device__ or __constant__ before the variable" in message


class TestNoGpu:
    def test_error_shows_the_simulated_device(self) -> None:
        env = {"CUDACORE_DRIVER": "native", "CUDA_VISIBLE_DEVICES": ""}
        result = run("import cudacore; cudacore.Device().set_current()", env=env)
        line = "import cudacore; cudacore.simulator.enable()"
        assert f"  {line}\n" in result.stderr
        assert "CUDACORE_DRIVER=simulator" in result.stderr
        script = f"from cudacore import Device\n{line}\nprint(Device().name)"
        assert "simulated" in run_cleanly(script, env={"CUDACORE_DRIVER": None})

    def test_hidden_devices_need_no_nvidia_smi(self) -> None:
        script = "import cudacore; cudacore.Device().set_current()"
        env = {"CUDACORE_DRIVER": "native", "CUDA_VISIBLE_DEVICES": ""}
        result = run(script, env=env)
        assert result.returncode != 0
        assert "nvidia-smi" not in result.stderr


@pytest.mark.parametrize("visible", ["", "5"])
@pytest.mark.parametrize(("devices", "there"), [("1", "device 0"), ("2", "devices 0 to 1")])
def test_hidden_simulated_devices(visible: str, devices: str, there: str) -> None:
    env = {
        "CUDACORE_DRIVER": "simulator", "CUDACORE_SIMULATOR_DEVICES": devices,
        "CUDA_VISIBLE_DEVICES": visible,
    }  # fmt: skip
    result = run("import cudacore; cudacore.Device()", env=env)
    assert f'CUDA_VISIBLE_DEVICES is "{visible}"' in result.stderr
    assert f"{there}:" in result.stderr
    for advice in ("nvidia-smi", "enable()", "CUDACORE_DRIVER"):
        assert advice not in result.stderr


@pytest.mark.usefixtures("device")
def test_grid_sync_needs_a_cooperative_launch() -> None:
    script = """
        import cudacore
        source = '''#include <cooperative_groups.h>
        __global__ void k() { cooperative_groups::this_grid().sync(); }'''
        kernel = cudacore.Program(source, "c++").compile().get_kernel("k")
        try:
            kernel[2, 32]()
            cudacore.Device().sync()
        except cudacore.LaunchError as error:
            print(error)
    """
    assert "is_cooperative=True" in run_cleanly(script)


@pytest.mark.simulator_only(reason="NVIDIA's driver says nothing of a trap")
def test_other_failures_do_not_speak_of_grid_sync() -> None:
    script = """
        import cudacore
        source = "__device__ int f(int n) { volatile int a[4096]; a[n] = n; "
        source += "return n < 1 ? 0 : f(n - 1) + a[n]; } "
        source += "__global__ void k(int n, int* p) { *p = f(n); }"
        kernel = cudacore.Program(source, "c++").compile().get_kernel("k")
        try:
            kernel[1, 1](4000, cudacore.Device().allocate(4))
            cudacore.Device().sync()
        except cudacore.LaunchError as error:
            print(error.code, error)
    """
    said = run_cleanly(script)
    assert said.startswith("719 ")
    assert "is_cooperative" not in said
