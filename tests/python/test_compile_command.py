# SPDX-License-Identifier: Apache-2.0
"""`python -m cudacore compile`."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cudacore
import pytest
from cudacore import ObjectCode
from cudacore.__main__ import main
from harness import ROOT, copy_package, environment, hide, run

SOURCE = """\
#include "near.h"
using real = float;
template <typename T> __global__ void axpy(T a, const T* x, T* y) { *y += a * *x * NEAR; }
__global__ void fill(int* p, int value) { *p = value; }
__constant__ float table[4];
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a source and a header beside it."""
    (tmp_path / "k.cu").write_text(SOURCE)
    (tmp_path / "near.h").write_text("#define NEAR 2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def usage_error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that is used wrongly; return what it says."""
    with pytest.raises(SystemExit) as exit_:
        main(["compile", *arguments])
    said = capsys.readouterr()
    assert (exit_.value.code, said.out) == (2, "")
    assert "usage: python -m cudacore compile SOURCE" in said.err
    return said.err.splitlines()[-1]


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that fails; return what it says."""
    assert main(["compile", *arguments]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_makes_a_fat_binary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["k.cu", "--arch", "sm_80,sm_90a", "-arch=compute_75", "--name", "axpy<float>"]
    assert main(["compile", *arguments]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    first, *kernels = said.out.splitlines()
    assert first.startswith("k.fatbin: ")
    assert first.endswith(" bytes for sm_80, sm_90a, compute_75")
    assert set(kernels) == {
        "  axpy<float>(float a, float const* x, float* y)", "  fill(int* p, int value)"
    }  # fmt: skip
    assert files(folder) == ["k.cu", "k.fatbin", "near.h"]
    code = ObjectCode.load("k.fatbin")
    assert set(code.kernels) == {"axpy<float>", "fill"}
    assert str(code.signature("axpy<float>")) == "axpy<float>(float, float const*, float*)"


def test_fat_binary_runs(folder: Path, device: cudacore.Device) -> None:
    device.set_current()
    arch = f"sm_{device.arch},compute_75"
    assert main(["compile", "k.cu", "--arch", arch, "-o", "run.fatbin"]) == 0
    buffer = device.allocate(4)
    code = ObjectCode.load("run.fatbin")
    code.get_kernel("fill")[1, 1](buffer, 5)
    assert buffer.to_host("i4").tolist() == [5]
    assert code.get_global("table").size == 16


@pytest.mark.parametrize("mode", ["size", "default"])
def test_compressed_fat_binary_runs(folder: Path, device: cudacore.Device, mode: str) -> None:
    device.set_current()
    arguments = ["k.cu", "--arch", "sm_80,sm_90,compute_75", "--compress-mode", mode]
    assert main(["compile", *arguments]) == 0
    code = ObjectCode.load("k.fatbin")
    with pytest.raises(cudacore.NotSupportedError, match="not compressed"):
        _ = code.kernels
    buffer = device.allocate(4)
    code.get_kernel("fill")[1, 1](buffer, 5)
    assert buffer.to_host("i4").tolist() == [5]


@pytest.mark.parametrize(
    ("arch", "output", "kind"),
    [("sm_90", "k.cubin", "cubin"), ("compute_90", "k.ptx", "ptx"), ("sm_90", "k.ptx", "ptx")],
)
def test_suffix_tells_what_to_make(
    folder: Path, capsys: pytest.CaptureFixture[str], arch: str, output: str, kind: str
) -> None:
    assert main(["compile", "k.cu", "--arch", arch, "-o", output]) == 0
    assert capsys.readouterr().out.startswith(f"{output}: ")
    code = ObjectCode.load(output)
    assert (code.code_type, code.kernels) == (kind, ("fill",))
    if kind == "ptx":
        assert b".target sm_90" in code.code


def test_options_of_nvcc(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "include").mkdir()
    (folder / "include" / "far.h").write_text("#define FAR 3\n")
    (folder / "first.h").write_text("#define FIRST 4\n")
    (folder / "options.cu").write_text("""
        #include "far.h"
        static_assert(FAR == 3 && FIRST == 4 && ONE == 1 && TWO == 2, "");
        static_assert(__cplusplus >= 202002L, "");
        #ifdef GONE
        #error GONE is defined
        #endif
        __global__ void f(float* p, int n) { p[0] = sinf(p[0]) / p[1]; int unused = n; }
    """)
    arguments = (
        "options.cu --arch compute_90 -o options.ptx -Iinclude -include first.h -DONE -D TWO=2 "
        "-DGONE -UGONE -std=c++20 -lineinfo --use_fast_math -- -w"
    )
    assert main(["compile", *arguments.split()]) == 0
    assert capsys.readouterr().err == ""
    ptx = Path("options.ptx").read_text()
    assert "sin.approx.ftz.f32" in ptx
    assert ".loc" in ptx


def test_options_of_the_assembler(folder: Path) -> None:
    loads = "".join(f"float a{i} = p[{i}]; " for i in range(64))
    total = " + ".join(f"a{i}" for i in range(64))
    (folder / "r.cu").write_text(f"__global__ void f(float* p) {{ {loads} p[0] = {total}; }}")
    codes = set()
    for options in ("", "-O0", "-maxrregcount=24"):
        assert main(["compile", "r.cu", "--arch", "sm_90", "-o", "r.cubin", *options.split()]) == 0
        codes.add(Path("r.cubin").read_bytes())
    assert len(codes) == 3


def test_debug_and_relocatable_code(folder: Path) -> None:
    (folder / "half.cu").write_text("__device__ int half(int n) { return n / 2; }")
    arguments = ["half.cu", "--arch", "compute_90", "-o", "half.ptx", "-G", "-rdc=true"]
    assert main(["compile", *arguments]) == 0
    ptx = Path("half.ptx").read_text()
    assert "half" in ptx
    assert "debug" in ptx


def test_warnings_are_shown_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "w.cu").write_text("__global__ void f() { int unused; }")
    assert main(["compile", "w.cu", "--arch", "sm_80,sm_90,compute_90"]) == 0
    assert capsys.readouterr().err.count("w.cu(1): warning") == 1


def test_alias_in_a_name_is_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--name", "axpy<real>", "--name", "axpy< float >", "--name", "&table"]
    assert main(["compile", "k.cu", "--arch", "sm_90", *names]) == 0
    explained = [line for line in capsys.readouterr().out.splitlines() if "is called" in line]
    assert explained == ["  axpy<real> is called axpy<float> in the file"]


def test_without_driver_and_in_a_process_of_its_own(folder: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "cudacore", "compile", "k.cu", "--arch", "sm_90"],
        check=False, capture_output=True, text=True, cwd=folder, timeout=120,
        env=environment(hide(folder / "hidden", "driver")),
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    assert (folder / "k.fatbin").exists()


@pytest.mark.parametrize("library", ["NVRTC", "nvFatbin"])
def test_missing_library(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, library: str
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    alone = copy_package(elsewhere / "alone")
    env = hide(elsewhere / "hidden", library)
    env["LD_LIBRARY_PATH"] = f"{env['LD_LIBRARY_PATH']}:{Path(cudacore.nvrtc_library()[1]).parent}"
    env["CUDACORE_CACHE"] = "0"  # a compilation that was kept would need no NVRTC
    script = """
        import runpy, sys
        sys.path.insert(0, sys.argv.pop(1))
        runpy.run_module("cudacore", run_name="__main__")
    """
    arguments = (str(alone), "compile", "k.cu", "--arch", "sm_90")
    result = run(script, *arguments, flags=("-I", "-S"), env=env, cwd=folder)
    assert (result.returncode, result.stdout) == (3, "")
    assert f"error: {library} could not be opened" in result.stderr
    assert "pip install nvidia-" in result.stderr
    assert files(folder) == ["k.cu", "near.h"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("", "required: SOURCE, --arch"),
        ("k.cu", "required: --arch"),
        ("--arch sm_90", "required: SOURCE"),
        ("k.cu other.cu --arch sm_90", "unrecognized arguments: other.cu"),
        ("k.cu --arch sm_90 --no-such-option", "unrecognized arguments: --no-such-option"),
        ("k.cu --arch 90", "'90' is neither sm_XX"),
        ("k.cu --arch sm_x", "'sm_x' is neither sm_XX"),
        ("k.cu --arch sm_90,", "'' is neither sm_XX"),
        ("k.cu --arch sm_90b", "'sm_90b' is neither sm_XX"),
        ("k.cu --arch sm_90,sm_80,sm_90", "sm_90 is listed twice"),
        ("k.cu --arch sm_90 --arch sm_90", "sm_90 is listed twice"),
        ("k.cu --arch sm_90 -o k.o", "-o k.o: what to make is told by the suffix"),
        ("k.cu --arch sm_90 -o k", "-o k: what to make is told by the suffix"),
        ("k.cu --arch sm_90,sm_80 -o k.cubin", "one architecture, not for sm_90, sm_80"),
        ("k.cu --arch sm_90,compute_90 -o k.ptx", "one architecture, not for sm_90, compute_90"),
        ("k.cu --arch compute_90 -o k.cubin", "not for compute_90, which is PTX"),
        ("k.cu --arch sm_90 -o no/such/k.fatbin", "there is no folder"),
        ("k.cu --arch sm_90 -o folder.fatbin", "is a folder"),
        ("missing.cu --arch sm_90", "SOURCE: there is no file missing.cu"),
        ("missing/k.cu --arch sm_90", "SOURCE: there is no file missing/k.cu"),
        ("folder.fatbin --arch sm_90", "SOURCE: folder.fatbin is a folder; name a file"),
        (". --arch sm_90", "SOURCE: . is a folder; name a file"),
        (".. --arch sm_90", "SOURCE: .. is a folder; name a file"),
        # Other options of nvcc, and beginnings of those that there are.
        ("k.cu --arch sm_90 -m 64", "unrecognized arguments: -m 64"),
        ("k.cu --arch sm_90 -m64", "unrecognized arguments: -m64"),
        ("k.cu --arch sm_90 -l cuda", "unrecognized arguments: -l cuda"),
        ("k.cu --arch sm_90 -u f", "unrecognized arguments: -u f"),
        ("k.cu --arch sm_90 -s", "unrecognized arguments: -s"),
        ("k.cu --arch sm_90 -r", "unrecognized arguments: -r"),
        ("k.cu --arch sm_90 -i near.h", "unrecognized arguments: -i near.h"),
        ("k.cu --arch sm_90 -c", "unrecognized arguments: -c"),
        ("k.cu --arch sm_90 -lineinf", "unrecognized arguments: -lineinf"),
        ("k.cu --arch sm_90 -st=c++20", "unrecognized arguments: -st=c++20"),
        ("k.cu --arch sm_90 --st c++20", "unrecognized arguments: --st c++20"),
        ("k.cu --arch sm_90 -O 7", "invalid choice: '7'"),
        ("k.cu --arch sm_90 --compress-mode zip", "invalid choice: 'zip'"),
        ("k.cu --arch sm_90 --maxrregcount many", "invalid int value: 'many'"),
    ],
)
def test_wrong_usage(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: str, why: str
) -> None:
    (folder / "folder.fatbin").mkdir()
    before = files(folder)
    assert why in usage_error(capsys, *arguments.split())
    assert files(folder) == before


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"__global__ void f() {\n  int a = b;\n}", 'bad.cu(2): error: identifier "b"'),
        (b"__global__ void f() {\n", 'error: expected a "}"'),
        (b"", "bad.cu: the source is empty"),
        (b"\x7fELF\x02\0\0\x03", "bad.cu: code has a null character at byte 5"),
        (bytes(range(1, 256)), "bad.cu(1): error:"),
        (b"#include <no_such.h>\n", "bad.cu(1): catastrophic error: cannot open source file"),
        (b"__device__ int x;", "bad.cu: it defines no kernel"),
        (b"template <class T> __global__ void f(T) {}", "--name 'kernel<float>'"),
    ],
)
def test_source_that_does_not_compile(
    folder: Path, capsys: pytest.CaptureFixture[str], content: bytes, why: str
) -> None:
    (folder / "bad.cu").write_bytes(content)
    (folder / "bad.fatbin").write_text("from before")
    said = failure(capsys, "bad.cu", "--arch", "sm_80,sm_90")
    assert why in said
    assert "Traceback" not in said
    assert files(folder) == ["bad.cu", "bad.fatbin", "k.cu", "near.h"]
    assert (folder / "bad.fatbin").read_text() == "from before"


def test_every_error_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.cu").write_text("__global__ void f() {\n  a;\n  b;\n}")
    said = failure(capsys, "bad.cu", "--arch", "sm_90")
    assert said.count('bad.cu(2): error: identifier "a"') == 1
    assert said.count('bad.cu(3): error: identifier "b"') == 1
    assert ".log" not in said


def test_the_log_comes_first_and_then_what_it_lacks(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.cu").write_text('#include "mine.h"\n')
    said = failure(capsys, "bad.cu", "--arch", "sm_90").splitlines()
    assert said[0] == 'bad.cu(1): catastrophic error: cannot open source file "mine.h"'
    first = next(number for number, line in enumerate(said) if line.startswith("error: "))
    assert said[first - 1] == ""
    assert said[first].startswith('error: nvrtcCompileProgram failed on "bad.cu"')
    assert said[first + 1] == "Searched for mine.h in: "
    assert said[-1] == "Name the folder that it is in: -I FOLDER"


def test_notes_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.cu").write_text("__global__ void f() {\n")
    assert 'to match this "{"' in failure(capsys, "bad.cu", "--arch", "sm_90")


@pytest.mark.parametrize("name", ["axpy<nothing>", "nothing", "axpy<", "axpy<float"])
def test_name_expression_that_does_not_compile(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    said = failure(capsys, "k.cu", "--arch", "sm_90", "--name", name)
    assert name in said
    assert files(folder) == ["k.cu", "near.h"]


def test_architecture_that_nvrtc_does_not_know(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = failure(capsys, "k.cu", "--arch", "sm_90,sm_33")
    assert "does not compile for sm_33, only for" in said
    assert files(folder) == ["k.cu", "near.h"]


def test_flag_that_nvrtc_does_not_know(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = failure(capsys, "k.cu", "--arch", "sm_90", "--", "--no-such-flag")
    assert "--no-such-flag" in said
    assert files(folder) == ["k.cu", "near.h"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_permissions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.cu").chmod(0)
    assert "Permission denied" in failure(capsys, "k.cu", "--arch", "sm_90")
    (folder / "k.cu").chmod(0o600)
    folder.chmod(0o500)
    assert "no permission" in usage_error(capsys, "k.cu", "--arch", "sm_90")
    folder.chmod(0o700)


def test_full_disk(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.fatbin").symlink_to("/dev/full")
    said = failure(capsys, "k.cu", "--arch", "sm_90")
    assert "No space left" in said
    assert "k.fatbin" in said
    assert files(folder) == ["k.cu", "k.fatbin", "near.h"]


def test_command_of_the_docs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "ahead-of-time.md").read_text()
    [command] = [
        line for line in page.splitlines() if line.startswith("python -m cudacore compile")
    ]
    (folder / "kernels.cu").write_text(SOURCE)
    assert main(shlex.split(command)[3:]) == 0
    assert "axpy<float>(" in capsys.readouterr().out
    assert ObjectCode.load("kernels.fatbin").code_type == "fatbin"


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_output_that_is_the_source(
    folder: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path, Path], None]
) -> None:
    make(Path("k.ptx"), Path("k.cu"))
    for source, output in (("k.cu", "k.ptx"), ("k.ptx", "k.ptx"), ("k.ptx", "./k.ptx")):
        arguments = [source, "--arch", "compute_90", "-o", output]
        assert "k.ptx is the source, k." in usage_error(capsys, *arguments)
    Path("k.fatbin").hardlink_to("k.cu")
    assert "-o k.fatbin is the source" in usage_error(capsys, "k.fatbin", "--arch", "sm_90")
    assert (folder / "k.cu").read_text() == SOURCE


def test_names_that_are_not_utf8(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source, header, output = (os.fsdecode(b"u\xff" + end) for end in (b".cu", b".h", b".fatbin"))
    Path("k.cu").rename(source)
    Path(header).write_text("#define NEARER\n")
    command = ["compile", source, "--arch", "sm_90", "-include", header]
    assert main(command) == 0
    assert capfd.readouterr().out.startswith("u\\xff.fatbin: ")
    assert set(ObjectCode.load(output).kernels) == {"fill"}
    Path(source).write_text("#warning careful\n__device__ int x;\n")
    assert main(command) == 1
    said = capfd.readouterr().err
    assert "u\\xff.cu(1): warning" in said
    assert "error: u\\xff.cu: it defines no kernel" in said
