# SPDX-License-Identifier: Apache-2.0
"""Functions of CUDA C++ that tile kernels call."""

import inspect
import io
import re
from typing import Any

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device, Stream
from cudacore.tile.compilation import CallingConvention, KernelSignature, export_kernel
from tile_text import INT, array, body, text

SOURCE = """
#include <cuda_fp16.h>
// __device__ int commented(int x) { return x; }
#define TWICE(x) ((x) + (x))
struct Pair { int first; __device__ int sum() { return first; } };

__device__ static inline float
hypotenuse(const float x, float y)  // its own {
{
  return sqrtf(x * x + y * y);
}
extern "C" __device__ __half twice(__half x) noexcept { return TWICE(x); }
__device__ unsigned char wrapped(unsigned, long long int_) { return (unsigned char)int_; }
__device__ bool always(void) { return true; }
"""

hypotenuse = ct.device_function(SOURCE, "hypotenuse")
twice = ct.device_function(SOURCE, "twice")
wrapped = ct.device_function(SOURCE, "wrapped")
always = ct.device_function(SOURCE, name="always")
softplus = ct.device_function("__device__ float softplus(float x) { return log1pf(expf(x)); }")


def test_the_declaration_tells_types() -> None:
    assert hypotenuse.name == hypotenuse.__name__ == "hypotenuse"
    assert hypotenuse.source == SOURCE
    assert hypotenuse.parameters == (ct.float32, ct.float32)
    assert hypotenuse.returns is ct.float32
    assert (twice.parameters, twice.returns) == ((ct.float16,), ct.float16)
    assert (wrapped.parameters, wrapped.returns) == ((ct.uint32, ct.int64), ct.uint8)
    assert (always.parameters, always.returns) == ((), ct.bool_)
    assert repr(softplus) == "<device function softplus(float32) -> float32>"


def test_the_place_is_that_of_the_text() -> None:
    assert softplus.file == __file__
    lines = inspect.getsource(inspect.getmodule(test_the_place_is_that_of_the_text)).splitlines()  # type: ignore[arg-type]
    assert "float softplus" in lines[softplus.line - 1]
    assert lines[hypotenuse.line - 1] == 'SOURCE = """'
    made = ct.device_function("__device__ int " + "made(int x)" + " { return x; }")
    assert (made.file, made.line) == ("<made>", 1)


@pytest.mark.parametrize(
    ("source", "name", "kind", "message"),
    [
        ("int f(int x) { return x; }", None, ValueError, "defines no function with __device__"),
        (SOURCE, None, ValueError, "pass a name of: hypotenuse, twice, wrapped, always"),
        (SOURCE, "sum", ValueError, r"no sum\(\) with __device__; there are hypotenuse, "),
        (
            "__device__ int f(int x) { return x; } __device__ float f(float x) { return x; }",
            None,
            ValueError,
            r"several functions named f\(\)",
        ),
        ("__device__ void f(int x) {}", None, TypeError, r"result of f\(\) has the type 'void'"),
        ("__device__ int f(int *x) { return 1; }", None, TypeError, r"parameter 1 of f\(\)"),
        ("__device__ int f(int& x) { return 1; }", None, TypeError, "type 'int &'"),
        ("__device__ int f(int x[2]) { return 1; }", None, TypeError, "no tiles"),
        ("__device__ int f(long x) { return 1; }", None, TypeError, "the type 'long'"),
        (
            "template <class T> __device__ T f(T x) { return x; }",
            None,
            TypeError,
            "no tiles",
        ),
        ("__device__ int f(int x);", None, ValueError, "defines no function"),
        ("__device__ int f(int x) {}\0", None, ValueError, "null"),
        ("__device__ int f(int x) { return x;", None, ValueError, "line 1 .*'{' that is never"),
        ("__device__ int f(int x) { return x; }\n}", None, ValueError, "line 2 .*'}' without"),
        ("__device__ int f(int x) {} // \\", None, ValueError, "ends with a backslash"),
        ("\n__device__ int f(int x) {} /*", None, ValueError, "line 2 .*comment that is never"),
        ('auto s = R"(; __device__ int f(int x) {}', None, ValueError, "a string that is never"),
        ("\n#ifdef A /*\n*/\nint a;", None, ValueError, "line 2 .*#ifdef without #endif"),
        ("#if 1\n#endif\n# endif", None, ValueError, "line 3 of the source: #endif without #if"),
        (b"__device__ int f(int x) {}", None, TypeError, "source must be a str of CUDA C\\+\\+"),
        (SOURCE, 3, TypeError, "name must be a str, not int"),
    ],
)
def test_what_is_no_function_is_refused(
    source: Any, name: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        ct.device_function(source, name)


@pytest.mark.parametrize(
    "source",
    [
        *("a" * 100_000 + "{", "a " * 100_000 + "{", "f(" * 100_000 + "{", 'R"a(' * 100_000),
        *("/* " * 100_000, 'R"' * 100_000, '"' + r"\"" * 100_000, "noexcept " * 100_000 + "{"),
    ],
    ids=["name", "names", "parentheses", "raw", "comments", "marks", "quotes", "noexcept"],
)
def test_a_source_is_read_in_one_pass(source: str) -> None:
    """Otherwise this would take hours."""
    with pytest.raises(ValueError, match="defines no function|never closed"):
        ct.device_function(source)


def test_the_host_cannot_call_it() -> None:
    with pytest.raises(RuntimeError, match=r"softplus\(\) belongs in a kernel"):
        softplus(1.0)


def test_arguments_convert_and_broadcast() -> None:
    def kernel(x, n):
        halves = ct.astype(ct.load(x, 0, 8), ct.float16)
        ct.store(x, 0, hypotenuse(halves.reshape((2, 4)), 2).reshape((8,)))

    lines = body(kernel, array(), INT)
    assert any(
        re.search(r'= call %\d+, %\d+ \{name = "hypotenuse"\} : f32\[2,4\]$', x) for x in lines
    )
    assert any("= cast " in line and line.endswith(": f32[2,4]") for line in lines)
    whole = text(kernel, array(), INT)
    assert whole.count("\nsource ") == 1


def test_a_source_is_included_once() -> None:
    def kernel(x, n):
        tile = ct.load(x, 0, 8)
        ct.store(x, 0, hypotenuse(softplus(tile), hypotenuse(tile, wrapped(1, 2))))

    assert text(kernel, array(), INT).count("\nsource ") == 2


other_softplus = ct.device_function("__device__ float softplus(float x) { return x; }")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: softplus(), r"softplus\(\) takes 1 argument, got 0"),
        (lambda x: hypotenuse(x * 2), r"hypotenuse\(\) takes 2 arguments, got 1"),
        (lambda x: softplus(x=x), r"softplus\(\) of CUDA C\+\+ takes no named arguments"),
        (
            lambda x: softplus(ct.astype(x, ct.float64)),
            r"Argument 1 of softplus\(\): cannot implicitly cast float64 to float32",
        ),
        (lambda x: hypotenuse(x, "a"), r"Argument 2 of hypotenuse\(\): Expected a tile"),
        (lambda x: hypotenuse(x, ct.ones((3 + 1,), ct.float32)), "not broadcastable"),
        (
            lambda x: softplus(other_softplus(x)),
            r"softplus\(\) is defined twice by different CUDA C\+\+",
        ),
    ],
)
def test_wrong_calls_are_refused(function: Any, message: str) -> None:
    def kernel(x, n):
        function(ct.load(x, 0, 8))

    with pytest.raises(ct.TileTypeError, match=message):
        text(kernel, array(), INT)


def launched(device: Device, stream: Stream, kernel: Any, x: Any) -> Any:
    """Return what a kernel makes of an array, in which it works."""
    buffer = device.allocate(x.nbytes, stream=stream)
    buffer.copy_from(x, stream=stream)
    ct.launch(stream, (1,), kernel, (buffer.view(x.dtype),))
    result = np.empty_like(x)
    buffer.copy_to(result, stream=stream)
    stream.sync()
    return result


@ct.kernel
def mixed(x):
    tile = ct.load(x, 0, 64)
    ct.store(x, 0, hypotenuse(softplus(tile), 1) + twice(ct.astype(tile, ct.float16)) + always())


def test_kernels_call_it(device: Device, stream: Stream) -> None:
    x = np.linspace(-4, 4, 64).astype(np.float32)
    expected = np.hypot(np.log1p(np.exp(x)), 1) + 2 * x.astype(np.float16) + 1
    np.testing.assert_allclose(launched(device, stream, mixed, x), expected, rtol=1e-5)


misspelled = ct.device_function(
    """
    __device__ float misspelled(float x) {
        return expff(x);  // there is none
    }
    """
)


@ct.kernel
def misspelling(x):
    ct.store(x, 0, misspelled(ct.load(x, 0, 64)))


def test_errors_name_the_line_of_the_source(device: Device, stream: Stream) -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(ct.TileSyntaxError, match="expff") as caught:
        launched(device, stream, misspelling, x)
    assert "        return expff(x);  // there is none\n" in str(caught.value)
    assert caught.value.loc.filename == __file__
    assert caught.value.loc.line == misspelled.line + 2


def test_several_signatures_share_a_source(device: Device, stream: Stream) -> None:
    array = device.allocate(256, stream=stream).view(np.float32)
    convention = CallingConvention.cutile_python_v1()
    signatures = [
        KernelSignature.from_kernel_args(mixed, (each,), convention) for each in (array, array[1:])
    ]
    file = io.BytesIO()
    export_kernel(mixed, signatures, file, gpu_code="sm_90", output_format="ptx")
    assert file.getvalue().count(b".entry") == 2
    with pytest.raises(ct.TileSyntaxError, match="expff") as caught:
        export_kernel(misspelling, signatures, file, gpu_code="sm_90", output_format="ptx")
    assert caught.value.loc.line == misspelled.line + 2


@pytest.mark.parametrize(
    "rest",
    [
        "#define v0 17",
        "#define f32 double",
        "#define int char",
        "#define TILE_EACH(a, b) if (0)",
        "  #  define tid \\\n 3",
        "#ifdef NOWHERE\nstatic int g(int x) {\n#else\nstatic int g() {\n#endif\nreturn 1; }",
        "#define BEGIN {\nstatic int g() BEGIN return 1; }",
        "#define SEEN /*\n*/",
    ],
)
def test_a_source_leaves_what_is_generated_as_it_is(
    device: Device, stream: Stream, rest: str
) -> None:
    function = "__device__ float named(float x) { return 2 * x; }"
    named = ct.device_function(f"{function}\n{rest}")
    x = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(launched(device, stream, kernel_of(named), x), 2 * x)


def test_sources_guard_against_being_included_twice(device: Device, stream: Stream) -> None:
    shared = """
#ifndef SHARED
#define SHARED
__device__ float shared(float x) { return x + FACTOR; }
#endif
"""
    first, second = (
        ct.device_function(
            f"#define FACTOR {factor}\n{shared}"
            f"__device__ float f{factor}(float x) {{ return FACTOR * shared(x); }}",
            f"f{factor}",
        )
        for factor in (2, 3)
    )

    @ct.kernel
    def calls(x):
        ct.store(x, 0, second(first(ct.load(x, 0, 64))))

    x = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(launched(device, stream, calls, x), 3 * (2 * (x + 2) + 2))


@pytest.mark.parametrize(
    "source",
    [
        "__device__ float cudacore_tile(float x) { return x; }",
        "#include <cuda_fp16.h>\nint cudacore_tile; __device__ __half f(__half x) { return x; }",
        '#line 5 "elsewhere"\n__device__ float wrong(float x) { return y; }',
        "__device__ float wrong(float x) { return x; }\n/**/ #if 1",
        "#define __device__\n__device__ float wrong(float x) { return x; }\n#define cudacore_tile",
    ],
)
def test_faults_of_a_source_name_it(device: Device, stream: Stream, source: str) -> None:
    """Also where the compiler sees them in what is generated, or in another file."""
    fine = ct.device_function("__device__ float fine(float x) { return x; }")
    wrong = ct.device_function(source)
    dtype = wrong.parameters[0]

    @ct.kernel
    def calls(x):
        tile = fine(ct.load(x, 0, 64))
        ct.store(x, 0, wrong(ct.astype(tile, dtype)))

    with pytest.raises(ct.TileSyntaxError, match="CUDA C\\+\\+ that calls calls") as caught:
        launched(device, stream, calls, np.zeros(64, np.float32))
    assert (caught.value.loc.filename, caught.value.loc.line) == (wrong.file, wrong.line)


def kernel_of(function: Any) -> Any:
    """Return a kernel that calls a function of the user's."""

    @ct.kernel
    def calls(x):
        ct.store(x, 0, function(ct.load(x, 0, 64)))

    return calls


def test_another_source_is_another_kernel(device: Device, stream: Stream) -> None:
    x = np.ones(64, np.float32)
    for factor in (2, 3):
        scaled = ct.device_function(f"__device__ float scaled(float x) {{ return {factor} * x; }}")
        np.testing.assert_array_equal(
            launched(device, stream, kernel_of(scaled), x), np.full(64, factor)
        )
