# SPDX-License-Identifier: Apache-2.0
"""Program: from source to code, with real compilers and no driver."""

import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import cudacore
import pytest
from cudacore import (
    CompileError,
    CUDAError,
    Device,
    NotSupportedError,
    ObjectCode,
    Program,
    ProgramOptions,
)
from harness import ARCH, TELL_WHETHER_DRIVER_WAS_USED, cubin, ltoir, ptx, run_cleanly

AXPY = """
template <typename T>
__global__ void axpy(T a, const T* x, T* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void plain(int* out) { *out = 1; }
namespace ns { __global__ void inside(float* out) { *out = 2; } }
extern "C" __global__ void c_name(double* out) { *out = 3; }
"""

MAGIC = {"cubin": b"\x7fELF", "ptx": b"//", "ltoir": b""}


@pytest.mark.parametrize("target", ["ptx", "cubin", "ltoir"])
def test_compiles_cxx_to(target: str) -> None:
    program = Program(AXPY, "c++", ProgramOptions(arch=ARCH))
    code = program.compile(target, ["axpy<float>"])
    assert program.backend == "NVRTC"
    assert code.code_type == target
    assert isinstance(code.code, bytes)
    assert len(code.code) > 100
    assert code.code.startswith(MAGIC[target])
    assert code.symbol_mapping["axpy<float>"].startswith("_Z4axpyIf")


@pytest.mark.parametrize("convert", [str, str.encode, lambda text: bytearray(text.encode())])
def test_source_may_be(convert: Callable[[str], str | bytes | bytearray]) -> None:
    code = Program(convert(AXPY), "c++", {"arch": ARCH}).compile("ptx")
    assert set(code.kernels) == {"plain", "ns::inside", "c_name"}


def test_one_program_compiles_for_several_targets() -> None:
    program = Program(AXPY, "c++", {"arch": ARCH})
    assert program.compile("ptx", ("axpy<double>",)).code_type == "ptx"
    assert program.compile("cubin", ("axpy<int>",)).kernels.count("axpy<int>") == 1
    assert "axpy<int>" not in program.compile("cubin").kernels


def test_templates_are_instantiated_by_name() -> None:
    names = ("axpy<float>", "axpy<double>", "axpy<unsigned char>", "plain", "ns::inside")
    code = cubin(AXPY, *names)
    assert set(names) <= set(code.kernels)
    assert set(code.symbol_mapping) == set(names)


def test_cubin_keeps_its_ptx() -> None:
    code = cubin(AXPY)
    assert code.ptx is not None
    assert ".visible .entry" in code.ptx
    assert ".target sm_90" in code.ptx


def test_compilation_is_repeatable() -> None:
    assert cubin(AXPY).code == cubin(AXPY).code


def test_source_without_kernels() -> None:
    assert cubin("__device__ int unused;").kernels == ()


def test_empty_source_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        cubin("")


def test_source_may_hold_any_unicode() -> None:
    assert cubin("// Größe µ 字 🚀\n__global__ void k() {}").kernels == ("k",)


def test_source_with_nul_is_refused() -> None:
    with pytest.raises(ValueError, match=r"NUL|null|\\\\0"):
        Program("__global__ void k() {}\0 garbage", "c++", {"arch": ARCH}).compile("ptx")


def test_ptx_source_becomes_a_cubin() -> None:
    text = ptx(AXPY, "axpy<float>").code.decode().rstrip("\0")
    program = Program(text, "ptx", {"arch": ARCH})
    code = program.compile("cubin")
    assert program.backend == "nvJitLink"
    assert code.code.startswith(b"\x7fELF")
    assert "axpy<float>" in code.kernels


def test_ltoir_source_becomes_a_cubin() -> None:
    program = Program(ltoir(AXPY).code, "ltoir", {"arch": ARCH})
    code = program.compile("cubin")
    assert program.backend == "nvJitLink"
    assert "plain" in code.kernels


def test_bad_ptx_source_says_why() -> None:
    with pytest.raises(CUDAError) as caught:
        Program("this is not PTX", "ptx", {"arch": ARCH}).compile("cubin")
    assert caught.value.function.startswith("nvJitLink")
    assert caught.value.log


def test_nvvm_is_refused_in_words() -> None:
    with pytest.raises((NotSupportedError, ValueError), match=r"(?i)nvvm"):
        Program("", "nvvm")  # type: ignore[arg-type]


@pytest.mark.parametrize("code_type", ["cxx", "C", "", "cubin"])
def test_unknown_source_type_lists_those_there_are(code_type: str) -> None:
    with pytest.raises(ValueError, match=r"c\+\+.*ptx.*ltoir"):
        Program("", code_type)  # type: ignore[arg-type]


@pytest.mark.parametrize("target", ["sass", "CUBINS", ""])
def test_unknown_target_lists_those_there_are(target: str) -> None:
    with pytest.raises(ValueError, match=r"cubin"):
        Program(AXPY, "c++", {"arch": ARCH}).compile(target)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [None, 1, ["a"], 1.5])
def test_source_of_wrong_type(code: object) -> None:
    with pytest.raises(TypeError):
        Program(code, "c++")  # type: ignore[arg-type]


def test_lone_name_expression_is_one_name() -> None:
    # A string is also a sequence of strings: taken letter by letter, it would fail strangely.
    assert "axpy<float>" in cubin(AXPY, "axpy<float>").kernels
    code = Program(AXPY, "c++", {"arch": ARCH}).compile("ptx", "axpy<float>")
    assert set(code.symbol_mapping) == {"axpy<float>"}


@pytest.mark.parametrize("names", [[1], 3, [None]])
def test_name_expressions_of_wrong_type(names: object) -> None:
    with pytest.raises(TypeError, match="name_expressions"):
        Program(AXPY, "c++", {"arch": ARCH}).compile("ptx", names)  # type: ignore[arg-type]


def test_compile_error_shows_log_and_source_line() -> None:
    source = "__global__ void k(int* p) {\n  *p = undeclared_thing;\n}\n"
    with pytest.raises(CompileError) as caught:
        Program(source, "c++", ProgramOptions(arch=ARCH, name="mine.cu")).compile("ptx")
    error = caught.value
    assert (error.code, error.name) == (6, "NVRTC_ERROR_COMPILATION")
    assert error.function == "nvrtcCompileProgram"
    assert 'identifier "undeclared_thing" is undefined' in error.log
    message = str(error)
    assert "mine.cu" in message
    assert "*p = undeclared_thing;" in message
    assert "undeclared_thing" in error.log


def test_unknown_name_expression_says_which() -> None:
    with pytest.raises(CUDAError, match="nothing_like_that"):
        cubin(AXPY, "nothing_like_that<int>")


def test_unknown_architecture_says_which() -> None:
    with pytest.raises((CUDAError, ValueError), match="sm_1"):
        Program(AXPY, "c++", {"arch": "sm_1"}).compile("ptx")


WARNS = "__global__ void k() { int never_used; }"


def test_log_holds_the_last_warnings() -> None:
    program = Program(WARNS, "c++", {"arch": ARCH})
    assert program.log == ""
    program.compile("ptx")
    assert "never_used" in program.log


def test_logs_are_written_to_a_file_object() -> None:
    logs = io.StringIO()
    Program(WARNS, "c++", {"arch": ARCH}).compile("ptx", logs=logs)
    assert "never_used" in logs.getvalue()


def test_logs_without_write_are_refused() -> None:
    with pytest.raises(TypeError, match="write"):
        Program(WARNS, "c++", {"arch": ARCH}).compile("ptx", logs=object())


def test_logs_that_raise_are_heard() -> None:
    class Full:
        def write(self, _text: str) -> int:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Program(WARNS, "c++", {"arch": ARCH}).compile("ptx", logs=Full())


def test_closed_program_raises() -> None:
    program = Program(AXPY, "c++", {"arch": ARCH})
    assert not program.is_closed
    program.close()
    program.close()
    assert program.is_closed
    with pytest.raises(ValueError, match="closed"):
        program.compile("ptx")


def test_threads_compile_at_once() -> None:
    program = Program(AXPY, "c++", {"arch": ARCH})

    def compile_one(type_name: str) -> ObjectCode:
        return program.compile("cubin", [f"axpy<{type_name}>"])

    types = ["float", "double", "int", "long", "char", "short"]
    with ThreadPoolExecutor(len(types)) as pool:
        for type_name, code in zip(types, pool.map(compile_one, types), strict=True):
            assert f"axpy<{type_name}>" in code.kernels


@pytest.mark.parametrize("target", ["ptx", "cubin", "ltoir"])
def test_explicit_architecture_never_uses_the_driver(target: str) -> None:
    script = """
import sys, cudacore
program = cudacore.Program("__global__ void k() {}", "c++", {"arch": "sm_90"})
program.compile(sys.argv[1])
"""
    assert run_cleanly(script + TELL_WHETHER_DRIVER_WAS_USED, target) == "False\n"


def test_what_tells_of_the_drivers_use_can_tell(device: Device) -> None:
    script = "import cudacore\ncudacore.Device().sync()\n"
    assert run_cleanly(script + TELL_WHETHER_DRIVER_WAS_USED) == "True\n"


def test_options_as_a_dictionary_are_checked() -> None:
    with pytest.raises(TypeError, match="no_such_option"):
        Program(AXPY, "c++", {"no_such_option": True})


def test_repr_tells_what_it_is() -> None:
    assert "Program" in repr(Program(AXPY, "c++", {"arch": ARCH}))


def test_without_target_makes_what_the_device_runs_best(device: Device) -> None:
    code = Program(AXPY, "c++").compile(name_expressions=["axpy<float>"])
    assert code.code_type == ("ptx" if cudacore.simulator.is_enabled() else "cubin")
    assert code.ptx is not None
    assert f".target sm_{device.arch}" in code.ptx


def test_logs_are_those_of_the_call() -> None:
    source = """
        template <int N> __global__ void k(unsigned char* c) { *c = N + 300; }
    """
    program = Program(source, "c++", {"arch": ARCH})
    failures: list[str] = []

    def work(number: int) -> None:
        for _ in range(5):
            logs = io.StringIO()
            program.compile("ptx", [f"k<{number}>"], logs=logs)
            if f"[with N={number}]" not in logs.getvalue():
                failures.append(logs.getvalue())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
