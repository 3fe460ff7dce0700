# SPDX-License-Identifier: Apache-2.0
"""What appears in a notebook's cell besides what Python prints, and when."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cudacore
import pytest
from notebooks import FLAG, HELLO, SPIN, Notebook, extended, kernel, plain, reading_kernel


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
        "other = subprocess.Popen(['timeout', '60', 'sh', '-c', 'read x < gate; echo $x'])"
    )
    shown = each_notebook.works(
        "with open('gate', 'w') as gate: gate.write('later')\nother.wait(); os.remove('gate')"
    )
    assert shown.stdout == "later\n"


def test_dev_stdout_can_be_truncated(each_notebook: Notebook) -> None:
    each_notebook.works("import os")
    for _ in range(3):
        each_notebook.works("os.write(1, b'before\\n')")
        shown = each_notebook.works(
            "os.system('echo one > /dev/stdout; echo two; echo three >> /dev/stdout')"
        )
        assert shown.stdout == "one\ntwo\nthree\n"
    assert each_notebook.works("os.write(1, b'after\\n')").stdout == "after\n"


def test_a_child_that_ends_leaves_the_output_to_its_parent(each_notebook: Notebook) -> None:
    shown = each_notebook.works(
        "import os, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    status = 1\n"
        "    try:\n"
        "        os.write(1, b'child\\n')\n"
        "        get_ipython().magics_manager.registry['CudaMagics']._descriptor.close()\n"
        "        status = 0\n"
        "    finally:\n"
        "        os._exit(status)  # It must not go on as another kernel.\n"
        "assert os.waitpid(child, 0)[1] == 0"
    )
    assert shown.stdout == "child\n"
    assert each_notebook.works("_ = os.write(1, b'parent\\n')").stdout == "parent\n"


def test_output_goes_where_that_of_python_goes(each_notebook: Notebook) -> None:
    each_notebook.works(HELLO)
    shown = each_notebook.works("%%capture captured\nhello[1, 1](1)")
    assert shown.outputs == []
    assert each_notebook.works("print(repr(captured.stdout))").stdout == "'hello 1\\n'\n"


@pytest.mark.parametrize("start", [reading_kernel, kernel])
def test_loading_while_output_is_redirected(start: Any, tmp_path: Path) -> None:
    with start(tmp_path) as client:
        notebook = Notebook(client)
        notebook.works(
            "import contextlib, io\n"
            "with io.StringIO() as text, contextlib.redirect_stdout(text):\n"
            "    %load_ext cudacore"
        )
        notebook.works(HELLO)
        assert notebook.works("hello[1, 1](1)").stdout == "hello 1\n"


#: Gives up after 30 s.
UNTIL_SHOWN = """
def until_shown(line):
    os.write(1, line)
    for _ in range(300):
        if sys.stdout.getvalue() == line.decode():
            return
        time.sleep(0.1)
    raise TimeoutError(sys.stdout.getvalue())
"""


@pytest.mark.parametrize("broken", ["None", "closed", "io.BytesIO()"])
def test_a_broken_stdout_loses_no_output(each_notebook: Notebook, broken: str) -> None:
    each_notebook.works(f"import io, os, sys, time\n{UNTIL_SHOWN}")
    shown = each_notebook.works(
        "closed = io.StringIO(); closed.close()\n"
        f"stdout, sys.stdout = sys.stdout, {broken}\n"
        "try:\n"
        "    os.write(1, b'shown\\n'); time.sleep(0.5)\n"
        "    sys.stdout = io.StringIO()\n"
        "    until_shown(b'redirected\\n')\n"
        "finally:\n"
        "    sys.stdout = stdout"
    )
    assert shown.stdout == "shown\n"


def test_the_reader_outlives_errors(each_notebook: Notebook) -> None:
    shown = each_notebook.works(
        f"import io, os, sys, time\n{UNTIL_SHOWN}"
        "descriptor = get_ipython().magics_manager.registry['CudaMagics']._descriptor\n"
        "descriptor._file, file = -1, descriptor._file\n"
        "time.sleep(0.5)\n"
        "descriptor._file = file\n"
        "stdout, sys.stdout = sys.stdout, io.StringIO()\n"
        "try:\n"
        "    until_shown(b'shown\\n')\n"
        "finally:\n"
        "    sys.stdout = stdout"
    )
    assert shown.outputs == []


def test_loading_twice_is_loading_once(tmp_path: Path) -> None:
    with kernel(tmp_path) as client:
        notebook = Notebook(client)
        shown = notebook.works(
            "import cudacore, os\n"
            "before = os.fstat(1).st_ino\n"
            "for _ in range(2):\n"
            "    cudacore.load_ipython_extension(get_ipython())\n"
            "print(before == os.fstat(1).st_ino)"
        )
        assert shown.stdout == "False\n"
        notebook.works("cudacore.unload_ipython_extension(get_ipython())")
        assert notebook.works("print(before == os.fstat(1).st_ino)").stdout == "True\n"


@pytest.mark.parametrize("start", [reading_kernel, kernel])
def test_a_copy_goes_to_jupyters_log(start: Any, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, start(tmp_path, stdout=log) as client:
        notebook = extended(client)
        notebook.works(HELLO)
        assert notebook.works("hello[1, 1](1)").stdout == "hello 1\n"
        assert (tmp_path / "log").read_text() == "hello 1\n"
        notebook.works("import os\n%unload_ext cudacore\n_ = os.write(1, b'unloaded\\n')")
        # ipykernel copies it when it gets to it.
        deadline = time.monotonic() + 30
        while "unloaded" not in (tmp_path / "log").read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert (tmp_path / "log").read_text() == "hello 1\nunloaded\n"


def test_a_kernel_ends_quietly(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    with errors.open("w") as file, kernel(tmp_path, stderr=file) as client:
        extended(client)
    assert "Traceback" not in errors.read_text()


def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    unread, log = os.pipe()
    os.set_blocking(log, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(log, bytes(4096))
    os.set_blocking(log, True)
    with kernel(tmp_path, stdout=log) as client:
        notebook = extended(client)
        notebook.works(HELLO)
        assert notebook.works("hello[1, 1](1)").stdout == "hello 1\n"
        os.close(unread)
        assert notebook.works("hello[1, 1](2)").stdout == "hello 2\n"
    os.close(log)


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
    notebook.works(FLAG)
    assert "CudaMagics(Magics)" in notebook.works("%config CudaMagics").stdout
    notebook.works("%config CudaMagics.wait = False")
    try:
        notebook.works("run_until[1, 1](flag)")
    finally:
        notebook.works("word.value = 1\n%config CudaMagics.wait = True")


def updates(notebook: Notebook, cell: str) -> tuple[list[str], list[Any]]:
    """Run a cell; return the texts that it shows one after the other, and what is left of them."""
    seen: list[str] = []
    client = notebook._client
    process = client.process_message

    def record(message: Any, *rest: Any) -> Any:
        if message["msg_type"] in {"display_data", "update_display_data"}:
            seen.append(message["content"]["data"]["text/plain"])
        return process(message, *rest)

    client.process_message = record
    try:
        shown = notebook.works(cell)
    finally:
        client.process_message = process
    return seen, [output["data"] for output in shown.outputs]


EMPTY = {"text/plain": "", "text/html": ""}


def test_a_long_wait_is_told_and_then_removed(notebook: Notebook) -> None:
    notebook.works(SPIN)
    seen, left = updates(notebook, "spin[1, 1](1_300_000_000)")
    assert seen[0] == "Waiting for the device: 1 s"
    assert seen[-1] == ""
    assert left == [EMPTY]
    assert updates(notebook, "spin[1, 1](1)") == ([], [])


def test_a_long_compilation_is_told_and_then_removed(notebook: Notebook) -> None:
    notebook.works(
        "from cudacore._notebook import progress\n"
        "patience, progress.PATIENCE = progress.PATIENCE, 0.001"
    )
    try:
        seen, left = updates(notebook, f"%%cuda --quiet -D TIME={time.time_ns()}\n{SLOW}")
    finally:
        notebook.works("progress.PATIENCE = patience")
    # With so little patience, the wait at the end may be told as well.
    assert seen[:1] == ["Compiling: 0 s"]
    assert left[:1] == [EMPTY]


#: Takes some time to compile.
SLOW = """
template <int n> __device__ double sum(double x) { return sin(x * n) + sum<n - 1>(x); }
template <> __device__ double sum<0>(double x) { return x; }
__global__ void slow(double* x) { *x = sum<50>(TIME); }
"""


@pytest.mark.parametrize("last", ["", "device.sync()"])
def test_an_interrupt_ends_the_wait_and_the_cell(notebook: Notebook, last: str) -> None:
    notebook.works(SPIN)
    notebook.works(f"{FLAG}\nimport os, signal, threading")
    shown = notebook(
        "run_until[1, 1](flag)\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        f"{last}"
    )
    # Here, so that the next test finds an idle device, whatever this one says.
    notebook.works("word.value = 1")
    if last:
        assert shown.error.endswith("KeyboardInterrupt: ")
    else:
        assert shown.error == "KeyboardInterrupt: the device goes on with what the cell queued"


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


def test_a_kernels_fault_is_told_in_a_cell_that_fails_itself(
    tmp_path: Path, device: cudacore.Device
) -> None:
    with kernel(tmp_path) as client:
        notebook = extended(client)
        notebook.works("%%cuda --quiet\n__global__ void fault(int* p) {\n  *p = 1;\n}")
        shown = notebook("fault[1, 1](None)\n1 / 0")
        assert shown.error.endswith("ZeroDivisionError: division by zero")
        assert plain(shown.stderr).startswith("and the device: LaunchError: ")
        assert "fault" in shown.stderr
        assert notebook("2 / 0").stderr == ""  # told once


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
    told = os.read(ours, 1000)
    # On a slow machine, the compilation is told first.
    assert b"\r\x1b[KWaiting for the device: 1 s\r\x1b[K" in told
    assert told.endswith(b" s\r\x1b[K")
    os.close(ours)
