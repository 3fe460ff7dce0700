# SPDX-License-Identifier: Apache-2.0
"""The notebook extension, in the kernel that Jupyter runs; the notebooks of the documentation."""

import copy
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import cudacore
import pytest
from harness import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

SCALE = """
__global__ void scale(float* values, int count, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}
"""
HELLO = '%%cuda --quiet\n__global__ void hello(int n) { printf("hello %d\\n", n); }'


class Shown(NamedTuple):
    """What a cell showed."""

    outputs: list[Any]

    def stream(self, name: str) -> str:
        return "".join(o.text for o in self.outputs if o.output_type == "stream" and o.name == name)

    @property
    def stdout(self) -> str:
        return self.stream("stdout")

    @property
    def stderr(self) -> str:
        return self.stream("stderr")

    @property
    def error(self) -> str:
        """The traceback as text; the cell must have failed."""
        [error] = [output for output in self.outputs if output.output_type == "error"]
        return plain("\n".join(error.traceback))

    @property
    def html(self) -> str:
        return "".join(o.data.get("text/html", "") for o in self.outputs if "data" in o)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Notebook:
    """Runs cells one after the other."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __call__(self, source: str) -> Shown:
        cells = self._client.nb.cells
        cells.append(nbformat.v4.new_code_cell(source))
        self._client.execute_cell(cells[-1], len(cells) - 1)
        return Shown(cells[-1].outputs)

    def works(self, source: str) -> Shown:
        shown = self(source)
        errors = [output for output in shown.outputs if output.output_type == "error"]
        assert errors == [], plain("\n".join(errors[0].traceback))
        return shown


@contextmanager
def kernel(
    folder: Path, notebook: Any = None, env: Mapping[str, str] | None = None
) -> Iterator[Any]:
    client = nbclient.NotebookClient(
        notebook or nbformat.v4.new_notebook(), timeout=60, kernel_name="python3",
        allow_errors=True, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    with client.setup_kernel(
        env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), **(env or {})}
    ):
        yield client


@contextmanager
def reading_kernel(folder: Path, notebook: Any = None) -> Iterator[Any]:
    """Start a kernel that reads descriptor 1, as ipykernel does without pytest."""
    with pytest.MonkeyPatch.context() as patch:
        # ipykernel looks at this variable.
        patch.delenv("PYTEST_CURRENT_TEST")
        with kernel(folder, notebook) as client:
            yield client


def extended(client: Any) -> Notebook:
    """Load the extension."""
    notebook = Notebook(client)
    notebook.works("%load_ext cudacore\nimport cudacore\ndevice = cudacore.Device()")
    return notebook


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    with reading_kernel(tmp_path_factory.mktemp("notebook")) as client:
        yield extended(client)


@pytest.fixture(scope="module")
def unread_notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    with kernel(tmp_path_factory.mktemp("unread")) as client:
        yield extended(client)


@pytest.fixture(params=["notebook", "unread_notebook"])
def each_notebook(request: pytest.FixtureRequest) -> Notebook:
    """The outputs of kernels are shown in both."""
    return request.getfixturevalue(request.param)


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
        ("--std", "__global__ void f() {}", "argument --std: expected one argument"),
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
        ("--object 'a b'", "__global__ void f() {}", "can't be named 'a b' in Python"),
        (
            "--name 'f<int>' --name 'f<int*>'",
            "template <typename T> __global__ void f(T) {}",
            "both be named f_int; choose another with --name, such as my_f_int='f<int*>'",
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
        ("--arch sm_1", 'ValueError: arch "sm_1" is no GPU architecture'),
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


def test_printf_appears_in_the_cell_that_launched(each_notebook: Notebook) -> None:
    each_notebook.works(HELLO)
    for number in range(20):
        shown = each_notebook.works(f"hello[1, 1]({number})")
        assert shown.stdout == f"hello {number}\n"


def test_much_output_is_complete(each_notebook: Notebook) -> None:
    each_notebook.works(
        "%%cuda --quiet\n"
        '__global__ void much() { for (int i = 0; i < 8000; ++i) printf("%0100d\\n", i); }'
    )
    shown = each_notebook.works("much[1, 1]()")
    # More than a pipe holds, and less than the driver's buffer.
    assert shown.stdout.splitlines() == [f"{number:0100}" for number in range(8000)]


def test_output_of_other_code_stays(each_notebook: Notebook) -> None:
    each_notebook.works(HELLO)
    shown = each_notebook.works("import os, sys\nprint('before')\nhello[1, 1](1)\nprint('after')")
    # The order is that in which the outputs become known.
    assert sorted(shown.stdout.splitlines()) == ["after", "before", "hello 1"]
    # Descriptor 1 is as it was.
    shown = each_notebook.works("os.write(1, b''); print(os.fstat(1).st_ino)")
    each_notebook.works("hello[1, 1](2)")
    assert each_notebook.works("print(os.fstat(1).st_ino)").stdout == shown.stdout


def test_output_of_another_process_is_shown_when_it_comes(each_notebook: Notebook) -> None:
    each_notebook.works(
        "import os, subprocess\n"
        "os.mkfifo('gate')\n"
        "other = subprocess.Popen(['sh', '-c', 'read line < gate; echo $line'])"
    )
    shown = each_notebook.works(
        "with open('gate', 'w') as gate: gate.write('later')\nother.wait(); os.remove('gate')"
    )
    assert shown.stdout == "later\n"


def test_text_that_is_not_utf8(each_notebook: Notebook) -> None:
    each_notebook.works('%%cuda --quiet\n__global__ void raw() { printf("\\xff|大\\n"); }')
    assert each_notebook.works("raw[1, 1]()").stdout == "\ufffd|大\n"


def test_printf_of_a_cell_that_waits_itself(notebook: Notebook) -> None:
    notebook.works(HELLO)
    for number in range(20):
        shown = notebook.works(f"hello[1, 1]({number})\ndevice.sync()")
        assert shown.stdout == f"hello {number}\n"


def test_no_wait_by_choice(notebook: Notebook) -> None:
    notebook.works(SPIN)
    assert "CudaMagics(Magics)" in notebook.works("%config CudaMagics").stdout
    notebook.works("%config CudaMagics.wait = False")
    try:
        begin = time.monotonic()
        notebook.works("spin[1, 1](1_500_000_000)")
        assert time.monotonic() - begin < 1
    finally:
        notebook.works("%config CudaMagics.wait = True")


NAMES = "print(*(name for name in vars() if name[0] != '_'))"

#: A kernel that takes a given time.
SPIN = """%%cuda --quiet
__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}
__global__ void spin(long long nanoseconds) {
  for (unsigned long long start = now(); now() - start < nanoseconds;);
}
"""


def test_a_long_wait_is_told_and_then_removed(notebook: Notebook) -> None:
    notebook.works(SPIN)
    seen: list[str] = []
    client = notebook._client
    original = client.output

    def record(outputs: Any, message: Any, display_id: Any, cell_index: Any) -> Any:
        seen.append(message["content"].get("data", {}).get("text/plain", ""))
        return original(outputs, message, display_id, cell_index)

    client.output = record
    try:
        shown = notebook.works("spin[1, 1](1_300_000_000)")
    finally:
        client.output = original
    assert seen == ["Waiting for the device: 1 s"]
    assert [output.data for output in shown.outputs] == [{"text/plain": "", "text/html": ""}]
    assert notebook.works("spin[1, 1](1)").outputs == []


def test_an_interrupt_ends_the_wait_and_the_cell(notebook: Notebook) -> None:
    notebook.works(SPIN)
    notebook.works("import os, signal, threading")
    begin = time.monotonic()
    shown = notebook(
        "spin[1, 1](3_000_000_000)\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()"
    )
    assert time.monotonic() - begin < 2.5
    assert shown.error == "KeyboardInterrupt: the device goes on with what the cell queued"
    notebook.works("device.sync()")


def test_a_kernels_fault_fails_the_cell_that_launched_it(
    tmp_path: Path, device: cudacore.Device
) -> None:
    with kernel(tmp_path) as client:
        notebook = Notebook(client)
        notebook.works("%load_ext cudacore\nimport cudacore")
        notebook.works("%%cuda\n__global__ void fault(int* p) {\n  *p = 1;\n}")
        shown = notebook("fault[1, 1](None)\nprint('launched')")
        assert shown.stdout == "launched\n"
        assert shown.error.startswith("LaunchError: ")
        assert "fault" in shown.error
        assert "site-packages" not in shown.error
        # The cells after it run, and say why CUDA does not.
        assert notebook.works("print(1)").stdout == "1\n"
        shown = notebook("cudacore.Device().sync()")
        assert "ContextLostError" in shown.error


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


def ipython(script: str, tmp_path: Path, *flags: str, stderr: int = subprocess.PIPE) -> str:
    """Run a script in IPython in a terminal; return its standard output."""
    (tmp_path / "script.ipy").write_text(script)
    result = subprocess.run(
        [sys.executable, "-m", "IPython", "--quick", *flags, "script.ipy"],
        cwd=tmp_path, env={**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")},
        stdout=subprocess.PIPE, stderr=stderr, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert not result.stderr, result.stderr
    return result.stdout


def test_in_a_terminal(tmp_path: Path) -> None:
    said = ipython(
        "%load_ext cudacore\n"
        "shell = get_ipython()\n"
        f"shell.run_cell({HELLO!r})\n"
        "shell.run_cell('hello[1, 1](1)')\n"
        "failed = shell.run_cell('%%cuda\\n__global__ void f() { x; }')\n"
        "print(type(failed.error_in_exec).__name__)\n",
        tmp_path, "--colors=NoColor",
    )  # fmt: skip
    assert said.splitlines() == [
        "hello 1",
        "CompileError: 1 error",
        'line 2: error: identifier "x" is undefined',
        "----> 2 __global__ void f() { x; }",
        "                              ^",
        "CompileError",
    ]


def test_a_long_wait_is_told_in_a_terminal(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    said = ipython(
        "%load_ext cudacore\n"
        f"get_ipython().run_cell({SPIN!r})\n"
        "get_ipython().run_cell('spin[1, 1](1_300_000_000)')\n"
        "print('done')",
        tmp_path, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    assert said == "done\n"
    assert os.read(ours, 1000) == b"\r\x1b[KWaiting for the device: 1 s\r\x1b[K"
    os.close(ours)


def test_objects_are_shown_without_the_extension(tmp_path: Path) -> None:
    with kernel(tmp_path) as client:
        shown = Notebook(client).works("import cudacore\ncudacore.Device().allocate(2**20)")
        assert "1 MiB (1,048,576 bytes)" in shown.html


def blocks(page: Path) -> Iterator[tuple[bool, str]]:
    """Yield the cells of a page, and whether each is to fail."""
    pattern = r"(<!-- fails -->\n)?```ipython\n(.*?)\n```"
    for block in re.finditer(pattern, page.read_text(), re.DOTALL):
        yield block[1] is not None, block[2]


def test_page(tmp_path: Path, device: cudacore.Device) -> None:
    page = ROOT / "docs" / "notebooks.md"
    with reading_kernel(tmp_path) as client:
        notebook = Notebook(client)
        for fails, cell in blocks(page):
            if fails:
                assert notebook(cell).error in page.read_text()
            else:
                shown = notebook.works(cell)
            if cell.startswith("greet["):
                assert shown.stdout == "".join(f"Hello from thread {n}\n" for n in range(4))
    assert "daxpy" not in shown.html
    assert "axpy&lt;double&gt;(double a" in shown.html


def said(outputs: list[Any]) -> list[Any]:
    """Return what a cell shows, without what differs from run to run."""
    return [
        (output.output_type, output.get("data") or output.get("text") or output.get("traceback"))
        for output in outputs
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.ipynb")), ids=lambda p: p.name)
def test_notebook_of_the_documentation(path: Path, tmp_path: Path, device: cudacore.Device) -> None:
    stored = nbformat.read(path, as_version=4)
    executed = copy.deepcopy(stored)
    with reading_kernel(tmp_path, executed) as client:
        for number, cell in enumerate(executed.cells):
            client.execute_cell(cell, number)
    for before, after in zip(stored.cells, executed.cells, strict=True):
        if before.cell_type == "code" and "varies" not in before.metadata.get("tags", []):
            assert said(after.outputs) == said(before.outputs), before.source
