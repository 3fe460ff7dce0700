# SPDX-License-Identifier: Apache-2.0
"""``%%cuda``, in the kernel that Jupyter runs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from notebooks import HELLO, Notebook, extended, kernel, plain, reading_kernel

SCALE = """
__global__ void scale(float* values, int count, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}
"""

#: Prints the names that cells have defined.
NAMES = "print(*(name for name in vars() if name[0] != '_'))"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    with reading_kernel(tmp_path_factory.mktemp("notebook")) as client:
        yield extended(client)


def test_kernels_become_python_names(notebook: Notebook) -> None:
    shown = notebook.works(f"%%cuda{SCALE}")
    assert shown.stdout == "scale(float* values, int count, float factor)\n"
    assert shown.stderr == ""
    shown = notebook.works(
        "import array\n"
        "values = array.array('f', range(4))\n"
        "with device.to_device(values) as buffer:\n"
        "    scale[1, 32](buffer, 4, 3)\n"
        "    buffer.copy_to(values)\n"
        "    device.sync()\n"
        "print(*values)"
    )
    assert shown.stdout == "0.0 3.0 6.0 9.0\n"


def test_names_are_spelled_as_python_does(notebook: Notebook) -> None:
    notebook.works(
        "%%cuda --name 'ﬁ=f<1>' --name 'ﬁrst=f<2>' --object ﬁle\n"
        "template <int n> __global__ void f(int* p) { *p = n; }"
    )
    shown = notebook.works("print(fi.name, ﬁ.name, first.name, type(file).__name__)")
    assert shown.stdout == "f<1> f<1> f<2> ObjectCode\n"


def test_redefinition_replaces_the_kernel(notebook: Notebook) -> None:
    for number in (1, 2):
        notebook.works(f"%%cuda\n__global__ void twice(int* p) {{ *p = {number}; }}")
        shown = notebook.works(
            "with device.allocate(4) as buffer:\n"
            "    twice[1, 1](buffer)\n"
            "    got = buffer.copy_to(bytearray(4)); device.sync()\n"
            "print(got[0])"
        )
        assert shown.stdout == f"{number}\n"


def test_several_kernels_templates_overloads_namespaces_and_variables(notebook: Notebook) -> None:
    shown = notebook.works(
        "%%cuda --name 'axpy<float>' --name saxpy='axpy<double, 2>' --name '&coefficients'"
        " --object code\n"
        "template <typename T, int n = 1> __global__ void axpy(T a, T* y) { *y += a * n; }\n"
        "namespace inner { __global__ void first(int*) {} }\n"
        "__global__ void second(float) {}\n"
        "__global__ void second(int) {}\n"
        "__constant__ float coefficients[4];"
    )
    assert shown.stdout.splitlines() == [
        "axpy_float = axpy<float, 1>(float a, float* y)",
        "saxpy = axpy<double, 2>(double a, double* y)",
        "coefficients: 16 bytes of coefficients",
        "second_float = second(float)",
        "second_int = second(int)",
        "inner_first = inner::first(int*)",
    ]
    shown = notebook.works("print(coefficients.size, code.kernels[0], second_int.name)")
    assert shown.stdout == "16 second(float) second\n"


def test_options(notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "own.cuh").write_text("constexpr int factor = 3;\n")
    notebook.works("n = 7")
    shown = notebook.works(
        f"%%cuda --std=c++20 -I {tmp_path} -D COUNT={{n}} -DEMPTY --arch sm_90 "
        "--option=-DRAW=1 --object code\n"
        "#include <own.cuh>\n"
        "#include <cuda_fp16.h>\n"
        "#if !defined(EMPTY) || !defined(RAW)\n#error EMPTY RAW\n#endif\n"
        "template <typename T> concept Any = true;\n"
        "__global__ void options(__half* p) { *p = COUNT * factor; }"
    )
    assert shown.stdout == "options(__half* p)\n"
    assert ".target sm_90" in notebook.works("print(code.ptx)").stdout


@pytest.mark.parametrize("spelled", ["-std=c++20 -arch=sm_90", "-std c++20 -arch sm_90"])
def test_options_spelled_as_nvccs(notebook: Notebook, spelled: str) -> None:
    notebook.works(
        f"%%cuda {spelled} --object code\n"
        "template <typename T> concept Any = true;\n__global__ void spelled() {}"
    )
    assert ".target sm_90" in notebook.works("print(code.ptx)").stdout


def test_header_beside_the_notebook(notebook: Notebook) -> None:
    notebook.works("with open('beside.cuh', 'w') as file: file.write('#define BESIDE 1')")
    notebook.works('%%cuda\n#include "beside.cuh"\n__global__ void beside(int* p) { *p = BESIDE; }')


def test_quiet(notebook: Notebook) -> None:
    shown = notebook.works("%%cuda --quiet\n__global__ void quiet() { int unused = 1; }")
    assert shown.outputs == []


def test_warnings_stand_beside_their_lines(notebook: Notebook) -> None:
    shown = notebook.works("%%cuda\n\n__global__ void warns() {\n  int unused = 1;\n}")
    assert plain(shown.stderr).splitlines() == [
        'line 4: warning #177-D: variable "unused" was declared but never referenced',
        "      3 __global__ void warns() {",
        "----> 4   int unused = 1;",
        "              ^",
    ]
    assert shown.stdout == "warns()\n"


def test_errors_stand_beside_their_lines(notebook: Notebook) -> None:
    notebook.works("wrong = None")
    shown = notebook(
        "%%cuda\n__global__ void wrong(int* p) {\n\t*p = 1 // größer: 大\n\tx = 2;\n  y = 3;\n}"
    )
    assert shown.error.splitlines() == [
        "CompileError: 2 errors",
        'line 4: error: expected a ";"',
        "      3 \t*p = 1 // größer: 大",
        "----> 4 \tx = 2;",
        "        \t^",
        'line 5: error: identifier "y" is undefined',
        "      4 \tx = 2;",
        "----> 5   y = 3;",
        "          ^",
    ]
    assert "Traceback" not in shown.error
    assert notebook.works("print(wrong)").stdout == "None\n"
    # The whole log is there, and the exception is that of Program.compile().
    assert "cell.cu(4): error" in notebook.works("import sys; print(sys.last_value.log)").stdout


def test_carets_stand_below_wide_characters(notebook: Notebook) -> None:
    shown = notebook('%%cuda\n__global__ void wide() { const char* s = "大é"; y; }')
    *_, line, caret = [line for line in shown.error.splitlines() if "y" in line or "^" in line]
    # The first character takes two columns.
    assert caret.index("^") == line.index("y;") + 1


def test_lines_are_those_of_the_notebook(notebook: Notebook) -> None:
    # Python would end a line at these characters, too.
    shown = notebook("%%cuda\n// \u2028 \f \x1c\n__global__ void f() { x; /* \u2028 \f */ }")
    assert "----> 3 __global__ void f() { x; /* \u2028 \f */ }" in shown.error.split("\n")


def test_only_the_first_errors_are_shown(notebook: Notebook) -> None:
    body = "".join(f"  a{number} = 1;\n" for number in range(20))
    shown = notebook(f"%%cuda\n__global__ void many() {{\n{body}}}")
    assert shown.error.startswith("CompileError: 20 errors")
    assert shown.error.count("---> ") == 5
    assert "(and 15 more; sys.last_value.log has all of them)" in shown.error


def test_an_error_in_a_header_names_it(notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "broken.cuh").write_text("\nint f( {\n")
    shown = notebook(f"%%cuda -I {tmp_path}\n#include <broken.cuh>\n__global__ void g() {{}}")
    assert "broken.cuh, line 2: error: " in shown.error
    assert "----> 2 int f( {" in shown.error


def test_a_missing_header_comes_with_advice(notebook: Notebook) -> None:
    shown = notebook("%%cuda\n#include <vector>\n__global__ void g() {}")
    assert "----> 2 #include <vector>" in shown.error
    assert "host's C++ standard library cannot be used" in shown.error


def test_a_missing_header_of_ones_own_needs_an_option(notebook: Notebook) -> None:
    shown = notebook('%%cuda\n#include "mine.cuh"\n__global__ void g() {}')
    assert shown.error.rstrip().endswith("\nName the folder that it is in: -I FOLDER")
    assert "include_path" not in shown.error


def test_notes_follow_their_errors(notebook: Notebook) -> None:
    shown = notebook(
        "%%cuda\n__device__ void f(int*);\n__device__ void f(float*);\n"
        "__global__ void g(char* p) {\n  f(p);\n"
    )
    heads = [line for line in shown.error.splitlines() if re.match(r"(line \d+|at the end)", line)]
    assert [head.partition(" #")[0].partition(' "')[0] for head in heads] == [
        "line 5: error: no instance of overloaded function",
        "line 3: note",
        "line 2: note",
        "at the end of the cell: error: expected a",
        "line 4: note",
    ]


def test_an_error_inside_a_template_says_where_it_was_instantiated(notebook: Notebook) -> None:
    shown = notebook(
        "%%cuda\n"
        "template <typename T> __device__ auto size(T value) { return value.size; }\n"
        "__global__ void g(int* p) { *p = size(1); }"
    )
    assert "----> 2 template" in shown.error
    assert "detected during instantiation" in re.sub(r"\s+", " ", shown.error)


def test_a_wrong_name_expression_is_shown(notebook: Notebook) -> None:
    shown = notebook("%%cuda --name axpy\ntemplate <typename T> __global__ void axpy(T* y) {}")
    assert '--name: error: cannot determine which instance of function template "axpy"' in (
        shown.error
    )
    assert "----->  axpy" in shown.error
    assert 'say which instance, as in "axpy<float>"' in shown.error


@pytest.mark.parametrize(
    ("line", "body", "said"),
    [
        ("--nmae f", "__global__ void f() {}", "unrecognized arguments: --nmae f"),
        ("--std", "__global__ void f() {}", "argument --std/-std: expected one argument"),
        ("stray", "__global__ void f() {}", "unrecognized arguments: stray"),
        ("--name 'f<int>", "__global__ void f() {}", "No closing quotation: --name 'f<int>"),
        ("--name ''", "__global__ void f() {}", "'' names nothing; write 'axpy<float>'"),
        ("--name g=", "__global__ void f() {}", "'g=' names nothing; write 'axpy<float>'"),
        ("", "__device__ int f() { return 1; }", "the cell defines no kernel. Write __global__"),
        ("", "// Nothing.", "the cell defines no kernel. Write __global__"),
        ("", "__global__ void print() {}", "print would hide print, which Python defines"),
        ("", "__global__ void lambda() {}", "lambda can't be named 'lambda' in Python; choose"),
        ("", "__global__ void In() {}", "In would hide In, which Python defines; choose"),
        ("--name def=f", "__global__ void f() {}", "f can't be named 'def' in Python; choose"),
        ("--object f", "__global__ void f() {}", "f and the ObjectCode would both be named f"),
        ("--object 'a b'", "__global__ void f() {}", "another name, such as --object my_a_b"),
        (
            "--name 'f<int>' --name 'f<int*>'",
            "template <typename T> __global__ void f(T) {}",
            "both be named f_int; choose another name, such as --name my_f_int='f<int*>'",
        ),
    ],
)  # fmt: skip
def test_wrong_use_is_told_in_one_line(notebook: Notebook, line: str, body: str, said: str) -> None:
    before = notebook.works(NAMES).stdout
    shown = notebook(f"%%cuda {line}\n{body}")
    assert shown.stderr.startswith("UsageError: ")
    assert said in shown.stderr
    assert shown.stdout == ""
    assert notebook.works(NAMES).stdout == before


def test_an_empty_cell_and_a_line_are_refused(notebook: Notebook) -> None:
    assert "%%cuda is a cell magic, but the cell body is empty" in notebook("%%cuda").stderr
    assert "%%cuda" in notebook("%cuda x").stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--arch sm_1", 'ValueError: arch "sm_1" is not a GPU architecture'),
        ("--std c++99", "take c++17 or c++20"),
        ("--option=--nothing", "NotSupportedError: "),
        ("-D 1x", "CompileError: "),
        ("--name '&nothing'", 'identifier "nothing" is undefined'),
    ],
)
def test_what_the_compiler_refuses_is_shown_without_our_traceback(
    notebook: Notebook, line: str, said: str
) -> None:
    shown = notebook(f"%%cuda {line}\n__global__ void f() {{}}")
    assert said in shown.error
    assert "magic.py" not in shown.error


def test_other_names_for_kernels_with_names_of_python(notebook: Notebook) -> None:
    shown = notebook.works("%%cuda --name show=print\n__global__ void print() {}")
    assert shown.stdout == "show = print()\n"
    assert notebook.works("print(show.name)").stdout == "print\n"


def test_a_name_given_twice_counts_once(notebook: Notebook) -> None:
    shown = notebook.works(
        "%%cuda --name 'ft<float>' --name 'ft<float>'\n"
        "template <typename T> __global__ void ft(T* p) {}"
    )
    assert shown.stdout == "ft_float = ft<float>(float* p)\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_option_compiles_nothing(notebook: Notebook, option: str) -> None:
    shown = notebook.works(f"%%cuda {option}\nnot C++")
    assert "--name <[PYTHON=]EXPRESSION>" in shown.stdout


def test_help(notebook: Notebook) -> None:
    assert notebook.works("%%cuda?").outputs == []  # a pager shows it
    shown = notebook.works("print(get_ipython().find_cell_magic('cuda').__doc__)")
    assert "--name <[PYTHON=]EXPRESSION>" in shown.stdout


def test_an_error_can_be_caught(notebook: Notebook) -> None:
    shown = notebook.works(
        "try:\n"
        "    get_ipython().run_cell_magic('cuda', '', 'x')\n"
        "except cudacore.CompileError as error:\n"
        "    caught = error\n"
        "caught"
    )
    assert "<pre" in shown.html


def test_loading_again_and_unloading(notebook: Notebook) -> None:
    shown = notebook.works("%load_ext cudacore")
    assert "already loaded" in shown.stdout
    notebook.works("%unload_ext cudacore")
    assert "Cell magic `%%cuda` not found" in notebook(f"%%cuda\n{SCALE}").stderr
    assert "not loaded" in notebook("%unload_ext cudacore").stdout
    notebook.works("%load_ext cudacore\n%reload_ext cudacore")
    notebook.works(HELLO)
    assert notebook.works("hello[1, 1](1)").stdout == "hello 1\n"


def test_a_cell_without_cuda_uses_no_driver(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").touch()
    env = {"CUDACORE_DRIVER": "native", "LD_LIBRARY_PATH": str(tmp_path)}
    with kernel(tmp_path, env=env) as client:
        notebook = Notebook(client)
        notebook.works("%load_ext cudacore\nimport cudacore")
        assert notebook.works("print(1)").stdout == "1\n"
        shown = notebook("%%cuda\n__global__ void f() {}")
        assert "DriverNotFoundError: " in shown.error
        assert "magic.py" not in shown.error
