# SPDX-License-Identifier: Apache-2.0
"""ProgramOptions: every field, its type, and how NVRTC responds to it."""

import io
import os
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import cudacore
import pytest
from cudacore import CompileError, NotSupportedError, Program, ProgramOptions
from harness import ARCH

SOURCE = "__global__ void k(float* x, int n) { x[n] = x[n] / 3.0f; }"


class Field(NamedTuple):
    name: str
    expected: str  #: the type that a message must name
    values: tuple[Any, ...]  #: each is accepted by the compiler
    extra: dict[str, Any] = {}  #: options that it needs beside it  # noqa: RUF012
    since: tuple[int, int] = (12, 0)  #: the first NVRTC that knows the flag


# {tmp} is the test's own folder.
FIELDS = (
    Field("name", "str", ("mine.cu",)),
    Field("arch", "str", ("sm_80", "sm_90", "compute_90")),
    Field("relocatable_device_code", "bool", (True, False)),
    Field("extensible_whole_program", "bool", (True, False)),
    Field("debug", "bool", (True, False)),
    Field("lineinfo", "bool", (True, False)),
    Field("device_code_optimize", "bool", (True, False)),
    Field("ptxas_options", "str", ("-O2", ["-v", "-O3"], ("-v",))),
    Field("max_register_count", "int", (32,)),
    Field("ftz", "bool", (True, False)),
    Field("prec_sqrt", "bool", (True, False)),
    Field("prec_div", "bool", (True, False)),
    Field("fma", "bool", (True, False)),
    Field("use_fast_math", "bool", (True, False)),
    Field("extra_device_vectorization", "bool", (True, False)),
    Field("link_time_optimization", "bool", (True, False)),
    Field("gen_opt_lto", "bool", (True, False)),
    Field("define_macro", "str", ("A", ("A", "2"), ["A", ("B", "3")])),
    Field("undefine_macro", "str", ("A", ["A", "B"])),
    Field("include_path", "str", ("{tmp}", ["{tmp}", "{tmp}"])),
    Field("use_bundled_headers", "bool", (True, False), since=(13, 3)),
    Field("pre_include", "str", ("b.h", ["b.h"]), {"headers": {"b.h": "// text"}}),
    Field("no_source_include", "bool", (True, False)),
    Field("std", "str", ("c++17", "c++20")),
    Field("builtin_move_forward", "bool", (True, False)),
    Field("builtin_initializer_list", "bool", (True, False)),
    Field("disable_warnings", "bool", (True, False)),
    Field("restrict", "bool", (True, False)),
    Field("device_as_default_execution_space", "bool", (True, False)),
    Field("device_int128", "bool", (True, False)),
    Field("optimization_info", "str", ("inline",)),
    Field("no_display_error_number", "bool", (True, False)),
    Field("diag_error", "int", (177, [177, 550])),
    Field("diag_suppress", "int", (177, [177, 550])),
    Field("diag_warn", "int", (177, (177,))),
    Field("brief_diagnostics", "bool", (True, False)),
    Field("time", "str", ("{tmp}/time.csv",)),
    Field("split_compile", "int", (2,)),
    Field("fdevice_syntax_only", "bool", (False,)),
    Field("minimal", "bool", (True, False)),
    Field("no_cache", "bool", (True, False)),
    Field("fdevice_time_trace", "str", ("{tmp}/trace.json",)),
    Field("device_float128", "bool", (True, False), {"arch": "sm_100"}, since=(12, 8)),
    Field("frandom_seed", "str", ("seed",), since=(12, 8)),
    Field("ofast_compile", "str", ("0", "min", "mid", "max"), since=(12, 8)),
    Field("pch", "bool", (True, False), {"pch_dir": "{tmp}"}, since=(12, 8)),
    Field("create_pch", "str", ("{tmp}/made.pch",), since=(12, 8)),
    Field("use_pch", "str", (), since=(12, 8)),
    Field("pch_dir", "str", ("{tmp}",), {"pch": True}, since=(12, 8)),
    Field("pch_verbose", "bool", (True, False), {"pch": True, "pch_dir": "{tmp}"}, (12, 8)),
    Field("pch_messages", "bool", (True, False), {"pch": True, "pch_dir": "{tmp}"}, (12, 8)),
    Field("instantiate_templates_in_pch", "bool", (True, False),
          {"pch": True, "pch_dir": "{tmp}"}, (12, 8)),
    Field("extra_sources", "str", ()),
    Field("use_libdevice", "bool", ()),
    Field("numba_debug", "bool", (True,), {"debug": True}, since=(13, 2)),
    Field("headers", "str", ({"a.h": "int a;"}, {"a.h": "", "b/c.h": ""})),
    Field("options", "str", ("--use_fast_math", ["-default-device", "-w"])),
)  # fmt: skip

#: Two fields require LTO IR, and NVRTC 12 doesn't trace assembling cubins.
TARGETS = {"gen_opt_lto": "ltoir", "link_time_optimization": "ltoir", "fdevice_time_trace": "ptx"}

BY_NAME = {field.name: field for field in FIELDS}
ACCEPTED = [(field, value) for field in FIELDS for value in field.values]
KEPT = [*ACCEPTED, *((field, value) for field, value in (
    (BY_NAME["use_pch"], "made.pch"), (BY_NAME["extra_sources"], {"a.cu": ""}),
    (BY_NAME["use_libdevice"], True)))]  # fmt: skip


def identify(value: object) -> str:
    return value.name if isinstance(value, Field) else str(value)


def fill(value: Any, folder: Path) -> Any:
    """Replace the placeholder in a value by the test's folder."""
    if isinstance(value, str):
        return value.replace("{tmp}", str(folder))
    if isinstance(value, list):
        return [fill(one, folder) for one in value]
    return value


def compile_with(options: dict[str, Any], target: str = "cubin") -> cudacore.ObjectCode:
    return Program(SOURCE, "c++", ProgramOptions(**{"arch": ARCH, **options})).compile(target)


def test_there_are_57_fields() -> None:
    assert len(FIELDS) == 57
    assert len(BY_NAME) == 57


#: The values of fields whose default is not None.
UNSET = {"name": "default_program"}


@pytest.mark.parametrize("field", FIELDS, ids=identify)
def test_field_is_unset_at_first(field: Field) -> None:
    assert getattr(ProgramOptions(), field.name) == UNSET.get(field.name)


@pytest.mark.parametrize(("field", "value"), KEPT, ids=identify)
def test_field_keeps_its_value(field: Field, value: object) -> None:
    kept = getattr(ProgramOptions(**{field.name: value}), field.name)
    assert kept in (value, [value]) or list(kept) == list(value)  # type: ignore[call-overload]


@pytest.mark.parametrize(("field", "value"), KEPT, ids=identify)
def test_field_can_be_assigned(field: Field, value: object) -> None:
    options = ProgramOptions()
    assert options == ProgramOptions()
    setattr(options, field.name, value)
    assert options == ProgramOptions(**{field.name: value})
    assert options != ProgramOptions()
    setattr(options, field.name, UNSET.get(field.name))
    assert options == ProgramOptions()


WRONG = {"bool": ("yes", 1.5, [True]), "int": ("many", 1.5, True), "str": (1, 1.5, b"bytes")}


@pytest.mark.parametrize("how", ["constructor", "assignment", "dictionary"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        (field, value)
        for field in FIELDS
        for value in (object(), *WRONG[field.expected])
        if (field.name, value) != ("split_compile", True)
    ],
    ids=lambda value: value.name if isinstance(value, Field) else type(value).__name__,
)
def test_wrong_type_names_field_and_both_types(field: Field, value: object, how: str) -> None:
    uses = {
        "constructor": lambda: ProgramOptions(**{field.name: value}),
        "assignment": lambda: setattr(ProgramOptions(), field.name, value),
        "dictionary": lambda: Program(SOURCE, "c++", {field.name: value}),
    }
    with pytest.raises(TypeError) as caught:
        uses[how]()
    message = str(caught.value)
    assert field.name in message
    assert field.expected in message
    given = value[0] if isinstance(value, list) else value
    assert type(value).__name__ in message or type(given).__name__ in message


def test_unknown_field_is_named() -> None:
    with pytest.raises(TypeError, match="no_such_field"):
        ProgramOptions(no_such_field=1)  # type: ignore[call-arg]


def test_fields_are_given_by_name_only() -> None:
    with pytest.raises(TypeError):
        ProgramOptions("sm_90")  # type: ignore[misc]


def test_options_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(ProgramOptions())


def test_repr_shows_what_is_set() -> None:
    text = repr(ProgramOptions(arch="sm_90", fma=False))
    assert "arch='sm_90'" in text
    assert "fma=False" in text
    assert "debug" not in text


@pytest.mark.parametrize(("field", "value"), ACCEPTED, ids=identify)
def test_compiler_accepts(field: Field, value: object, tmp_path: Path) -> None:
    extra = {name: fill(one, tmp_path) for name, one in field.extra.items()}
    version = cudacore.nvrtc_library()[0]
    options = {**extra, field.name: fill(value, tmp_path)}
    if value is not False and version < field.since:
        with pytest.raises(
            (CompileError, NotSupportedError), match=field.name.replace("_", "[-_]")
        ):
            compile_with(options)
    else:
        target = TARGETS.get(field.name, "cubin") if value else "cubin"
        assert compile_with(options, target).code


def test_field_that_nvrtc_lacks_says_so() -> None:
    with pytest.raises(NotSupportedError, match="use_libdevice"):
        compile_with({"use_libdevice": True})


def test_syntax_check_alone_finds_errors() -> None:
    with pytest.raises(CompileError):
        Program("int x = ;", "c++", {"arch": ARCH, "fdevice_syntax_only": True}).compile("ptx")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "fma.rn.f32"),
        ({"fma": False}, "mul.rn.f32"),
        ({"fma": True, "ftz": True}, "fma.rn.ftz.f32"),
        ({"use_fast_math": True}, "fma.rn.ftz.f32"),
        ({"define_macro": "SUB"}, "sub"),
        ({"define_macro": ("SUB", "1")}, "sub"),
        ({"define_macro": "SUB", "undefine_macro": "SUB"}, "fma.rn.f32"),
        ({"lineinfo": True}, ".loc"),
        ({"debug": True}, ".section\t.debug_info"),
    ],
    ids=str,
)
def test_option_reaches_the_code(options: dict[str, Any], expected: str) -> None:
    source = """
    #ifdef SUB
    __global__ void k(float* x, float a) { x[0] = x[1] - a; }
    #else
    __global__ void k(float* x, float a) { x[0] = x[1] * a + x[2]; }
    #endif
    """
    code = Program(source, "c++", {"arch": ARCH, **options}).compile("ptx").code.decode()
    assert expected in code


def test_unset_optimization_asks_for_nothing() -> None:
    code = compile_with({"device_code_optimize": False}, "ptx").code
    assert code == compile_with({}, "ptx").code


def test_include_path_is_searched(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#define VALUE 7\n")
    source = '#include "mine.h"\n__global__ void k(int* p) { *p = VALUE; }'
    code = Program(source, "c++", {"arch": ARCH, "include_path": str(tmp_path)}).compile("cubin")
    assert code.kernels == ("k",)


def test_time_and_trace_files_are_written(tmp_path: Path) -> None:
    times, trace = tmp_path / "time.csv", tmp_path / "trace"
    compile_with({"time": str(times), "fdevice_time_trace": str(trace)}, "ptx")
    assert "NVVM Optimizer" in times.read_text()
    assert any(path.stat().st_size for path in tmp_path.glob("trace*"))


class TestPrecompiledHeader:
    def test_made_then_used(self, tmp_path: Path) -> None:
        source = '#include "big.h"\n#pragma nv_hdrstop\n__global__ void k(int* p) { *p = one(); }'
        (tmp_path / "big.h").write_text("__device__ inline int one() { return 1; }\n")
        options = {"arch": ARCH, "include_path": str(tmp_path)}
        made = str(tmp_path / "big.pch")
        maker = Program(source, "c++", {**options, "create_pch": made})
        assert maker.compile("cubin").kernels == ("k",)
        assert maker.pch_status == "created"
        assert Path(made).stat().st_size > 0
        user = Program(source, "c++", {**options, "use_pch": made, "pch_verbose": True})
        assert user.compile("cubin").kernels == ("k",)

    def test_status_is_none_where_none_was_asked_for(self) -> None:
        program = Program(SOURCE, "c++", {"arch": ARCH})
        assert program.pch_status is None
        program.compile("ptx")
        assert program.pch_status is None


def test_paths_that_are_no_utf_8(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    (folder / "mine.h").write_text("#define NAME k\n")
    for path in (str(folder), folder, [folder]):
        options = ProgramOptions(arch=ARCH, include_path=path)
        shown = options.include_path
        assert shown == ([str(folder)] if isinstance(shown, list) else str(folder))
        assert pickle.loads(pickle.dumps(options)) == options
        code = Program('#include "mine.h"\n__global__ void NAME() {}', "c++", options).compile()
        assert code.kernels == ("k",)
    (folder / "mine.h").write_text("#error in here\n")
    logs = io.StringIO()
    program = Program('#include "mine.h"\n', "c++", options)
    with pytest.raises(CompileError, match="in here") as caught:
        program.compile(logs=logs)
    for text in (str(caught.value), caught.value.log, logs.getvalue(), program.log):
        assert "caf\\xe9" in text
    assert repr(str(folder)) in repr(options)
