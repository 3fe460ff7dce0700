# SPDX-License-Identifier: Apache-2.0
"""ObjectCode.save and .load, and what pickles contain."""

import os
import pickle
import shutil
import stat
import threading
import zipfile
from pathlib import Path

import pytest
from cudacore import Device, Linker, ObjectCode, Program
from harness import ARCH, build, cubin, ltoir, nvcc, ptx

SECRET = "the_secret_recipe"
SOURCE = f"""
/* {SECRET} */
template <typename T> __global__ void axpy(T a, const T* x, T* y) {{ *y += a * *x; }}
__global__ void fill(int* data, int count) {{ *data = count; }}
"""


@pytest.fixture(scope="module")
def codes() -> dict[str, ObjectCode]:
    return {
        "cubin": cubin(SOURCE, "axpy<float>"),
        "ptx": ptx(SOURCE, "axpy<float>"),
        "ltoir": ltoir(SOURCE),
    }


@pytest.mark.parametrize("kind", ["cubin", "ptx", "ltoir"])
@pytest.mark.parametrize("as_text", [True, False])
def test_file_tells_its_type(
    codes: dict[str, ObjectCode], kind: str, as_text: bool, tmp_path: Path
) -> None:
    path = tmp_path / "code"
    codes[kind].save(str(path) if as_text else path)
    assert path.read_bytes() == codes[kind].code
    loaded = ObjectCode.load(str(path) if as_text else path)
    assert loaded.code_type == kind
    assert loaded.code == codes[kind].code
    assert loaded.name == "code"
    assert [path.name for path in tmp_path.iterdir()] == ["code"]


def test_kernels_of_a_file_are_found_by_name(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    codes["cubin"].save(tmp_path / "f.cubin")
    loaded = ObjectCode.load(tmp_path / "f.cubin", name="mine", symbol_mapping={"f": "_Z4fillPii"})
    assert loaded.name == "mine"
    assert set(loaded.kernels) == {"axpy<float>", "fill"}
    assert "float const*" in str(loaded.signature("axpy<float>"))
    assert loaded.signature("f") == loaded.signature("fill")
    assert loaded.ptx is None


def test_loaded_code_runs(device: Device, tmp_path: Path) -> None:
    build(SOURCE).save(tmp_path / "code")
    buffer = device.allocate(4)
    ObjectCode.load(tmp_path / "code").get_kernel("fill")[1, 1](buffer, 5)
    assert buffer.to_host("i4").tolist() == [5]


def test_loaded_lto_ir_links(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    codes["ltoir"].save(tmp_path / "code")
    options = {"arch": ARCH, "link_time_optimization": True}
    assert "fill" in Linker(ObjectCode.load(tmp_path / "code"), options=options).link().kernels


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc makes the files")
@pytest.mark.parametrize(
    ("flags", "kind"), [("-fatbin", "fatbin"), ("-c", "object"), ("-lib", "library")]
)
def test_files_of_nvcc(flags: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "f.cu").write_text(SOURCE)
    nvcc(tmp_path, flags, f"-arch={ARCH}", "-o", "out", "f.cu")
    assert ObjectCode.load(tmp_path / "out").code_type == kind


def test_shared_library_is_a_library() -> None:
    import cudacore._core

    assert ObjectCode.load(cudacore._core.__file__).code_type == "library"


class Resource:
    """A file in an archive."""

    name = "f.ptx"

    def __init__(self, content: object) -> None:
        self.content = content

    def read_bytes(self) -> object:
        if isinstance(self.content, Exception):
            raise self.content
        return self.content


def test_resource_without_a_path(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        archive.writestr("data/f.cubin", codes["cubin"].code)
        archive.writestr("data/f.txt", "text")
    folder = zipfile.Path(tmp_path / "package.zip") / "data"
    code = ObjectCode.load(folder / "f.cubin")
    assert (code.code_type, code.name, code.code) == ("cubin", "f.cubin", codes["cubin"].code)
    assert ObjectCode.load(folder / "f.cubin", name="mine").name == "mine"
    assert ObjectCode.load(Resource(bytearray(codes["ptx"].code))).kernels == codes["ptx"].kernels  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="f.txt is not PTX, a cubin"):
        ObjectCode.load(folder / "f.txt")
    with pytest.raises(TypeError, match="for code in memory, call ObjectCode.from_cubin"):
        ObjectCode.load(b"\x7fELF\0")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        ObjectCode.load(folder / "missing")


@pytest.mark.parametrize(
    ("content", "error"),
    [("text", TypeError), (None, TypeError), (b"", ValueError), (OSError("broken"), OSError)],
)
def test_resource_with_other_content(content: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        ObjectCode.load(Resource(content))  # type: ignore[arg-type]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    codes["ptx"].save(tmp_path / "code")
    (tmp_path / "code").chmod(0)
    with pytest.raises(PermissionError):
        ObjectCode.load(tmp_path / "code")


@pytest.mark.parametrize("content", [b"", b"\x7fEL", b"__global__ void f() {}", b"\0.version"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="other is not PTX, a cubin"):
        ObjectCode.load(path)


def test_file_that_cannot_be_read_or_written(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "code"
    with pytest.raises(FileNotFoundError, match="missing"):
        ObjectCode.load(missing)
    with pytest.raises(IsADirectoryError):
        ObjectCode.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="missing"):
        codes["ptx"].save(missing)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        codes["ptx"].save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(TypeError):
        codes["ptx"].save(5)  # type: ignore[arg-type]


def test_saving_replaces_a_file_at_once(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    path = tmp_path / "code"
    kinds = ("cubin", "ptx")
    codes["ptx"].save(path)
    wanted = {codes[kind].code for kind in kinds}
    done = threading.Event()

    def write(kind: str) -> None:
        while not done.is_set():
            codes[kind].save(path)

    writers = [threading.Thread(target=write, args=(kind,)) for kind in kinds]
    for writer in writers:
        writer.start()
    read = {path.read_bytes() for _ in range(300)}
    done.set()
    for writer in writers:
        writer.join()
    assert read <= wanted
    assert [path.name for path in tmp_path.iterdir()] == ["code"]


def test_saving_writes_through_links(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    real = tmp_path / "folder" / "real"
    real.write_text("old")
    link, second, dangling = (tmp_path / name for name in ("link", "second", "dangling"))
    link.symlink_to(Path("folder", "real"))
    second.symlink_to(link)
    dangling.symlink_to(Path("folder", "new"))
    codes["ptx"].save(second)
    codes["cubin"].save(dangling)
    assert all(path.is_symlink() for path in (link, second, dangling))
    assert real.read_bytes() == codes["ptx"].code
    assert (tmp_path / "folder" / "new").read_bytes() == codes["cubin"].code
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {"real", "new"}
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="loop"):
        codes["ptx"].save(loop)
    assert loop.is_symlink()


def test_saving_writes_into_pipes_and_devices(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    codes["cubin"].save(pipe)
    pipe_is_there = stat.S_ISFIFO(pipe.stat().st_mode)
    if not pipe_is_there:
        pipe.unlink()
    reader.join(timeout=10)
    assert pipe_is_there
    assert read == [codes["cubin"].code]
    (tmp_path / "null").symlink_to("/dev/null")
    codes["ptx"].save(tmp_path / "null")
    assert Path("/dev/null").is_char_device()
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "null"}


def test_saved_file_has_the_usual_mode(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    codes["ptx"].save(tmp_path / "code")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "code")}
    assert len(modes) == 1


@pytest.mark.parametrize("kind", ["cubin", "ptx", "ltoir"])
def test_pickle_leaves_the_source_out(codes: dict[str, ObjectCode], kind: str) -> None:
    code = pickle.loads(pickle.dumps(codes[kind]))  # a separate copy
    assert not code.pickle_source
    assert SECRET.encode() not in pickle.dumps(codes[kind])


@pytest.mark.parametrize("kind", ["cubin", "ptx"])
def test_parameters_keep_their_names_in_pickles(codes: dict[str, ObjectCode], kind: str) -> None:
    code = pickle.loads(pickle.dumps(codes[kind]))
    assert str(code.signature("fill")) == "fill(int* data, int count)"
    assert code.signature("axpy<float>") == codes[kind].signature("axpy<float>")


def test_pickle_has_the_source_where_it_is_asked_for() -> None:
    code = ltoir(SOURCE)
    code.pickle_source = True
    assert code.pickle_source
    data = pickle.dumps(code)
    assert SECRET.encode() in data
    options = {"arch": ARCH, "link_time_optimization": True}
    linked = Linker(pickle.loads(data), options=options).link()
    assert str(linked.signature("fill")) == "fill(int* data, int count)"
    with pytest.raises(TypeError):
        code.pickle_source = "yes"  # type: ignore[assignment]


@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_program_is_not_pickled(protocol: int) -> None:
    with pytest.raises(TypeError, match="pickle the ObjectCode"):
        pickle.dumps(Program(SOURCE, "c++"), protocol)


def test_open_descriptors_are_written_to(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    code = codes["ptx"]
    descriptor = os.memfd_create("code")
    try:
        code.save(f"/proc/self/fd/{descriptor}")
        assert os.fstat(descriptor).st_size == len(code.code)
    finally:
        os.close(descriptor)
    with (tmp_path / "held").open("w+b") as file:
        (tmp_path / "held").unlink()
        code.save(f"/dev/fd/{file.fileno()}")
        assert file.read() == code.code
    assert list(tmp_path.iterdir()) == []


def test_reads_pipes(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = codes["cubin"].code + bytes(1 << 20)
    for load in (ObjectCode.load, ObjectCode.from_cubin):
        writer = threading.Thread(target=lambda: pipe.write_bytes(data))
        writer.start()
        code = load(pipe)
        writer.join()
        assert code.code == data
        assert (code.code_type, code.name) == ("cubin", "pipe")
    output, input_ = os.pipe()
    try:
        os.write(input_, b".version 8.0\n")
        os.close(input_)
        assert ObjectCode.load(f"/dev/fd/{output}").code == b".version 8.0\n"
    finally:
        os.close(output)


def test_saving_goes_on_after_a_process_with_the_same_number(
    codes: dict[str, ObjectCode], tmp_path: Path
) -> None:
    """In containers, numbers repeat: what a killed process has left is in nobody's way."""
    path = tmp_path / "code"
    for count in range(2000):
        Path(f"{path}.{os.getpid()}-{count}.tmp").touch()
        Path(tmp_path / f".draft-{os.getpid()}-{count}").touch()
    codes["ptx"].save(path)
    assert path.read_bytes() == codes["ptx"].code


def test_saves_under_the_longest_name(
    codes: dict[str, ObjectCode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / ("a" * 255), Path("b" * 255)):
        codes["ptx"].save(path)
        assert ObjectCode.load(path).code == codes["ptx"].code
    with pytest.raises(OSError, match="name too long") as caught:
        codes["ptx"].save("c" * 256)
    assert caught.value.filename == "c" * 256
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["a", "b"]


def test_names_of_files_that_are_not_utf8(codes: dict[str, ObjectCode], tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/u\xff"
    codes["ptx"].save(os.fsdecode(path))
    code = ObjectCode.load(os.fsdecode(path))
    assert code.name == "u\\xff"
    assert repr(code) == "<ObjectCode 'u\\xff' ptx, 2 kernels>"
    assert pickle.loads(pickle.dumps(code)).name == code.name
    Path(os.fsdecode(path)).write_bytes(b"text")
    with pytest.raises(ValueError, match=r"u\\xff is not PTX, a cubin"):
        ObjectCode.load(os.fsdecode(path))
