# SPDX-License-Identifier: Apache-2.0
"""The program cache and headers: whatever may be read counts."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cached_programs import SOURCE, VALUE, compile_ptx, done, folder, outcome, value_of
from cudacore import CompileError, Program, cache
from harness import ARCH

__all__ = ["folder"]  # a fixture


CHARS = "__device__ const char*"


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


@pytest.mark.parametrize(
    "before",
    ["// a\\\\\n\n", "// a\\\\\r\n\r\n", "#define A 1 \\\\\n\n", "/* \\\\\n\n*/\n"],
    ids=repr,
)
def test_what_looks_like_a_continuation_when_lines_are_joined(tmp_path: Path, before: str) -> None:
    source = before + '#include "v.h"\n' + VALUE
    for value in (1, 2):
        (tmp_path / "v.h").write_text(f"#define VALUE {value}\n")
        assert value_of(compile_ptx(source, include_path=[tmp_path])) == value


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("#include <config>", "config.stdh"),
        ('#define C(a,b,c) a##b##c\n#if C(__has,_,include)("x.h")', "x.h"),
        (f"{CHARS} z(){{return'a/*'?0:0;}}\n#define H \"x.h\"\n#if __has_include(H)// */", "x.h"),
        ("#define W x\n#define ID(a) a\n#if ID(__has_include(<W.h>))", "x.h"),
        ("#define H <v/__cplusplus/x.h>\n#include H", "v/201703L/x.h"),
        ('#include CUDARTAPI "x.h"', "x.h"),
        ("#define W x\n#define H <a$W.h>\n#include H", "a$x.h"),
        ("#define W x\n/* 1\n 2 /* 3\n 4 */ #define HAS __has_include(<W.h>)\n#if HAS", "x.h"),
        ('#define ifdef\n#if ifdef __has_include("x.h")', "x.h"),
        (f'#define BAR\n{CHARS} a = BAR"(x";\n{CHARS} b = "/*";\n#if __has_include("x.h")', "x.h"),
    ],
    ids=repr,
)
def test_odd_ways_to_name_a_header(tmp_path: Path, source: str, name: str) -> None:
    """Never stale; what can't be known isn't cached."""
    if "#if" in source:
        source += "\n#define VALUE 2\n#else\n#define VALUE 1\n#endif"
    header = tmp_path / name
    header.parent.mkdir(parents=True, exist_ok=True)
    for value in (1, 2):
        if value == 2 or "#if" not in source:
            header.write_text("#pragma once\n" if "#if" in source else f"#define VALUE {value}\n")
        options = {"include_path": [tmp_path], "std": "c++17"}
        assert value_of(compile_ptx(f"{source}\n{VALUE}", **options)) == value


def test_header_that_is_there_only_while_the_compiler_runs(tmp_path: Path) -> None:
    """What was compiled with it isn't kept."""
    header = tmp_path / "x.h"
    source = (
        '#if __has_include("x.h")\n#define VALUE 2\n#else\n#define VALUE 1\n#endif\n'
        "template<int N> __device__ int f(int a) { return f<N - 1>(a * N) + N; }\n"
        "template<> __device__ int f<0>(int a) { return a; }\n"
        "__device__ int use(int a) { return f<150>(a); }\n" + VALUE
    )
    thread = threading.Thread(target=compile_ptx, args=(source,), kwargs={"include_path": tmp_path})
    thread.start()
    for _ in range(50):
        header.touch()
        header.unlink(missing_ok=True)
    header.touch()
    time.sleep(0.02)
    header.unlink()
    thread.join()
    assert value_of(compile_ptx(source, include_path=tmp_path)) == 1


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\v"])
def test_folder_that_ends_with_a_blank(tmp_path: Path, blank: str) -> None:
    for value in (1, 2):
        (tmp_path / "v.h").write_text(f"#define VALUE {value}\n")
        made = compile_ptx('#include "v.h"\n' + VALUE, include_path=[f"{tmp_path}{blank}"])
        assert value_of(made) == value


@pytest.mark.parametrize(
    "source",
    [
        "// " + "*/#include <" * 20_000,
        "#if 0\n" + "__has_include(<" * 1000 + "a" * 1_000_000 + ">)\n#endif",
        "#if 0\n#define H <foo/v0.h>\n#include H\n"
        + "".join(f"#define v{i} v{i + 1}\n" for i in range(5000))
        + "#endif",
        " " * 200_000 + "\n#if 0\n" + "#define __has_include(x) 0\n" * 5000 + "#endif",
        "#if 0\n" + "\n" * 100_000 + "defined(__has_include)\n" * 5000 + "#endif",
        "#if 0\n" + '"__has_include/*"\n' * 10_000 + '*/("x.h")\n#endif',
    ],
    ids=lambda text: text[:30],
)
def test_time_of_odd_texts(source: str) -> None:
    program = Program(source + "\n__global__ void f() {}", "c++", {"arch": ARCH})
    before = time.perf_counter()
    program.compile("ptx", cache=False)
    alone = time.perf_counter() - before
    before = time.perf_counter()
    program.compile("ptx")
    assert time.perf_counter() - before < 5 * alone + 2


def test_pragma_once_and_several_names_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(
        "#pragma once\n#ifdef VALUE\n#define SEEN_TWICE\n#else\n#define VALUE 1\n#endif\n"
    )
    os.link(tmp_path / "a.h", tmp_path / "b.h")
    source = (
        '#include "a.h"\n#include "b.h"\n#ifdef SEEN_TWICE\n#undef VALUE\n#define VALUE 2\n#endif\n'
        + VALUE
    )
    linked = value_of(compile_ptx(source, include_path=[tmp_path]))
    content = (tmp_path / "b.h").read_text()
    (tmp_path / "b.h").unlink()
    (tmp_path / "b.h").write_text(content)
    how, made = outcome(lambda: compile_ptx(source, include_path=[tmp_path]))
    assert how == "misses"
    assert (linked, value_of(made)) == (1, 2)


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
