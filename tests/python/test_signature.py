# SPDX-License-Identifier: Apache-2.0
"""Signature: a C++ parameter list, parsed, laid out and printed."""

import contextlib

import pytest
from cudacore import ObjectCode, ParamInfo, Signature
from hypothesis import given
from hypothesis import strategies as st

KINDS = {
    "opaque", "boolean", "integer", "sint", "uint", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128", "pointer", "structure",
}  # fmt: skip

ONE_KERNEL = ".version 8.0\n.target sm_90\n.visible .entry f() { ret; }\n"

#: C++ type → (kind, bytes)
SCALARS = {
    "bool": ("boolean", 1),
    "char": ("sint", 1),
    "signed char": ("sint", 1),
    "unsigned char": ("uint", 1),
    "short": ("sint", 2),
    "unsigned short": ("uint", 2),
    "int": ("sint", 4),
    "unsigned int": ("uint", 4),
    "long": ("sint", 8),
    "unsigned long": ("uint", 8),
    "long long": ("sint", 8),
    "unsigned long long": ("uint", 8),
    "float": ("float32", 4),
    "double": ("float64", 8),
    "__half": ("float16", 2),
    "__nv_bfloat16": ("bfloat16", 2),
    "cuda::std::complex<float>": ("complex64", 8),
    "cuda::std::complex<double>": ("complex128", 16),
}
ALIASES = {
    "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short",
    "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int",
    "int64_t": "long", "uint64_t": "unsigned long", "size_t": "unsigned long",
    "std::size_t": "unsigned long", "unsigned": "unsigned int", "long int": "long",
    "half": "__half", "nv_bfloat16": "__nv_bfloat16",
}  # fmt: skip


@pytest.mark.parametrize("type_name", SCALARS)
def test_scalar(type_name: str) -> None:
    kind, size = SCALARS[type_name]
    [param] = Signature(f"k({type_name} value)")
    assert (param.kind, param.size, param.name, param.offset) == (kind, size, "value", 0)


@pytest.mark.parametrize("alias", ALIASES)
def test_alias_means_the_same(alias: str) -> None:
    [param] = Signature(f"({alias})")
    assert (param.kind, param.size) == SCALARS[ALIASES[alias]]


@pytest.mark.parametrize("type_name", [*SCALARS, "void", "Mine", "ns::Mine<int>", "float*"])
@pytest.mark.parametrize("form", ["{}*", "{} *", "const {}*", "{} const *", "{}* __restrict__"])
def test_pointer(type_name: str, form: str) -> None:
    [param] = Signature(f"k({form.format(type_name)} p)")
    assert (param.kind, param.size, param.name) == ("pointer", 8, "p")


@pytest.mark.parametrize(
    ("declaration", "name", "count"),
    [
        ("(float a, float* x)", "", 2),
        ("float, float*", "", 2),
        ("axpy(float, float*)", "axpy", 2),
        ("axpy<float>(float, float*)", "axpy<float>", 2),
        ("ns::axpy<ns::T<int, 2>>(float)", "ns::axpy<ns::T<int, 2>>", 1),
        ("k()", "k", 0),
        ("()", "", 0),
        ("k(void)", "k", 0),
        ("k(\n  int a,\n  int b\n)", "k", 2),
    ],
)
def test_forms_of_a_declaration(declaration: str, name: str, count: int) -> None:
    signature = Signature(declaration)
    assert signature.name == name
    assert len(signature) == count


@pytest.mark.parametrize(
    "declaration",
    [
        "(",
        "k(",
        "k(int",
        "k(int,)",
        "k(,)",
        "k(3)",
        "k(int a b)",
        "k(int) extra",
        "k(*)",
        "k(int &&& x)",
        "k(unsigned float)",
    ],
)
def test_what_is_no_declaration_is_refused(declaration: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Signature(declaration)


@pytest.mark.parametrize("declaration", [None, 1, b"k()", ["int"]])
def test_declaration_of_wrong_type(declaration: object) -> None:
    with pytest.raises(TypeError):
        Signature(declaration)  # type: ignore[arg-type]


def test_is_a_sequence() -> None:
    signature = Signature("k(int a, float b, double* c)")
    assert [param.name for param in signature] == ["a", "b", "c"]
    assert signature[-1].name == "c"
    assert [param.name for param in reversed(signature)] == ["c", "b", "a"]
    with pytest.raises(IndexError):
        signature[3]
    with pytest.raises(IndexError):
        signature[-4]


def test_equality_and_hash() -> None:
    assert Signature("k(int a)") == Signature("k( int a )")
    assert Signature("k(int a)") != Signature("k(unsigned a)")
    assert Signature("k(int a)") != "k(int a)"
    assert hash(Signature("k(int a)")) == hash(Signature("k( int a )"))


def test_repr_shows_the_declaration() -> None:
    assert "k(int a, float const* x)" in repr(Signature("k(int a, const float* x)"))


types = st.sampled_from([*SCALARS, *(f"{name}*" for name in SCALARS), "float const*", "void*"])
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}_", fullmatch=True)
declarations = st.lists(st.tuples(types, names), max_size=20)


def written(params: list[tuple[str, str]]) -> str:
    return f"k({', '.join(f'{type_name} {name}' for type_name, name in params)})"


@given(declarations)
def test_what_is_printed_reads_the_same(params: list[tuple[str, str]]) -> None:
    signature = Signature(written(params))
    assert Signature(str(signature)) == signature
    assert str(Signature(str(signature))) == str(signature)


@given(declarations)
def test_layout_is_the_abis(params: list[tuple[str, str]]) -> None:
    end = 0
    for param, (type_name, name) in zip(Signature(written(params)), params, strict=True):
        kind, size = ("pointer", 8) if type_name.endswith("*") else SCALARS[type_name]
        align = 8 if kind == "complex64" else size
        assert isinstance(param, ParamInfo)
        assert (param.kind, param.size, param.name) == (kind, size, name)
        assert param.offset == -(-end // align) * align
        end = param.offset + size


@given(declarations, st.lists(st.sampled_from(["", " ", "  ", "\n", "\t"]), min_size=41))
def test_white_space_does_not_matter(params: list[tuple[str, str]], gaps: list[str]) -> None:
    loose = f"{gaps[0]}k{gaps[1]}(" + ",".join(
        f"{gaps[i]}{type_name} {gaps[i + 1]}{name}{gaps[i]}"
        for i, (type_name, name) in enumerate(params)
    )
    assert Signature(loose + f"{gaps[-1]})") == Signature(written(params))


@given(st.text(alphabet="kint flouber*&<>:,()[]{}const_0123;\\\"'\n\0é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        signature = Signature(text)
    except ValueError:
        return
    assert all(param.kind in KINDS for param in signature)
    assert Signature(str(signature)) == signature


@pytest.mark.parametrize("text", ["_<}>", "a<}> x, int", "(_<}>)", "_<]>", "_<)>"])
def test_brackets_that_close_nothing_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a type"):
        Signature(text)


@pytest.mark.parametrize("depth", [100, 10_000])
@pytest.mark.parametrize("text", ["<", "(", "*", "a<", "const ", "[", "::"])
def test_deep_nesting_is_no_stack_overflow(text: str, depth: int) -> None:
    try:
        signature = Signature("k(int " + text * depth + ")")
    except ValueError:
        return
    assert len(signature) <= 1


#: What a hostile name may be full of: the middle is repeated `N` times.
ENDLESS = {
    "groups": [("f<a", open_, close) for open_, close in ("()", "[]", "{}", "<>")],
    "parameters": [("f(int ", open_ + close, "") for open_, close in ("()", "[]", "{}", "<>")],
    "open": [("f<", open_, "") for open_ in "([{<"],
    "pointers": [("f(int ", piece, "") for piece in ("*", "*const ", "(*", "A::*", "(int)")],
    "template": [("f<", piece, "") for piece in ("*", "A::*", "(int)", "1+", "g<")],
    "names": [("", piece, "") for piece in ("::", "a::", "cuda::std::__4::", "operator<", "\\'")],
}


@pytest.mark.parametrize("count", [60_000, 1_000_000])
@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.timeout(200)
def test_long_names_take_linear_time_and_no_stack(kind: str, count: int) -> None:
    # Quadratic time would take hours.
    code = ObjectCode.from_ptx(ONE_KERNEL)
    for begin, piece, close in ENDLESS[kind]:
        text = begin + piece * count + close * count + {"<": ">", "(": ")"}.get(begin[1:2], "")
        with pytest.raises(ValueError, match="no kernel|is not a type|after the parameters") as e:
            code.signature(text)
        assert len(str(e.value)) < 1000
        with contextlib.suppress(ValueError):
            Signature(text)


def test_nested_values_take_no_exponential_time() -> None:
    # Each level is parsed as a type first, and then as a value.
    text = "f<" + "g<" * 60 + "int*h" + ">*h" * 60 + ">"
    with pytest.raises(ValueError, match="no kernel"):
        ObjectCode.from_ptx(ONE_KERNEL).signature(text)
