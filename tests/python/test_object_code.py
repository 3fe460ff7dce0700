# SPDX-License-Identifier: Apache-2.0
"""ObjectCode: what is inside compiled code, without a driver."""

import errno
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cudacore import NotSupportedError, ObjectCode, Program, Signature
from harness import ARCH, cubin, ltoir, ptx, run_cleanly
from hypothesis import given, settings
from hypothesis import strategies as st

SOURCE = """
struct Point { float x, y, z; };
template <typename T> __global__ void axpy(T a, const T* x, T* y, size_t n) { y[n] = a * x[n]; }
namespace ns { namespace deep { __global__ void inside(Point p, float* out) { *out = p.x; } } }
__global__ void scale(float* x, int n) { x[n] = 0; }
__global__ void scale(double* x, int n) { x[n] = 0; }
extern "C" __global__ void c_name(int a, unsigned b, float c, void* d) {}
__global__ void none() {}
"""
NAMES = ("axpy<float>", "axpy<double>")
KERNELS = {"axpy<float>", "axpy<double>", "ns::deep::inside", "scale(float*, int)",
           "scale(double*, int)", "c_name", "none"}  # fmt: skip

MAKERS: dict[str, Callable[..., ObjectCode]] = {
    "cubin": ObjectCode.from_cubin,
    "ptx": ObjectCode.from_ptx,
    "ltoir": ObjectCode.from_ltoir,
    "fatbin": ObjectCode.from_fatbin,
    "object": ObjectCode.from_object,
    "library": ObjectCode.from_library,
}
READABLE = ("cubin", "ptx")


@pytest.fixture(scope="module")
def codes() -> dict[str, ObjectCode]:
    return {"cubin": cubin(SOURCE, *NAMES), "ptx": ptx(SOURCE, *NAMES), "ltoir": ltoir(SOURCE)}


@pytest.fixture(params=READABLE)
def code(codes: dict[str, ObjectCode], request: pytest.FixtureRequest) -> ObjectCode:
    return codes[request.param]


def test_kernels_are_readable_names(code: ObjectCode) -> None:
    assert set(code.kernels) == KERNELS
    assert isinstance(code.kernels, tuple)


def test_kernels_of_lto_ir_cannot_be_read(codes: dict[str, ObjectCode]) -> None:
    with pytest.raises(NotSupportedError, match=r"ltoir|LTO"):
        _ = codes["ltoir"].kernels


def test_code_has_no_public_constructor() -> None:
    with pytest.raises(TypeError, match=r"compile|from_"):
        ObjectCode()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("axpy<float>", "axpy<float>(float a, float const* x, float* y, unsigned long n)"),
        ("axpy<double>", "axpy<double>(double a, double const* x, double* y, unsigned long n)"),
        ("ns::deep::inside", "ns::deep::inside(Point p, float* out)"),
        ("inside", "ns::deep::inside(Point p, float* out)"),
        ("scale(float*, int)", "scale(float* x, int n)"),
        ("scale(double *,int)", "scale(double* x, int n)"),
        ("none", "none()"),
    ],
)
def test_signature_by_plain_name(code: ObjectCode, name: str, expected: str) -> None:
    assert str(code.signature(name)) == expected


def test_signature_by_symbol_and_by_name_expression(code: ObjectCode) -> None:
    symbol = code.symbol_mapping["axpy<float>"]
    assert symbol.startswith("_Z")
    assert code.signature(symbol) == code.signature("axpy<float>")


def test_signature_of_c_name_has_kinds_and_sizes(code: ObjectCode) -> None:
    signature = code.signature("c_name")
    assert [param.name for param in signature] == ["a", "b", "c", "d"]
    assert [param.size for param in signature] == [4, 4, 4, 8]
    assert [param.offset for param in signature] == [0, 4, 8, 16]


def test_float_of_a_c_name_is_told_from_int_by_ptx(code: ObjectCode) -> None:
    assert code.signature("c_name")[2].kind == "float32"


def test_struct_has_its_measured_size(code: ObjectCode) -> None:
    param = code.signature("inside")[0]
    assert (param.kind, param.size, param.type) == ("structure", 12, "Point")


def test_unknown_name_lists_what_there_is(code: ObjectCode) -> None:
    with pytest.raises(ValueError, match="no_such_kernel") as caught:
        code.signature("no_such_kernel")
    assert all(name in str(caught.value) for name in KERNELS)


@pytest.mark.parametrize(("name", "both"), [("scale", "double*"), ("axpy", "axpy<double>")])
def test_ambiguous_name_lists_the_candidates(code: ObjectCode, name: str, both: str) -> None:
    with pytest.raises(ValueError, match=re.escape(both)):
        code.signature(name)


@pytest.mark.parametrize("kind", ["cubin", "ptx", "ltoir"])
def test_pickle_keeps_everything(codes: dict[str, ObjectCode], kind: str) -> None:
    original = codes[kind]
    copy = pickle.loads(pickle.dumps(original))
    for name in ("code", "code_type", "name", "symbol_mapping", "ptx"):
        assert getattr(copy, name) == getattr(original, name)
    if kind in READABLE:
        assert copy.kernels == original.kernels
        assert copy.signature("axpy<float>") == original.signature("axpy<float>")


def test_pickle_reaches_another_process(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    path = tmp_path / "code.pickle"
    path.write_bytes(pickle.dumps(codes["cubin"]))
    script = """
        import pickle, sys
        with open(sys.argv[1], "rb") as file:
            print(pickle.load(file).signature("axpy<float>"))
    """
    assert run_cleanly(script, str(path)).startswith("axpy<float>(float a,")


@pytest.mark.parametrize("kind", READABLE)
@pytest.mark.parametrize("how", ["bytes", "path", "string"])
def test_from_bytes_and_files(
    codes: dict[str, ObjectCode], kind: str, how: str, tmp_path: Path
) -> None:
    path = tmp_path / f"code.{kind}"
    path.write_bytes(codes[kind].code)
    module = {"bytes": codes[kind].code, "path": path, "string": str(path)}[how]
    code = MAKERS[kind](module, name="mine", symbol_mapping={"alias": "none"})
    assert code.code_type == kind
    assert code.name == "mine"
    assert code.code == codes[kind].code
    assert code.symbol_mapping == {"alias": "none"}
    assert set(code.kernels) == KERNELS


def test_cubin_from_bytes_has_types_from_names_and_sizes_from_elf(
    codes: dict[str, ObjectCode],
) -> None:
    code = ObjectCode.from_cubin(codes["cubin"].code)
    assert code.ptx is None
    assert [p.type for p in code.signature("axpy<float>")] == [
        "float", "float const*", "float*", "unsigned long"]  # fmt: skip
    assert code.signature("inside")[0].size == 12
    assert [p.size for p in code.signature("c_name")] == [4, 4, 4, 8]


def test_ptx_is_its_own_ptx(codes: dict[str, ObjectCode]) -> None:
    assert codes["ptx"].ptx is not None
    assert codes["ptx"].ptx.encode() == codes["ptx"].code.rstrip(b"\0")
    assert codes["ltoir"].ptx is None


@pytest.mark.parametrize("kind", MAKERS)
def test_missing_file_is_named(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "nowhere.bin"
    with pytest.raises((FileNotFoundError, ValueError), match="nowhere"):
        MAKERS[kind](path)


@pytest.mark.parametrize("kind", MAKERS)
def test_directory_is_no_file(kind: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=re.escape(str(tmp_path))) as caught:
        MAKERS[kind](tmp_path)
    assert caught.value.errno == errno.EISDIR


@pytest.mark.parametrize(("kind", "code"), [("cubin", b"\x7fELF"), ("ptx", b".entry (")])
def test_corrupt_code_is_refused_by_name(kind: str, code: bytes) -> None:
    with pytest.raises(ValueError, match=f'{kind} "the damaged one": '):
        _ = MAKERS[kind](code, name="the damaged one").kernels


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("module", [None, 1, ["x"]])
def test_code_of_wrong_type(kind: str, module: object) -> None:
    with pytest.raises(TypeError):
        MAKERS[kind](module)


@pytest.mark.parametrize(
    "damaged", [b"", b"\x7fELF", b"garbage that is not an ELF file", b"\x7fELF" + bytes(60)]
)
def test_corrupt_cubin_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"ELF|cubin|empty"):
        _ = ObjectCode.from_cubin(damaged).kernels


@pytest.mark.parametrize("damaged", [b".visible .entry k(", b".entry k(.param .u32", b".entry ("])
def test_corrupt_ptx_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="PTX line"):
        _ = ObjectCode.from_ptx(damaged + b"\n").kernels


@settings(max_examples=300, deadline=None)
@given(position=st.floats(0, 1, exclude_max=True), flips=st.binary(min_size=1, max_size=64))
def test_damaged_cubin_is_read_or_refused(position: float, flips: bytes) -> None:
    code = bytearray(WHOLE)
    start = int(position * len(code))
    for index, flip in enumerate(flips[: len(code) - start]):
        code[start + index] ^= flip
    try:
        kernels = ObjectCode.from_cubin(bytes(code)).kernels
    except ValueError:
        return
    assert all(isinstance(name, str) for name in kernels)


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1, exclude_max=True))
def test_cubin_cut_short_is_read_or_refused(part: float) -> None:
    try:
        kernels = ObjectCode.from_cubin(WHOLE[: int(part * len(WHOLE))]).kernels
    except ValueError:
        return
    assert set(kernels) <= {"k", "none"}


WHOLE = cubin("__global__ void k(float* x, int n) { x[n] = 1; }\n__global__ void none() {}").code


def test_equality_is_identity_of_the_code(codes: dict[str, ObjectCode]) -> None:
    assert codes["cubin"] == codes["cubin"]
    assert codes["cubin"] != codes["ptx"]
    assert codes["cubin"] != 1
    assert len({codes["cubin"], codes["cubin"], codes["ptx"]}) == 2


def test_signature_equals_a_declared_one(code: ObjectCode) -> None:
    assert code.signature("scale(float*, int)") == Signature("scale(float* x, int n)")


def test_repr_tells_type_and_kernels(code: ObjectCode) -> None:
    assert "ObjectCode" in repr(code)
    assert code.code_type in repr(code)


def test_paths_that_are_no_utf_8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.cubin"
    with pytest.raises(FileNotFoundError) as caught:
        ObjectCode.load(path)
    assert caught.value.filename == os.fsdecode(path)
    with pytest.raises(FileNotFoundError):
        ObjectCode.from_cubin(Path(os.fsdecode(path)))
    Path(os.fsdecode(path)).write_bytes(WHOLE)
    assert ObjectCode.load(path).code == WHOLE


def test_cubin_with_a_name_that_is_not_text() -> None:
    data = cubin("__global__ void fill(int* p) { *p = 1; }").code
    code = ObjectCode.from_cubin(data.replace(b"_Z4fillPi", b"_Z4fil\xffPi"))
    message = r"damaged cubin: the kernel '_Z4fil\\xffPi' has characters in its name"
    for ask in (
        lambda: code.kernels,
        lambda: code.signature("fill"),
        lambda: code.get_kernel("fill"),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    assert "unreadable" in repr(code)
    assert pickle.loads(pickle.dumps(code)).code == code.code


def test_ptx_with_bytes_that_are_not_utf8() -> None:
    code = ObjectCode.from_ptx(b"// caf\xe9\n" + ptx("__global__ void fill(int* p) {}").code)
    assert code.kernels == ("fill",)
    assert code.ptx is not None
    assert code.ptx.startswith("// caf\\xe9\n")
    assert ObjectCode.from_ptx(code.ptx).kernels == code.kernels


def test_pickles_hold_a_source_that_is_not_utf8() -> None:
    source = b'extern "C" __global__ void fill(int* caf) {} // caf\xe9'
    code = Program(source, "c++", {"arch": ARCH}).compile("cubin")
    code.pickle_source = True
    copy = pickle.loads(pickle.dumps(code))
    assert copy.ptx == code.ptx
    assert str(copy.signature("fill")) == "fill(int* caf)"
