# SPDX-License-Identifier: Apache-2.0
"""The program cache: what it returns is what the compiler would make, or nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cudacore import CompileError, Linker, ObjectCode, Program, cache
from harness import ARCH, environment, hide, run, run_cleanly

SOURCE = "__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }"
VALUE = "__global__ void value(int* p) { *p = VALUE; }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Give each test an empty cache."""
    before = cache.info()
    cache.set_folder(tmp_path / "cache")
    cache.enable()
    yield tmp_path / "cache"
    assert before.folder is not None
    cache.set_folder(before.folder)
    cache.set_max_size(before.max_size)
    if not before.is_enabled:
        cache.disable()


def outcome(work: Callable[[], Any]) -> tuple[str, Any]:
    """Return what the cache did for a compilation, and the result."""
    before = cache.info()
    result = work()
    after = cache.info()
    changed = [
        name
        for name in ("hits", "misses", "uncacheable")
        if getattr(after, name) != getattr(before, name)
    ]
    return " ".join(changed), result


def compile_ptx(source: str, *names: str, **options: object) -> ObjectCode:
    return Program(source, "c++", {"arch": ARCH, **options}).compile("ptx", names)


def done(source: str, *names: str, **options: object) -> str:
    """Return what the cache did for one compilation to PTX."""
    return outcome(lambda: compile_ptx(source, *names, **options))[0]


def value_of(code: ObjectCode) -> int:
    """Return the constant that the kernel of VALUE stores."""
    lines = code.code.decode().splitlines()
    return int(
        next(line.split()[-1].rstrip(";") for line in lines if "mov" in line and ", %" not in line)
    )


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


def test_an_edited_header(tmp_path: Path) -> None:
    header = tmp_path / "v.h"
    header.write_text("#define VALUE 1\n")
    stamp = header.stat()
    source = '#include "v.h"\n' + VALUE
    made = compile_ptx(source, include_path=[tmp_path])
    assert value_of(made) == 1
    assert done(source, include_path=[tmp_path]) == "hits"
    # Of the same size and age.
    header.write_text("#define VALUE 2\n")
    os.utime(header, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    how, found = outcome(lambda: compile_ptx(source, include_path=[tmp_path]))
    assert (how, value_of(found)) == ("misses", 2)
    header.write_text("#define VALUE 1\n")
    os.utime(header, (2**31, 2**31))
    how, found = outcome(lambda: compile_ptx(source, include_path=[tmp_path]))
    assert (how, value_of(found)) == ("hits", 1)
    header.unlink()
    with pytest.raises(CompileError, match=r"v\.h"):
        compile_ptx(source, include_path=[tmp_path])


def test_a_header_that_appears_earlier(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    (tmp_path / "second" / "v.h").write_text("#define VALUE 1\n")
    folders = [tmp_path / "first", tmp_path / "second"]
    source = "#include <v.h>\n" + VALUE
    assert value_of(compile_ptx(source, include_path=folders)) == 1
    (tmp_path / "first" / "v.h").write_text("#define VALUE 2\n")
    how, found = outcome(lambda: compile_ptx(source, include_path=folders))
    assert (how, value_of(found)) == ("misses", 2)


def test_a_nested_header_beside_its_includer(tmp_path: Path) -> None:
    (tmp_path / "lib" / "detail").mkdir(parents=True)
    (tmp_path / "lib" / "a.h").write_text('#include "detail/b.h"\n')
    (tmp_path / "lib" / "detail" / "b.h").write_text('#include "../v.h"\n')
    (tmp_path / "lib" / "v.h").write_text("#define VALUE 1\n")
    source = "#include <lib/a.h>\n" + VALUE
    assert value_of(compile_ptx(source, include_path=[tmp_path])) == 1
    assert done(source, include_path=[tmp_path]) == "hits"
    (tmp_path / "lib" / "v.h").write_text("#define VALUE 3\n")
    assert value_of(compile_ptx(source, include_path=[tmp_path])) == 3


def test_headers_that_are_asked_for(tmp_path: Path) -> None:
    source = """
    #if __has_include("v.h")
    #define VALUE 2
    #else
    #define VALUE 1
    #endif
    """ + VALUE  # fmt: skip
    assert value_of(compile_ptx(source, include_path=[tmp_path])) == 1
    (tmp_path / "v.h").touch()
    assert value_of(compile_ptx(source, include_path=[tmp_path])) == 2
    (tmp_path / "v.h").unlink()
    assert value_of(compile_ptx(source, include_path=[tmp_path])) == 1


def test_headers_named_by_macros(tmp_path: Path) -> None:
    (tmp_path / "v.h").write_text("#define VALUE 1\n")
    by_definition = '#define OTHER "v.h"\n#define HEADER OTHER\n#include HEADER\n' + VALUE
    by_option = "#include HEADER\n" + VALUE
    options: dict[str, object] = {"include_path": [tmp_path]}
    with_macro = options | {"define_macro": ("HEADER", '"v.h"')}
    for expected in (1, 2):
        (tmp_path / "v.h").write_text(f"#define VALUE {expected}\n")
        assert value_of(compile_ptx(by_definition, **options)) == expected
        assert value_of(compile_ptx(by_option, **with_macro)) == expected
        assert done(by_definition, **options) == done(by_option, **with_macro) == "hits"
    pasted = "#define TEXT(x) #x\n#define HEADER(x) TEXT(x.h)\n#include HEADER(v)\n" + VALUE
    for expected in (3, 4):
        (tmp_path / "v.h").write_text(f"#define VALUE {expected}\n")
        how, code = outcome(lambda: compile_ptx(pasted, **options))
        assert (how, value_of(code)) == ("uncacheable", expected)
    assert "HEADER" in cache.info().uncacheable_reason


@pytest.mark.parametrize(
    "has",
    [
        "#define HAS(x) __has_include(x)",
        "#define A(...) __has_include(__VA_ARGS__)\n#define HAS(x) A(x)",
    ],
)
@pytest.mark.parametrize("place", ["header", "option"])
def test_headers_that_are_asked_for_by_a_macro(tmp_path: Path, has: str, place: str) -> None:
    (tmp_path / "has.h").write_text(has if place == "header" else "")
    source = """
    #include <has.h>
    #if HAS(<lib/v.h>)
    #define VALUE 2
    #else
    #define VALUE 1
    #endif
    """ + VALUE  # fmt: skip
    options: dict[str, Any] = {"include_path": [tmp_path]}
    if place == "option":
        definitions = [line.removeprefix("#define ") for line in has.splitlines()]
        options["define_macro"] = [tuple(line.split(" ", 1)) for line in definitions]
    assert value_of(compile_ptx(source, **options)) == 1
    assert done(source, **options) == "hits"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "v.h").touch()
    assert value_of(compile_ptx(source, **options)) == 2
    assert done(source, **options) == "hits"
    unknown = source + "#define HEADER <lib/v.h>\n#if HAS(HEADER)\n#endif\n"
    assert done(unknown, **options) == "uncacheable"
    assert "macro with HAS" in cache.info().uncacheable_reason


def test_macros_within_the_names_of_headers(tmp_path: Path) -> None:
    (tmp_path / "lib" / "mine").mkdir(parents=True)
    source = """
    #define KIND mine
    #define ROOT lib/KIND
    #define HEADER <ROOT/v.h>
    #include HEADER
    """ + VALUE  # fmt: skip
    for value in (1, 2):
        (tmp_path / "lib" / "mine" / "v.h").write_text(f"#define VALUE {value}\n")
        assert value_of(compile_ptx(source, include_path=[tmp_path])) == value
        assert done(source, include_path=[tmp_path]) == "hits"
    pasted = "#define PASTE(x) x\n" + source.replace("lib/KIND", "lib/PASTE(KIND)")
    assert done(pasted, include_path=[tmp_path]) == "uncacheable"
    assert "PASTE(KIND)" in cache.info().uncacheable_reason


def test_pre_included_headers(tmp_path: Path) -> None:
    header = tmp_path / "v.h"
    for value in (1, 2):
        header.write_text(f"#define VALUE {value}\n")
        assert value_of(compile_ptx(VALUE, pre_include=[header])) == value


def test_headers_in_memory_include_files(tmp_path: Path) -> None:
    source = "#include <in/memory.h>\n" + VALUE
    options: dict[str, Any] = {
        "headers": {"in/memory.h": '#include "v.h"\n'}, "include_path": [tmp_path],
    }  # fmt: skip
    for value in (1, 2):
        (tmp_path / "v.h").write_text(f"#define VALUE {value}\n")
        assert value_of(compile_ptx(source, **options)) == value


def test_links_to_headers(tmp_path: Path) -> None:
    for value in (1, 2):
        (tmp_path / f"version{value}").mkdir()
        (tmp_path / f"version{value}" / "v.h").write_text(f"#define VALUE {value}\n")
    link = tmp_path / "current"
    for value in (1, 2, 1):
        link.unlink(missing_ok=True)
        link.symlink_to(f"version{value}")
        assert value_of(compile_ptx('#include "v.h"\n' + VALUE, include_path=[link])) == value


def test_headers_that_include_each_other_by_dots(tmp_path: Path) -> None:
    for mine, other in (("a", "b"), ("b", "a")):
        (tmp_path / mine).mkdir()
        (tmp_path / mine / "x.h").write_text(f'#pragma once\n#include "../{other}/x.h"\n')
    (tmp_path / "v.h").write_text('#include "a/x.h"\n#define VALUE 1\n')
    assert done('#include "v.h"\n' + VALUE, include_path=[tmp_path]) == "misses"
    assert done('#include "v.h"\n' + VALUE, include_path=[tmp_path]) == "hits"


def test_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (1, 2):
        (tmp_path / str(value)).mkdir()
        (tmp_path / str(value) / "v.h").write_text(f"#define VALUE {value}\n")
    for value in (1, 2, 1):
        monkeypatch.chdir(tmp_path / str(value))
        assert value_of(compile_ptx('#include "v.h"\n' + VALUE)) == value
        assert value_of(compile_ptx('#include "v.h"\n' + VALUE, include_path=["."])) == value
    # Debug information names it; nothing else does.
    monkeypatch.chdir(tmp_path / "1")
    assert done(SOURCE) == "misses"
    assert done(SOURCE, lineinfo=True) == "misses"
    monkeypatch.chdir(tmp_path / "2")
    assert done(SOURCE) == "hits"
    assert done(SOURCE, lineinfo=True) == "misses"


CUDAS_HEADERS = {
    "cooperative groups": """
        #include <cooperative_groups.h>
        __global__ void f() { cooperative_groups::this_thread_block().sync(); }""",
    "CUB": """
        #include <cub/block/block_reduce.cuh>
        __global__ void f(int* p) { *p = cub::BlockReduce<int, 32>().Sum(*p); }""",
    "radix sort": """
        #include <cub/block/block_radix_sort.cuh>
        __global__ void f() {}""",
    "mdspan": """
        #include <cuda/std/mdspan>
        __global__ void f() {}""",
    "half": """
        #include <cuda_fp16.h>
        __global__ void f(__half* p) { *p = __hadd(*p, *p); }""",
    "stdint": """
        #include <stdint.h>
        __global__ void f(uint32_t* p) { *p = 1; }""",
    "C": """
        #include <stdio.h>
        #include <math.h>
        __global__ void f() { printf("%d", (int)M_PI); }""",
}


@pytest.mark.parametrize("source", CUDAS_HEADERS.values(), ids=CUDAS_HEADERS)
def test_cudas_headers_are_cached(source: str) -> None:
    if not cudacore.include_directories():
        pytest.skip("CUDA's headers are not installed")
    first, made = outcome(lambda: compile_ptx(source))
    second, found = outcome(lambda: compile_ptx(source))
    assert (first, second) == ("misses", "hits"), cache.info().uncacheable_reason
    assert found.code == made.code


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
        (-1, ValueError), (2**64, ValueError),
    ],
)  # fmt: skip
def test_wrong_max_size(folder: Path, size: Any, error: type[Exception]) -> None:
    before = cache.info().max_size
    with pytest.raises(error, match=rf"cache\.set_max_size\({size!r}\): give"):
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


COMPILE = f"""
import cudacore
from cudacore import cache
code = cudacore.Program({SOURCE!r}, "c++", {{"arch": "{ARCH}"}}).compile("cubin")
info = cache.info()
print(info.hits, info.misses, info.failures, info.problem)
"""


def variables(folder: Path, **others: str) -> dict[str, str | None]:
    return {"CUDACORE_CACHE_DIR": str(folder), "CUDACORE_CACHE": None, **others}


def test_another_process(folder: Path) -> None:
    assert run_cleanly(COMPILE, env=variables(folder)).split() == ["0", "1", "0"]
    assert run_cleanly(COMPILE, env=variables(folder)).split() == ["1", "0", "0"]
    off = run_cleanly(COMPILE, env=variables(folder, CUDACORE_CACHE="0"))
    assert off.split() == ["0", "0", "0"]


def test_a_hit_does_not_load_nvrtc(folder: Path) -> None:
    script = COMPILE + "print('libnvrtc' in open('/proc/self/maps').read())\n"
    assert run_cleanly(script, env=variables(folder)).split()[-1] == "True"
    assert run_cleanly(script, env=variables(folder)).split()[-1] == "False"


def test_a_hit_needs_no_nvrtc(folder: Path, tmp_path: Path) -> None:
    run_cleanly(COMPILE, env=variables(folder))
    # As if the wheels were gone.
    missing = "import cudacore._paths\ncudacore._paths.wheel_roots = list\n"
    env = {**hide(tmp_path / "hidden", "NVRTC", "nvJitLink"), **variables(folder)}
    env["PYTHONPATH"] = os.environ.get("PYTHONPATH")
    result = run(missing + COMPILE, env=env)
    assert result.stdout.split() == ["1", "0", "0"], result.stderr
    cache.clear()
    result = run(missing + COMPILE, env=env)
    assert "LibraryNotFoundError" in result.stderr


def test_the_list_of_compilers_is_checked(folder: Path) -> None:
    compile_ptx(SOURCE)
    [known] = folder.glob("*/compilers/NVRTC")
    content = known.read_bytes()
    known.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    before = cache.info().failures
    assert done(SOURCE + "//") == "misses"  # which reads the list, and makes it again
    assert cache.info().failures == before + 1
    assert "compilers/NVRTC was damaged" in cache.info().problem
    assert known.read_bytes() == content
    assert cache.clear() == 2
    assert not known.exists()


def test_many_processes_at_once(folder: Path) -> None:
    script = f"""
    import sys
    import cudacore
    for i in range(4):
        source = {SOURCE!r} + "//" + str(i)
        code = cudacore.Program(source, "c++", {{"arch": "{ARCH}"}}).compile("ptx")
        assert code.signature("fill")
    """
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: run(script, env=variables(folder)), range(4)))
    assert [result.stderr for result in results] == [""] * 4
    assert cache.usage().entries == 4


def test_after_a_fork() -> None:
    compile_ptx(SOURCE)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if done(SOURCE) == "hits" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads() -> None:
    made = compile_ptx(SOURCE).code
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: compile_ptx(SOURCE).code, range(64)))
    assert codes == [made] * 64


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


def command(*arguments: str, env: dict[str, str | None]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudacore", "cache", *arguments],
        check=False, capture_output=True, text=True, env=environment(env),
    )  # fmt: skip


def test_the_command_shows_and_clears(folder: Path) -> None:
    compile_ptx(SOURCE)
    shown = command(env=variables(folder))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert str(folder) in shown.stdout
    assert "entries   1" in shown.stdout
    assert "1.0 GiB" in shown.stdout
    found = json.loads(command("--json", env=variables(folder)).stdout)
    assert found["entries"] == 1
    assert found["size"] == cache.usage().size
    assert found["folder"] == str(folder)
    cleared = command("clear", env=variables(folder))
    assert (cleared.returncode, cleared.stdout) == (0, "removed 1 entry\n")
    assert cache.usage().entries == 0


def test_the_command_says_what_is_wrong(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    shown = command(env=variables(folder))
    assert shown.returncode == 1
    assert "can be written to by other users" in shown.stdout
    cleared = command("clear", env=variables(folder))
    assert cleared.returncode == 1
    assert "cannot clear the cache" in cleared.stderr
    assert "Traceback" not in cleared.stderr
    size = command(env=variables(folder, CUDACORE_CACHE_MAX_SIZE="lots"))
    assert "CUDACORE_CACHE_MAX_SIZE=lots is no size" in size.stdout
    assert command("burn", env=variables(folder)).returncode == 2
    off = command(env=variables(folder.parent / "other", CUDACORE_CACHE="off"))
    assert "switched off" in off.stdout
    assert off.returncode == 0
