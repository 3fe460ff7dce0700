# SPDX-License-Identifier: Apache-2.0
"""The program cache: what it returns is what the compiler would make, or nothing."""

import os
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cached_programs import SOURCE, compile_ptx, done, folder, outcome
from cudacore import CompileError, Linker, Program, cache, testing
from harness import ARCH

__all__ = ["folder"]  # a fixture


def test_second_compilation_hits(folder: Path) -> None:
    program = Program(SOURCE, "c++", {"arch": ARCH, "name": "a.cu"})
    first, made = outcome(lambda: program.compile("cubin"))
    second, found = outcome(lambda: program.compile("cubin"))
    assert (first, second) == ("misses", "hits")
    assert found.code == made.code
    assert found.code_type == made.code_type == "cubin"
    assert found.name == "a.cu"
    assert found.ptx == made.ptx != ""
    assert str(found.signature("fill")) == str(made.signature("fill"))
    assert "p" in str(found.signature("fill"))
    assert cache.usage().entries == 1
    assert (folder.stat().st_mode & 0o777) == 0o700


@pytest.mark.parametrize("target", ["ptx", "cubin", "ltoir"])
def test_each_target(target: str) -> None:
    program = Program(SOURCE, "c++", {"arch": ARCH})
    made = program.compile(target)  # type: ignore[arg-type]
    how, found = outcome(lambda: program.compile(target))  # type: ignore[arg-type]
    assert how == "hits"
    assert (found.code, found.code_type) == (made.code, target)


def test_templates_keep_their_names() -> None:
    source = "template <typename T> __global__ void axpy(T a, T* x) { *x += a; }"
    names = ["axpy<float>", "axpy< double >"]
    made = compile_ptx(source, *names)
    how, found = outcome(lambda: compile_ptx(source, *names))
    assert how == "hits"
    assert found.symbol_mapping == made.symbol_mapping
    assert set(found.symbol_mapping) == set(names)
    assert str(found.signature("axpy<float>")) == str(made.signature("axpy<float>"))
    assert done(source, "axpy<int>") == "misses"


def test_the_log_is_kept() -> None:
    source = "__global__ void f(int* p) { int unused; *p = 1; }"
    program = Program(source, "c++", {"arch": ARCH})
    program.compile("ptx")
    warning = program.log
    assert "unused" in warning
    again = Program(source, "c++", {"arch": ARCH})

    class Logs:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

    logs = Logs()
    assert outcome(lambda: again.compile("ptx", logs=logs))[0] == "hits"
    assert again.log == logs.text == warning


def test_everything_given_counts() -> None:
    assert done(SOURCE) == "misses"
    assert done(SOURCE + " ") == "misses"
    assert done(SOURCE, arch="sm_80") == "misses"
    assert done(SOURCE, name="other") == "misses"
    assert done(SOURCE, define_macro="X=1") == "misses"
    assert done(SOURCE, define_macro=("X", "2")) == "misses"
    assert done(SOURCE, std="c++20") == "misses"
    assert done(SOURCE, headers={"a.h": ""}) == "misses"
    assert done(SOURCE, headers={"a.h": " "}) == "misses"
    assert done(SOURCE, options=["--restrict"]) == "misses"
    assert done(SOURCE) == "hits"


def test_the_environment_of_the_compiler_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert done(SOURCE) == "misses"
    monkeypatch.setenv("NVRTC_DISABLE_CONCURRENT_NVVM", "1")
    assert done(SOURCE) == "misses"


def test_errors_are_not_kept() -> None:
    for _ in range(2):
        with pytest.raises(CompileError):
            compile_ptx("nonsense")
    assert cache.usage().entries == 0


@pytest.mark.parametrize(
    ("source", "options", "reason"),
    [
        ("__device__ const char* when() { return __DATE__; }", {}, "__DATE__"),
        (SOURCE, {"time": True}, "--time"),
        (SOURCE, {"fdevice_time_trace": "trace.json"}, "--fdevice-time-trace"),
        (SOURCE, {"pch": True}, "--pch"),
    ],
)
def test_what_depends_on_more(
    source: str, options: dict[str, object], reason: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    if options and cudacore.system.get_nvrtc_version() < (12, 9):
        pytest.skip("needs NVRTC 12.9")
    for _ in range(2):
        assert done(source, **options) == "uncacheable"
    assert reason in cache.info().uncacheable_reason
    assert cache.usage().entries == 0


def test_linked_programs() -> None:
    caller = "extern __device__ int g(); __global__ void f(int* p) { *p = g(); }"
    options = {"arch": ARCH, "relocatable_device_code": True}
    parts = [
        Program(text, "c++", options).compile("cubin")
        for text in (caller, "__device__ int g() { return 7; }")
    ]
    first, made = outcome(lambda: Linker(*parts, options={"arch": ARCH}).link())
    linker = Linker(*parts, options={"arch": ARCH})
    second, found = outcome(linker.link)
    assert (first, second) == ("misses", "hits")
    assert found.code == made.code
    assert found.ptx == made.ptx
    assert linker.get_error_log() == ""
    assert str(found.signature("f")) == str(made.signature("f"))
    other = Program("__device__ int g() { return 8; }", "c++", options).compile("cubin")
    assert outcome(Linker(parts[0], other, options={"arch": ARCH}).link)[0] == "misses"
    assert outcome(Linker(*parts, options={"arch": ARCH, "debug": True}).link)[0] == "misses"
    timed = Linker(*parts, options={"arch": ARCH, "time": True})
    assert outcome(timed.link)[0] == "uncacheable"
    assert outcome(lambda: linker.link(cache=False))[0] == ""


def test_ptx_programs() -> None:
    text = compile_ptx(SOURCE).code
    program = Program(text, "ptx", {"arch": ARCH})
    first, made = outcome(lambda: program.compile("cubin"))
    second, found = outcome(lambda: program.compile("cubin"))
    assert (first, second) == ("misses", "hits")
    assert (found.code, found.ptx) == (made.code, made.ptx)
    assert outcome(lambda: program.compile("cubin", cache=False))[0] == ""


def test_switched_off() -> None:
    program = Program(SOURCE, "c++", {"arch": ARCH})
    assert outcome(lambda: program.compile("ptx", cache=False))[0] == ""
    cache.disable()
    assert outcome(lambda: program.compile("ptx"))[0] == ""
    assert outcome(lambda: program.compile("ptx", cache=True))[0] == ""
    assert not cache.info().is_enabled
    assert cache.usage().entries == 0
    cache.enable()
    assert outcome(lambda: program.compile("ptx"))[0] == "misses"
    with pytest.raises(TypeError, match="cache"):
        program.compile("ptx", cache="yes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cache"):
        Linker(program.compile("ptx"), options={"arch": ARCH}).link(cache=1)  # type: ignore[arg-type]


def test_content_that_is_no_program(folder: Path) -> None:
    find, store = cudacore._core.cache_find, cudacore._core.cache_store
    assert find(b"key") is None
    assert store(b"key", b"content\0")
    assert (find(b"key"), find(b"Key")) == (b"content\0", None)
    cache.disable()
    assert find(b"key") is None
    assert not store(b"key", b"other")
    cache.enable()
    [entry] = (path for path in folder.rglob("*") if len(path.name) > 60)
    entry.write_bytes(entry.read_bytes()[:-1])
    assert find(b"key") is None
    assert not entry.exists()
    for wrong in ("key", None):
        with pytest.raises(TypeError):
            find(wrong)  # type: ignore[arg-type]


def test_clearing() -> None:
    compile_ptx(SOURCE)
    assert cache.usage().size > 0
    assert cache.clear() == 1
    assert cache.usage() == cache.Usage(0, 0)
    assert done(SOURCE) == "misses"


def test_a_folder_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    before = cache.info().failures
    assert done(SOURCE) == "misses"
    assert done(SOURCE) == "misses"
    assert cache.info().failures > before
    assert f"{folder} can be written to by other users" in cache.info().problem
    assert cache.usage().entries == 0
    with pytest.raises(cudacore.CUDAError, match="cannot clear the cache"):
        cache.clear()
    folder.chmod(0o700)
    assert done(SOURCE) == "misses"
    assert done(SOURCE) == "hits"
    with pytest.raises(ValueError, match="cache.set_folder: the folder's path is empty"):
        cache.set_folder("")


def test_folder_in_the_home(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    cache.set_folder("~/mine")
    assert cache.info().folder == tmp_path / "mine"
    with pytest.raises(ValueError, match="no such user: '~no such user'"):
        cache.set_folder("~no such user")
    assert cache.info().folder == tmp_path / "mine"


@pytest.mark.parametrize(
    ("size", "error"),
    [
        (True, TypeError), ("1G", TypeError), (1.5, TypeError), (None, TypeError),
        (-1, ValueError), (2**63, OverflowError),
    ],
)  # fmt: skip
def test_wrong_max_size(folder: Path, size: Any, error: type[Exception]) -> None:
    before = cache.info().max_size
    with pytest.raises(error, match=r"cache\.set_max_size: size must "):
        cache.set_max_size(size)
    assert cache.info().max_size == before


def test_damaged_entries_are_made_again(folder: Path) -> None:
    made = compile_ptx(SOURCE)
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "tally":
            damaged = bytearray(file.read_bytes())
            damaged[len(damaged) // 2] ^= 4
            file.write_bytes(damaged)
    how, again = outcome(lambda: compile_ptx(SOURCE))
    assert (how, again.code) == ("misses", made.code)
    assert done(SOURCE) == "hits"


def test_module_lists_its_names() -> None:
    for module in (cache, cudacore.system, testing):
        assert set(dir(module)) == set(module.__all__)


def test_the_users_own_cache_is_left_alone() -> None:
    """What these tests write goes elsewhere."""
    assert "CUDACORE_CACHE_DIR" in os.environ


def test_the_device_chooses(device: cudacore.Device) -> None:
    program = Program(SOURCE, "c++")
    first, made = outcome(program.compile)
    second, found = outcome(program.compile)
    assert (first, second) == ("misses", "hits")
    assert (found.code, found.code_type) == (made.code, made.code_type)
    kernel = found.get_kernel("fill")
    with device.create_stream() as stream, device.allocate(128) as buffer:
        kernel[1, 32, stream](buffer, 7)
        stream.sync()
