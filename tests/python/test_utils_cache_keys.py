# SPDX-License-Identifier: Apache-2.0
"""The keys of programs in the caches of cudacore.utils."""

from pathlib import Path
from typing import Any

import cudacore
import pytest
from cache_keys import SOURCE, key, options
from cudacore import Device, Program, ProgramOptions
from cudacore.utils import InMemoryProgramCache
from harness import ARCH, run_cleanly

#: Keys, and what they were made of.
SEEN: dict[bytes, Any] = {}


class TestKey:
    def test_is_the_same_each_time(self) -> None:
        assert isinstance(key(), bytes)
        assert len(key()) == 32
        script = f"""
            from cudacore import ProgramOptions
            from cudacore.utils import make_program_cache_key
            print(make_program_cache_key(code={SOURCE!r}, code_type="C++", target_type="CUBIN",
                  options=ProgramOptions(arch="{ARCH}")).hex())
        """
        assert run_cleanly(script).strip() == key().hex()

    @pytest.mark.parametrize(
        "changes",
        [
            {"code": SOURCE + " "},
            {"target_type": "ptx"},
            {"options": ProgramOptions(arch="sm_80")},
            {"options": ProgramOptions(arch="compute_90")},
            {"options": options(use_fast_math=True)},
            {"options": options(name="other")},
            {"options": options(define_macro="A")},
            {"options": options(headers={"a.h": "1"})},
            {"options": options(headers={"a.h": "2"})},
            {"options": options(headers={"b.h": "1"})},
            {"options": options(use_bundled_headers=False)},
            {"options": options(options="-w")},
            {"name_expressions": ("f",)},
            {"name_expressions": "ab<int>"},
            {"name_expressions": "ba<int>"},
            {"name_expressions": ("f", "g")},
            {"extra_digest": b"1"},
            {"extra_digest": b"2"},
            {"extra_digest": b""},
            {"options": options(include_path="a"), "extra_digest": b"1"},
            {"code_type": "ptx"},
            {"code_type": "ltoir", "code": SOURCE.encode()},
        ],
    )
    def test_differs(self, changes: dict[str, Any]) -> None:
        assert key(**changes) != key()
        SEEN.setdefault(key(**changes), changes)
        assert SEEN[key(**changes)] is changes

    def test_without_arch_it_is_the_current_device(self, device: Device) -> None:
        device.set_current()
        own = ProgramOptions(arch=f"sm_{device.arch}")
        unset = ProgramOptions()
        assert key(options=unset) == key(options=own)
        assert unset.arch is None
        script = """
            import cudacore
            from cudacore.utils import make_program_cache_key
            try:
                make_program_cache_key(code="", code_type="c++", target_type="ptx",
                                       options=cudacore.ProgramOptions())
            except cudacore.DriverNotFoundError:
                print("no device")
        """
        assert run_cleanly(script, env={"CUDACORE_DRIVER": "nonsense"}) == "no device\n"

    def test_order_of_names_does_not_matter(self) -> None:
        assert key(name_expressions=("f", "g")) == key(name_expressions=["g", "f"])

    def test_names_are_those_that_compile_takes(self) -> None:
        assert key(name_expressions="f<int>") == key(name_expressions=["f<int>"])
        assert key(name_expressions=[b"f<int>"]) == key(name_expressions=["f<int>"])
        program = Program("template <class T> __global__ void f(T) {}", "c++", options())
        mappings = [
            program.compile("ptx", names).symbol_mapping
            for names in ("f<int>", ["f<int>"], [b"f<int>"])
        ]
        assert mappings == [{"f<int>": mappings[0]["f<int>"]}] * 3

    @pytest.mark.parametrize("digest", [b"\1\2", bytearray(b"\1\2"), memoryview(b"\1\2")])
    def test_digest_is_bytes_like(self, digest: Any) -> None:
        assert key(extra_digest=digest) == key(extra_digest=b"\1\2")

    def test_ptx_has_the_flags_of_the_linker_alone(self) -> None:
        plain = key(code_type="ptx")
        ignored: list[dict[str, Any]] = [
            {"std": "c++20"}, {"define_macro": "A"}, {"include_path": "a"}, {"pch": True},
            {"debug": False},
        ]  # fmt: skip
        for fields in ignored:
            assert key(code_type="ptx", options=options(**fields)) == plain
        assert key(code_type="ptx", options=options(debug=True)) != plain
        assert key(code_type="ptx", name_expressions=(5,)) == plain

    @pytest.mark.parametrize(
        ("fields", "target"),
        [
            ({"debug": True}, "cubin"),
            ({"lineinfo": True}, "ptx"),
            ({"options": ["-G"]}, "ptx"),
            ({}, "ltoir"),
        ],
    )
    def test_folder_that_the_code_contains(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fields: Any, target: str
    ) -> None:
        plain = key()
        here = key(options=options(**fields), target_type=target)
        monkeypatch.chdir(tmp_path)
        assert key(options=options(**fields), target_type=target) != here
        assert key() == plain

    @pytest.mark.parametrize(
        ("fields", "name"),
        [
            ({"include_path": "a"}, "include_path"),
            ({"pre_include": ["a.h"]}, "pre_include"),
            ({"pch": True}, "pch"),
            ({"use_pch": "a"}, "use_pch"),
            ({"pch_dir": ""}, "pch_dir"),
            ({"options": ["-Ifolder"]}, "-Ifolder"),
            ({"options": "--include-path=a"}, "--include-path=a"),
            ({"name": "folder/a.cu"}, "directory component"),
            ({"name": "folder\\a.cu"}, "directory component"),
        ],
    )
    def test_files_that_are_read_need_a_digest(self, fields: dict[str, Any], name: str) -> None:
        with pytest.raises(ValueError, match=rf"{name}.*extra_digest|extra_digest.*{name}"):
            key(options=options(**fields))
        assert key(options=options(**fields), extra_digest=b"x")

    @pytest.mark.parametrize(
        "line",
        [
            '#include "x.h"', '  #  include/* c */"x.h"', '#incl\\\nude "x.h"', '%:include "x.h"',
            '#if __has_include("x.h")\n#endif', '#include <cuda_fp16.h>\n#include "x.h"',
            "#include </x.h>", "#if __has_include(</x.h>)\n#endif", "#include <../x.h>",
            "#include <a/../../x.h>",
        ],
    )  # fmt: skip
    def test_headers_in_the_current_folder_need_a_digest(self, line: str) -> None:
        code = f"{line}\n{SOURCE}"
        with pytest.raises(ValueError, match="without an extra_digest: NVRTC also looks"):
            key(code=code)
        with pytest.raises(ValueError, match="without an extra_digest"):
            key(options=options(headers={"y.h": line}))
        assert key(code=code, extra_digest=b"x")
        assert key(code=code, code_type="ptx")

    @pytest.mark.parametrize(
        ("fields", "code_type"),
        [
            ({"ptxas_options": "--options-file=opts"}, "c++"),
            ({"ptxas_options": "--options-file=opts"}, "ptx"),
            ({"options": ["-Xptxas=--options-file=opts"]}, "c++"),
            ({"options": [" -Iinc"]}, "c++"),
            ({"options": [" -include=inner.h"]}, "c++"),
            ({"options": ["-lineinfo "]}, "c++"),
            ({"options": ["--unheard-of"]}, "c++"),
        ],
        ids=str,
    )
    def test_flags_that_may_read_files(self, fields: Any, code_type: str) -> None:
        with pytest.raises(ValueError, match="no key without an extra_digest"):
            key(options=options(**fields), code_type=code_type)
        assert key(options=options(**fields), code_type=code_type, extra_digest=b"x")

    def test_names_of_headers_that_macros_change(self) -> None:
        query = f"#define ID(x) x\n#if ID(__has_include(<sub/x.h>))\n#endif\n{SOURCE}"
        assert key(code=query)
        with pytest.raises(ValueError, match=r"no key for <sub/x.h>"):
            key(code=f"#define sub /tmp\n{query}")
        with pytest.raises(ValueError, match=r"no key for <sub/x.h>"):
            key(code=query, options=options(define_macro=("sub", "/tmp")))

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("#include HEADER", "the macro HEADER may stand for any header"),
            ("#define ASK(x) __has_include(x)", "the macro ASK may stand for any header"),
            ("#include \\u00c9", "includes what the cache cannot read"),
            ('?\x3f=include "x.h"', "contains trigraphs"),
            ("#define ASK(a) __has_##a", "may make the name of a query or of a time out of __has_"),
            ("const char* made = __DATE__;", "uses __DATE__"),
        ],
    )
    def test_what_cannot_be_known_needs_a_digest(self, line: str, why: str) -> None:
        code = f"{line}\n{SOURCE}"
        with pytest.raises(ValueError, match=f"no key without an extra_digest.*{why}"):
            key(code=code)
        with pytest.raises(ValueError, match=why):
            key(options=options(headers={"y.h": line}))
        assert key(code=code, extra_digest=b"x")

    def test_definitions_and_names_count(self) -> None:
        with pytest.raises(ValueError, match="__has_include"):
            key(options=options(define_macro=("ASK(x)", "__has_include(x)")))
        with pytest.raises(ValueError, match="__has_include"):
            key(options=options(options=["-DASK(x)=__has_include(x)"]))
        with pytest.raises(ValueError, match="uses __TIME__"):
            key(name_expressions="f<__TIME__[0]>")
        assert key(options=options(define_macro=("H", '"x.h"')))

    @pytest.mark.parametrize(
        ("source", "fields"),
        [
            ('?\x3f=include "x.h"', {"std": "c++14"}),
            ('#define ASK(a) __has_##a\n#if ASK(include)("x.h")\n#include "x.h"\n#endif', {}),
        ],
    )
    def test_code_is_never_stale(
        self, source: str, fields: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        program = Program(f"{source}\n__global__ void f() {{}}", "c++", options(**fields))
        cache = InMemoryProgramCache()
        for _ in range(2):
            with pytest.raises(ValueError, match="without an extra_digest"):
                program.compile("ptx", cache=cache)
        assert len(cache) == 0

    @pytest.mark.parametrize(
        "line",
        ["#include <x.h>", '#include "y.h"', '#  include /*\n*/ "y.h" // own',
         "#if __has_include(<x.h>)\n#endif", "#ifdef __has_include\n#endif", "#includes x"],
    )  # fmt: skip
    def test_other_headers_need_none(self, line: str) -> None:
        assert key(code=f"{line}\n{SOURCE}", options=options(headers={"y.h": ""}))

    @pytest.mark.parametrize(
        "fields",
        [{"create_pch": "a"}, {"create_pch": ""}, {"time": "a"}, {"time": True},
         {"fdevice_time_trace": "a"}, {"options": "--time=a"}],
    )  # fmt: skip
    def test_files_that_are_written(self, fields: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="side effect"):
            key(options=options(**fields), extra_digest=b"x")

    @pytest.mark.parametrize(
        ("changes", "error", "why"),
        [
            ({"code_type": "fortran"}, ValueError, "fortran"),
            ({"code_type": "nvvm"}, cudacore.NotSupportedError, "libNVVM"),
            ({"target_type": "exe"}, ValueError, "target_type must be one of"),
            ({"code_type": 3}, TypeError, "code_type must be str, not int"),
            ({"target_type": None}, TypeError, "target_type must be str, not NoneType"),
            ({"extra_digest": 5}, TypeError, "extra_digest must be bytes-like, not int"),
            ({"extra_digest": "5"}, TypeError, "extra_digest must be bytes-like, not str"),
            ({"extra_digest": [5]}, TypeError, "extra_digest must be bytes-like, not list"),
            ({"code_type": "ptx", "target_type": "ltoir"}, ValueError, "not valid for code_type"),
            ({"code": 5}, TypeError, "code must be str"),
            ({"code": b"x"}, TypeError, "code must be str for code_type"),
            ({"code_type": "ltoir"}, TypeError, "code must be bytes"),
            ({"options": {"arch": ARCH}}, TypeError, "options must be ProgramOptions"),
            ({"name_expressions": ("f", 5)}, TypeError, "each of name_expressions"),
            ({"name_expressions": (bytearray(b"f"),)}, TypeError, "not bytearray"),
            ({"name_expressions": b"f"}, TypeError, "each of name_expressions .* not int"),
            ({"options": options(extra_sources=[("a", "b")])}, ValueError, "extra_sources"),
        ],
    )
    def test_wrong_inputs(self, changes: dict[str, Any], error: type[Exception], why: str) -> None:
        with pytest.raises(error, match=why):
            key(**changes)
