# SPDX-License-Identifier: Apache-2.0
"""Linker: several object codes into one, with nvJitLink and no driver."""

import struct
from typing import Any

import cudacore
import pytest
from cudacore import Device, Linker, LinkerOptions, LinkError, ObjectCode, Program
from harness import (
    ARCH,
    TELL_WHETHER_DRIVER_WAS_USED,
    cubin,
    ltoir,
    ptx,
    run,
    run_cleanly,
)

CALLER = """
extern __device__ float twice(float x);
__global__ void apply(float* x, int n) { x[n] = twice(x[n]); }
"""
CALLEE = "__device__ float twice(float x) { return 2.0f * x; }"

#: field → (expected type, values that nvJitLink accepts, other fields that it needs)
OPTIONS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "name": ("str", ("mine",), {}),
    "arch": ("str", ("sm_90",), {}),
    "max_register_count": ("int", (32,), {}),
    "time": ("bool", (True, False), {}),
    "verbose": ("bool", (True, False), {}),
    "link_time_optimization": ("bool", (True,), {}),
    "ptx": ("bool", (False,), {}),
    "optimization_level": ("int", (0, 3), {}),
    "debug": ("bool", (True, False), {}),
    "lineinfo": ("bool", (True, False), {}),
    "ftz": ("bool", (True, False), {}),
    "prec_div": ("bool", (True, False), {}),
    "prec_sqrt": ("bool", (True, False), {}),
    "fma": ("bool", (True, False), {}),
    "kernels_used": ("str", ("_Z5applyPfi", ["_Z5applyPfi"]), {}),
    "variables_used": ("str", ("v", ["v", "w"]), {}),
    "optimize_unused_variables": ("bool", (True, False), {}),
    "ptxas_options": ("str", ("-O2", ["-v", "-O3"]), {}),
    "split_compile": ("int", (2,), {}),
    "split_compile_extended": ("int", (2,), {}),
    "no_cache": ("bool", (True, False), {}),
    "numba_debug": ("bool", (False,), {}),
}


@pytest.fixture(scope="module")
def lto() -> tuple[ObjectCode, ObjectCode]:
    return ltoir(CALLER), ltoir(CALLEE)


def test_backend() -> None:
    assert Linker.which_backend() == "nvJitLink"


def test_lto_to_cubin(lto: tuple[ObjectCode, ObjectCode]) -> None:
    linker = Linker(*lto, options=LinkerOptions(arch=ARCH, link_time_optimization=True))
    code = linker.link("cubin")
    assert code.code_type == "cubin"
    assert code.code.startswith(b"\x7fELF")
    assert code.kernels == ("apply",)
    assert [param.type for param in code.signature("apply")] == ["float*", "int"]


def test_lto_to_ptx_inlines_across_modules(lto: tuple[ObjectCode, ObjectCode]) -> None:
    code = Linker(*lto, options={"arch": ARCH, "link_time_optimization": True}).link("ptx")
    assert code.code_type == "ptx"
    assert ".entry _Z5applyPfi" in code.code.decode()
    assert "call" not in code.code.decode()
    assert code.kernels == ("apply",)


@pytest.mark.parametrize("make", [cubin, ptx], ids=["cubin", "ptx"])
def test_relocatable_code(make: Any) -> None:
    parts = [make(text, relocatable_device_code=True) for text in (CALLER, CALLEE)]
    assert Linker(*parts, options={"arch": ARCH}).link().kernels == ("apply",)


@pytest.mark.parametrize("arch", [ARCH, "sm_80"])
def test_cubins_that_are_not_relocatable_are_refused(arch: str) -> None:
    loose = cubin("__global__ void f() {}", arch=arch, name="loose.cu")
    fine = cubin("__global__ void g() {}", relocatable_device_code=True)
    linker = Linker(fine, loose, options={"arch": ARCH})
    with pytest.raises(LinkError, match=r"relocatable_device_code=True") as caught:
        linker.link("cubin")
    assert "loose.cu" in str(caught.value)
    assert arch in str(caught.value)
    assert "compile it for sm_90" in str(caught.value)


def test_cubin_of_another_architecture_is_told_from_the_targets() -> None:
    old = cubin("__global__ void f() {}", arch="sm_80", relocatable_device_code=True)
    with pytest.raises(LinkError, match="machine code for sm_80, and the link is for sm_90"):
        Linker(old, options={"arch": ARCH}).link()
    assert Linker(old, options={"arch": "sm_86"}).link().kernels == ("f",)


def test_kinds_may_be_mixed() -> None:
    parts = (cubin(CALLER, relocatable_device_code=True), ptx(CALLEE, relocatable_device_code=True))
    assert Linker(*parts, options={"arch": ARCH}).link().kernels == ("apply",)


def test_linked_parameters_keep_their_names(lto: tuple[ObjectCode, ObjectCode]) -> None:
    code = Linker(*lto, options={"arch": ARCH, "link_time_optimization": True}).link()
    assert [param.size for param in code.signature("apply")] == [8, 4]


def test_undefined_symbol_is_named() -> None:
    linker = Linker(cubin(CALLER, relocatable_device_code=True), options={"arch": ARCH})
    with pytest.raises(LinkError) as caught:
        linker.link()
    error = caught.value
    assert "twice" in str(error)
    assert "twice" in error.log
    assert error.function.startswith("nvJitLink")
    assert error.name.startswith("NVJITLINK_ERROR")
    assert error.code != 0
    assert "twice" in linker.get_error_log()


@pytest.mark.parametrize("kind", ["cubin", "ptx", "ltoir"])
def test_defined_twice_is_an_error(kind: str) -> None:
    # In a separate process: nvJitLink 13.5 may crash on this.
    script = """
        import sys, cudacore
        lto = sys.argv[1] == "ltoir"
        options = {"arch": "sm_90"} if lto else {"arch": "sm_90", "relocatable_device_code": True}
        source = "__device__ float twice(float x) { return 2.0f * x; }"
        parts = [cudacore.Program(source, "c++", options).compile(sys.argv[1]) for _ in "ab"]
        try:
            options = {"arch": "sm_90", **({"link_time_optimization": True} if lto else {})}
            cudacore.Linker(*parts, options=options).link()
        except cudacore.LinkError as error:
            print("twice" in str(error) or lto)
    """
    assert run(script, kind).stdout == "True\n"


@pytest.mark.parametrize("make", [cubin, ptx], ids=["cubin", "ptx"])
def test_defined_twice_names_symbol_and_inputs(make: Any) -> None:
    parts = [make(CALLEE, relocatable_device_code=True, name=name) for name in ("one", "other")]
    linker = Linker(*parts, options={"arch": ARCH})
    with pytest.raises(LinkError, match=r'twice\(float\).*"one".*"other"') as caught:
        linker.link()
    assert (caught.value.code, caught.value.name) == (0, "")
    assert linker.get_error_log() == caught.value.log != ""


@pytest.mark.parametrize("make", [cubin, ptx], ids=["cubin", "ptx"])
def test_weak_and_internal_symbols_may_be_defined_twice(make: Any) -> None:
    source = """
    template <class T> __global__ void fill(T* x) { *x = T(1); }
    template __global__ void fill<int>(int*);
    inline __device__ __noinline__ int half(int x) { return x / 2; }
    static __device__ int own = 1;
    __global__ void KERNEL(int* x) { *x = half(*x) + own; }
    """
    parts = [make(source, relocatable_device_code=True, define_macro=("KERNEL", name))
             for name in ("a", "b")]  # fmt: skip
    code = Linker(*parts, options={"arch": ARCH}).link()
    assert set(code.kernels) == {"fill<int>", "a", "b"}


@pytest.mark.parametrize("kind", ["cubin", "ptx", "ltoir"])
def test_corrupt_input_is_refused(kind: str) -> None:
    damaged = getattr(ObjectCode, f"from_{kind}")(b"garbage", name="the damaged one")
    with pytest.raises((LinkError, ValueError), match="the damaged one"):
        Linker(damaged, options={"arch": ARCH}).link()


def test_logs_are_empty_before_and_told_after(lto: tuple[ObjectCode, ObjectCode]) -> None:
    linker = Linker(
        *lto, options={"arch": ARCH, "link_time_optimization": True, "verbose": True, "time": True}
    )
    assert linker.get_info_log() == ""
    linker.link()
    assert linker.get_info_log() != ""
    assert linker.get_error_log() == ""


def test_no_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"input|object"):
        Linker(options={"arch": ARCH})


@pytest.mark.parametrize("part", [None, b"code", "code", 1])
def test_input_of_wrong_type(part: object) -> None:
    with pytest.raises(TypeError):
        Linker(part, options={"arch": ARCH})  # type: ignore[arg-type]


@pytest.mark.parametrize("target", ["ltoir", "elf", ""])
def test_unknown_target(lto: tuple[ObjectCode, ObjectCode], target: str) -> None:
    with pytest.raises(ValueError, match=r"cubin.*ptx|ptx.*cubin"):
        Linker(*lto, options={"arch": ARCH}).link(target)  # type: ignore[arg-type]


def test_closed_linker_raises(lto: tuple[ObjectCode, ObjectCode]) -> None:
    linker = Linker(*lto, options={"arch": ARCH, "link_time_optimization": True})
    linker.close()
    linker.close()
    assert linker.is_closed
    with pytest.raises(ValueError, match="closed"):
        linker.link()


def test_inputs_live_as_long_as_the_linker() -> None:
    linker = Linker(
        ltoir(CALLER), ltoir(CALLEE), options={"arch": ARCH, "link_time_optimization": True}
    )
    assert linker.link().kernels == ("apply",)
    assert linker.link().kernels == ("apply",)


def test_there_are_22_options() -> None:
    assert len(OPTIONS) == 22


@pytest.mark.parametrize(
    ("field", "value"), [(name, value) for name in OPTIONS for value in OPTIONS[name][1]], ids=str
)
def test_option_is_accepted(lto: tuple[ObjectCode, ObjectCode], field: str, value: Any) -> None:
    options = {"arch": ARCH, "link_time_optimization": True, **OPTIONS[field][2], field: value}
    assert Linker(*lto, options=LinkerOptions(**options)).link().code


@pytest.mark.parametrize("field", OPTIONS)
def test_option_is_unset_at_first(field: str) -> None:
    expected = "default_linker" if field == "name" else None
    assert getattr(LinkerOptions(), field) == expected


@pytest.mark.parametrize(
    ("field", "value"), [(name, value) for name in OPTIONS for value in (object(), 1.5, b"x")],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_wrong_type_names_field_and_both_types(field: str, value: object) -> None:
    with pytest.raises(TypeError) as caught:
        LinkerOptions(**{field: value})
    assert field in str(caught.value)
    assert OPTIONS[field][0] in str(caught.value)
    assert type(value).__name__ in str(caught.value)


def test_unknown_option_is_named() -> None:
    with pytest.raises(TypeError, match="no_such_option"):
        LinkerOptions(no_such_option=1)  # type: ignore[call-arg]


def test_explicit_architecture_never_uses_the_driver() -> None:
    script = """
import cudacore
options = {"arch": "sm_90"}
code = cudacore.Program("__global__ void k() {}", "c++", options).compile("ltoir")
cudacore.Linker(code, options={**options, "link_time_optimization": True}).link()
"""
    assert run_cleanly(script + TELL_WHETHER_DRIVER_WAS_USED) == "False\n"


def test_versions_of_the_libraries() -> None:
    for version, path in (cudacore.nvrtc_library(), cudacore.nvjitlink_library()):
        assert version >= (12, 0)
        assert path.startswith("/")


class TestPtxWithLtoIr:
    MAIN = """
        extern __device__ float add(float, float);
        extern __device__ int table[2];
        __global__ void k(float* x) { *x = add(1.0f, table[1]); printf("%g\\n", *x); }"""
    LIBRARY = """
        __device__ int table[2] = {3, 4};
        __device__ float add(float a, float b) { return a + b; }
        __device__ void unused() {}"""

    @pytest.mark.parametrize("order", ["ptx first", "LTO IR first"])
    def test_functions_that_only_the_ptx_calls_stay(self, device: Device, order: str) -> None:
        options = {"arch": f"sm_{device.arch}", "relocatable_device_code": True}
        main = Program(self.MAIN, "c++", options).compile("ptx")
        library = Program(self.LIBRARY, "c++", options).compile("ltoir")
        inputs = (main, library) if order == "ptx first" else (library, main)
        linked = Linker(*inputs, options=LinkerOptions(arch=options["arch"])).link("cubin")
        assert linked.kernels == ("k",)
        assert ".entry cudacore" not in (linked.ptx or "")
        with device.create_stream() as stream, device.allocate(4, stream=stream) as x:
            linked.get_kernel("k")[1, 1, stream](x)
            host = bytearray(4)
            x.copy_to(host, stream=stream)
            stream.sync()
        assert struct.unpack("f", host) == (5.0,)

    @pytest.mark.parametrize("name", ["f", "a", "func", "kept"])
    def test_functions_of_any_name_are_found(self, device: Device, name: str) -> None:
        options = {"arch": f"sm_{device.arch}", "relocatable_device_code": True}
        declared = f'extern "C" __device__ int {name}(int x)'
        source = f"{declared};\n__global__ void k(int* x) {{ *x = {name}(41); }}"
        main = Program(source, "c++", options).compile("ptx")
        library = Program(f"{declared} {{ return x + 1; }}", "c++", options).compile("ltoir")
        linked = Linker(main, library, options=LinkerOptions(arch=options["arch"])).link("cubin")
        x = device.allocate(4)
        linked.get_kernel("k")[1, 1](x)
        assert x.to_host("i4").tolist() == [42]
