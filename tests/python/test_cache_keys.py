# SPDX-License-Identifier: Apache-2.0
"""The key of the program cache: whatever changes the result changes it, or there is none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cached_programs import compile_ptx, done, folder, outcome, value_of
from cudacore import Linker, LinkerOptions, Program, cache
from harness import ARCH, run_cleanly

__all__ = ["folder"]  # a fixture

VALUE = "\n__global__ void value(int* p) { *p = V; }\n"


def check(work: Callable[[], Any], change: Callable[[], object]) -> None:
    """Assert that `work` gives what it should after a change, which must make a difference."""
    work()
    before = work()
    change()
    how, after = outcome(work)
    assert after != before
    assert "hits" not in how


def reads(header: Path, source: str, **fields: object) -> None:
    """Assert that a program that includes a header sees its new content."""
    header.write_text("#define V 71117\n")
    check(
        lambda: value_of(compile_ptx(source + VALUE, **fields)),
        lambda: header.write_text("#define V 82228\n"),
    )


@pytest.mark.parametrize(
    "flag", ["-D H=<x.h>", "--define-macro= H=<x.h>", "-D\tH=<x.h>", "--define-macro=H=<x.h> "]
)
def test_nvrtc_trims_macros(tmp_path: Path, flag: str) -> None:
    reads(tmp_path / "x.h", "#include H", include_path=str(tmp_path), options=[flag])


def test_macros_of_the_option_are_trimmed(tmp_path: Path) -> None:
    reads(
        tmp_path / "x.h",
        "#include H",
        include_path=str(tmp_path),
        define_macro=[(" H", "<x.h>")],
    )


REGISTERS = """
extern "C" __global__ void f(float* p, int n) {
  float a[64];
  for (int i = 0; i < 64; i++) a[i] = p[i * n];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i * 7) % 64] + j;
  for (int i = 0; i < 64; i++) p[i] = a[i];
}
"""


@pytest.mark.parametrize("flags", [["-optf={}"], ["--options-file={}"], ["-optf", "{}"]])
def test_files_with_options_of_ptxas(tmp_path: Path, flags: list[str]) -> None:
    file = tmp_path / "opts"
    given = [flag.format(file) for flag in flags]
    file.write_text("-O1\n")
    program = Program(REGISTERS, "c++", {"arch": ARCH, "ptxas_options": given})
    check(
        lambda: program.compile("cubin").code,
        lambda: file.write_text("-O3 -maxrregcount=24\n"),
    )
    assert "ptxas" in cache.info().uncacheable_reason


def test_files_with_options_of_the_linker(tmp_path: Path) -> None:
    file = tmp_path / "opts"
    file.write_text("-O1\n")
    ptx = Program(REGISTERS, "c++", {"arch": ARCH}).compile("ptx")
    options = LinkerOptions(arch=ARCH, ptxas_options=[f"-optf={file}"])
    check(
        lambda: Linker(ptx, options=options).link("cubin").code,
        lambda: file.write_text("-O3 -maxrregcount=24\n"),
    )
    assert "ptxas" in cache.info().uncacheable_reason


def test_plain_flags_of_ptxas_are_cached() -> None:
    flags = ["-v", "-O2", "--maxrregcount=32", "-dlcm=ca", "--warn-on-spills"]
    program = Program(REGISTERS, "c++", {"arch": ARCH, "ptxas_options": flags})
    assert outcome(lambda: program.compile("cubin"))[0] == "misses"
    assert outcome(lambda: program.compile("cubin"))[0] == "hits"


def test_the_environment_may_change_meanwhile(tmp_path: Path) -> None:
    output = run_cleanly(
        f"""
        import os, threading
        from cudacore import cache, Program
        cache.set_folder({str(tmp_path / "c")!r})
        source = "__global__ void k(int* p) {{}}"
        stop = False
        def work():
            while not stop:
                Program(source, "c++", {{"arch": "{ARCH}"}}).compile("ptx")
        Program(source, "c++", {{"arch": "{ARCH}"}}).compile("ptx")
        thread = threading.Thread(target=work)
        thread.start()
        for i in range(6000):
            os.environ[f"V{{i}}"] = "x" * 10
        stop = True
        thread.join()
        print("survived")
        """
    )
    assert output == "survived\n"


def test_forked_children_find_the_cache_free(tmp_path: Path) -> None:
    output = run_cleanly(
        f"""
        import os, signal, threading, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from cudacore import cache
        cache.set_folder({str(tmp_path / "c")!r})
        stop = False
        def work():
            while not stop:
                cache.info()
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        failed = 0
        for _ in range(200):
            child = os.fork()
            if child == 0:
                signal.alarm(5)
                cache.info()
                os._exit(0)
            failed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
        stop = True
        for thread in threads:
            thread.join()
        print("failed", failed)
        """
    )
    assert output == "failed 0\n"


def test_a_cache_without_its_tally_stays_small(folder: Path) -> None:
    cache.set_max_size(200_000)
    assert done("__global__ void f() {}") == "misses"
    tally = folder / "programs-1" / "tally"
    tally.unlink()
    tally.mkdir()
    failures = cache.info().failures
    for i in range(60):
        assert done(f"__global__ void f{i}() {{}}") == "misses"
    assert cache.usage().size <= 200_000
    assert cache.info().failures > failures
    assert "tally" in cache.info().problem


@pytest.mark.parametrize("name", ["NV_NVVM_VERSION", "FINALIZER_USE_LEGACY_ELF_BUILDER", "NVVM_X"])
def test_variables_that_compilers_read(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    source = "__global__ void f() {}"
    assert (done(source), done(source)) == ("misses", "hits")
    monkeypatch.setenv(name, "0")
    assert done(source) == "misses"


def test_folder_that_the_code_contains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    program = Program("__global__ void f(int* p) { *p = 1; }", "c++", {"arch": ARCH})
    for place in (tmp_path, tmp_path / "real"):
        monkeypatch.chdir(place)
        made = [program.compile("ltoir", cache=use).code for use in (True, False)]
        assert made[0] == made[1]
    for name in ("real", "link"):
        monkeypatch.setenv("PWD", str(tmp_path / name))
        debug = Program("__global__ void f() {}", "c++", {"arch": ARCH, "debug": True})
        assert str(tmp_path / name).encode() in debug.compile("ptx").code
