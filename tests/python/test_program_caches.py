# SPDX-License-Identifier: Apache-2.0
"""The caches of cudacore.utils, their keys, and `Program.compile(cache=...)`."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cudacore import Device, ObjectCode, Program, ProgramOptions, utils
from cudacore.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
)
from harness import ARCH, cubin, ltoir, ptx, run_cleanly

SOURCE = 'extern "C" __global__ void fill(int* data, int count) { *data = count; }'

Make = Callable[..., ProgramCacheResource]


@pytest.fixture(params=["memory", "files"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "memory":
        return InMemoryProgramCache
    return lambda **kwargs: FileStreamProgramCache(tmp_path / "cache", **kwargs)


def key(**changes: Any) -> bytes:
    inputs: dict[str, Any] = {
        "code": SOURCE, "code_type": "c++", "options": ProgramOptions(arch=ARCH),
        "target_type": "cubin",
    }  # fmt: skip
    return make_program_cache_key(**(inputs | changes))


def options(**fields: Any) -> ProgramOptions:
    return ProgramOptions(arch=ARCH, **fields)


class TestMapping:
    def test_keeps_bytes(self, make: Make) -> None:
        with make() as cache:
            assert len(cache) == 0
            cache[b"a"] = b"one"
            cache["b"] = bytearray(b"two")
            cache[bytearray(b"c")] = memoryview(b"three")  # type: ignore[index]
            code = cubin(SOURCE)
            cache["code"] = code
            assert [cache["a"], cache[b"b"], cache["c"]] == [b"one", b"two", b"three"]
            assert cache["code"] == code.code
            assert len(cache) == 4
            cache["a"] = b""
            assert cache.get("a") == b""
            assert len(cache) == 4

    def test_missing_keys(self, make: Make) -> None:
        cache = make(max_size_bytes=10)
        for use in (lambda: cache["no"], lambda: cache.__delitem__("no")):
            with pytest.raises(KeyError, match="no"):
                use()
        assert cache.get("no") is None
        assert cache.get("no", b"x") == b"x"

    def test_removing(self, make: Make) -> None:
        cache = make()
        cache.update({"a": b"1", b"b": b"2"})
        cache.update([("c", b"3")])
        del cache["b"]
        assert len(cache) == 2
        cache.clear()
        assert len(cache) == 0
        assert cache.get("a") is None
        cache["a"] = b"4"
        assert cache["a"] == b"4"

    def test_update_keeps_what_came_before_an_error(self, make: Make) -> None:
        cache = make()
        with pytest.raises(TypeError):
            cache.update([("a", b"1"), ("b", 2)])  # type: ignore[list-item]
        assert cache["a"] == b"1"

    @pytest.mark.parametrize("bad", [1, None, ("a",), 1.5])
    def test_wrong_types(self, make: Make, bad: Any) -> None:
        cache = make()
        for use in (
            lambda: cache[bad], lambda: cache.get(bad), lambda: cache.__setitem__(bad, b""),
            lambda: cache.__delitem__(bad),
        ):  # fmt: skip
            with pytest.raises(TypeError, match="keys must be bytes or str"):
                use()
        with pytest.raises(TypeError, match="values must be bytes-like or ObjectCode"):
            cache["a"] = bad
        assert len(cache) == 0

    def test_there_is_no_in(self, make: Make) -> None:
        cache = make()
        with pytest.raises(TypeError):
            assert "a" not in cache  # type: ignore[operator]
        with pytest.raises(TypeError):
            iter(cache)  # type: ignore[call-overload]

    @pytest.mark.parametrize("bad", [0, -1])
    def test_bound_that_nothing_fits(self, make: Make, bad: int) -> None:
        with pytest.raises(ValueError, match="max_size_bytes must be positive"):
            make(max_size_bytes=bad)

    def test_evicts_what_was_read_least_recently(self, make: Make) -> None:
        cache = make(max_size_bytes=300)
        for name in "abc":
            cache[name] = bytes(100)
            time.sleep(0.02)
        assert cache["a"] == bytes(100)
        time.sleep(0.02)
        cache["d"] = bytes(100)
        assert [name for name in "abcd" if cache.get(name) is None] == ["b"]
        cache["e"] = bytes(301)
        assert cache.get("e") is None

    def test_replacing_and_removing_are_counted(self, make: Make) -> None:
        cache = make(max_size_bytes=300)
        for _ in range(5):
            cache["a"] = bytes(150)
        cache["b"] = bytes(150)
        assert len(cache) == 2
        del cache["a"]
        cache["c"] = bytes(150)
        assert len(cache) == 2

    def test_threads_share_it(self, make: Make) -> None:
        cache = make(max_size_bytes=2000)
        errors: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for i in range(50):
                    name = f"{(number + i) % 30}"
                    cache[name] = name.encode() * 100
                    data = cache.get(name)
                    assert data in {None, name.encode() * 100}
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []


class TestFiles:
    def test_stays_for_other_processes(self, tmp_path: Path) -> None:
        FileStreamProgramCache(tmp_path)["a"] = b"kept"
        script = """
            import sys
            from cudacore.utils import FileStreamProgramCache
            cache = FileStreamProgramCache(sys.argv[1])
            print(cache["a"].decode(), len(cache))
            cache["b"] = b"back"
        """
        assert run_cleanly(script, str(tmp_path)) == "kept 1\n"
        assert FileStreamProgramCache(str(tmp_path))["b"] == b"back"

    def test_default_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        FileStreamProgramCache()["a"] = b"1"
        assert len(FileStreamProgramCache(tmp_path / "xdg" / "cudacore" / "program-cache")) == 1
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        FileStreamProgramCache()["a"] = b"1"
        assert len(FileStreamProgramCache(tmp_path / ".cache" / "cudacore" / "program-cache")) == 1

    def test_files_are_the_users_and_hold_the_code_alone(self, tmp_path: Path) -> None:
        code = cubin(SOURCE)
        FileStreamProgramCache(tmp_path)[key()] = code
        [file] = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert file.stat().st_mode & 0o077 == 0
        assert ObjectCode.load(file).kernels == ("fill",)

    def test_long_keys(self, tmp_path: Path) -> None:
        cache = FileStreamProgramCache(tmp_path)
        cache["k" * 10000] = b"1"
        assert cache["k" * 10000] == b"1"

    def test_failed_write_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cache = FileStreamProgramCache(tmp_path)
        cache["a"] = b"old"

        def fail(_: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space left"):
                cache["a"] = b"new"
        assert cache["a"] == b"old"
        assert list(tmp_path.rglob("entry-*")) == []

    def test_folders_that_somebody_removed(self, tmp_path: Path) -> None:
        cache = FileStreamProgramCache(tmp_path / "c", max_size_bytes=100)
        cache["a"] = b"1"
        subprocess.run(["rm", "-r", str(tmp_path / "c")], check=True)
        assert cache.get("a") is None
        assert len(cache) == 0
        cache["a"] = b"2"
        assert cache["a"] == b"2"

    def test_old_drafts_are_removed_and_young_ones_stay(self, tmp_path: Path) -> None:
        FileStreamProgramCache(tmp_path)
        for name, age in (("old", 4000), ("young", 0)):
            (tmp_path / "tmp" / name).write_bytes(bytes(50))
            os.utime(tmp_path / "tmp" / name, (time.time() - age,) * 2)
        cache = FileStreamProgramCache(tmp_path, max_size_bytes=100)
        assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["young"]
        cache["a"] = bytes(60)  # with the draft, too much
        assert len(cache) == 0
        cache.clear()
        assert (tmp_path / "tmp" / "young").exists()

    def test_other_things_in_the_folder_are_left_alone(self, tmp_path: Path) -> None:
        cache = FileStreamProgramCache(tmp_path, max_size_bytes=1000)
        cache["a"] = b"1"
        (tmp_path / "entries" / "note.txt").write_text("mine")
        (tmp_path / "entries" / "ab").mkdir(exist_ok=True)
        (tmp_path / "entries" / "ab" / "link").symlink_to(tmp_path / "entries" / "note.txt")
        assert len(cache) == 1
        cache.clear()
        assert (tmp_path / "entries" / "note.txt").read_text() == "mine"
        assert (tmp_path / "entries" / "ab" / "link").is_symlink()

    @pytest.mark.parametrize("evicts", [True, False])
    def test_file_that_another_process_replaces_stays(self, tmp_path: Path, evicts: bool) -> None:
        cache = FileStreamProgramCache(tmp_path)
        cache["a"] = bytes(100)
        [path] = [path for path in (tmp_path / "entries").rglob("*") if path.is_file()]

        class Racing(FileStreamProgramCache):
            @staticmethod
            def _files(folder: Path, pattern: str) -> Any:
                yield from FileStreamProgramCache._files(folder, pattern)
                if not done and folder.name == "entries":
                    done.append(True)
                    cache["a"] = b"fresh"

        done = [True]
        racing = Racing(tmp_path, max_size_bytes=250)
        # Counting the size looks at the files, too: the race comes after what is removed was found.
        if evicts:
            racing._compute_total_size = lambda: 300  # type: ignore[method-assign]
            done.clear()
            racing["b"] = bytes(200)
        else:
            done.clear()
            racing.clear()
        assert done
        assert path.read_bytes() == b"fresh"

    def test_folder_that_cannot_be_one(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(OSError, match="file"):
                FileStreamProgramCache(path)
        with pytest.raises(TypeError):
            FileStreamProgramCache(5)  # type: ignore[arg-type]

    def test_processes_write_at_the_same_time(self, tmp_path: Path) -> None:
        script = """
            import sys
            from cudacore.utils import FileStreamProgramCache
            cache = FileStreamProgramCache(sys.argv[1], max_size_bytes=50_000)
            for i in range(200):
                name = str(i % 40)
                cache[name] = name.encode() * 1000
                data = cache.get(str((i * 7) % 40))
                assert data is None or data == str((i * 7) % 40).encode() * 1000
        """
        command = [sys.executable, "-c", "\n".join(line[12:] for line in script.splitlines())]
        running = [subprocess.Popen([*command, str(tmp_path)]) for _ in range(3)]
        assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
        cache = FileStreamProgramCache(tmp_path, max_size_bytes=50_000)
        for i in range(40):
            assert cache.get(str(i)) in {None, str(i).encode() * 1000}


class TestInterface:
    def test_is_abstract(self) -> None:
        with pytest.raises(TypeError, match="abstract"):
            ProgramCacheResource()  # type: ignore[abstract]

    def test_closes_at_the_end_of_with(self) -> None:
        closed = []

        class Cache(InMemoryProgramCache):
            def close(self) -> None:
                closed.append(self)

        with Cache() as cache:
            assert isinstance(cache, Cache)
        assert closed == [cache]

    def test_module_lists_its_names_and_loads_them_when_named(self) -> None:
        assert set(dir(utils)) == set(utils.__all__)
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = utils.nonsense  # type: ignore[attr-defined]
        script = """
            import sys, cudacore
            print("cudacore.utils" in sys.modules)
            from cudacore import utils
            print("cudacore.utils._file_cache" in sys.modules)
            utils.FileStreamProgramCache
            print("cudacore.utils._file_cache" in sys.modules, "numpy" in sys.modules)
        """
        assert run_cleanly(script) == "False\nFalse\nTrue False\n"

    @pytest.mark.parametrize("name", ["copy_batch", "prefetch_batch"])
    def test_missing_names_say_so(self, name: str) -> None:
        with pytest.raises(AttributeError, match=rf"{name}.*copies in batches.*cuda_core.md"):
            getattr(utils, name)
        script = f"from cudacore.utils import {name}"
        with pytest.raises(ImportError, match="copies in batches"):
            exec(script)


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
            {"name_expressions": (b"f",)},
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
            ({"code_type": "ptx", "target_type": "ltoir"}, ValueError, "not valid for code_type"),
            ({"code": 5}, TypeError, "code must be str"),
            ({"code": b"x"}, TypeError, "code must be str for code_type"),
            ({"code_type": "ltoir"}, TypeError, "code must be bytes"),
            ({"options": {"arch": ARCH}}, TypeError, "options must be ProgramOptions"),
            ({"name_expressions": ("f", 5)}, TypeError, "each of name_expressions"),
            ({"name_expressions": (bytearray(b"f"),)}, TypeError, "not bytearray"),
            ({"options": options(extra_sources=[("a", "b")])}, ValueError, "extra_sources"),
        ],
    )
    def test_wrong_inputs(self, changes: dict[str, Any], error: type[Exception], why: str) -> None:
        with pytest.raises(error, match=why):
            key(**changes)


#: Keys, and what they were made of.
SEEN: dict[bytes, Any] = {}


class Recording(InMemoryProgramCache):
    """Knows what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def get(self, key: bytes | str, default: bytes | None = None) -> bytes | None:
        data = super().get(key, default)
        self.calls.append("miss" if data is None else "hit")
        return data

    def __setitem__(self, key: Any, value: Any) -> None:
        self.calls.append("store")
        super().__setitem__(key, value)


@pytest.fixture
def program() -> Program:
    return Program(SOURCE, "c++", options(name="fill.cu"))


class TestCompile:
    @pytest.mark.parametrize("target", ["ptx", "ltoir", "PTX"])
    def test_second_time_is_a_hit(self, program: Program, target: Any) -> None:
        cache = Recording()
        first = program.compile(target, cache=cache)
        again = program.compile(target, cache=cache)
        other = Program(SOURCE, "c++", options(name="fill.cu")).compile(target, cache=cache)
        assert cache.calls == ["miss", "store", "hit", "hit"]
        assert first.code == again.code == other.code
        assert [again.code_type, again.name] == [first.code_type, "fill.cu"]
        assert len(cache) == 1

    def test_cubin(self, program: Program) -> None:
        cache = Recording()
        first = program.compile("cubin", cache=cache)
        asked = len(cache.calls)
        again = program.compile("cubin", cache=cache)
        assert set(cache.calls[asked:]) == {"hit"}
        assert again.code == first.code
        assert str(again.signature("fill")) == str(first.signature("fill"))
        assert (
            make_program_cache_key(
                code=SOURCE, code_type="c++", options=options(name="fill.cu"), target_type="cubin"
            )
            in cache._entries
        )

    @pytest.mark.parametrize("driver", ["simulator", ""])
    def test_hit_knows_the_types_of_parameters(self, driver: str) -> None:
        script = f"""
            from cudacore import Program
            from cudacore.utils import InMemoryProgramCache
            source = 'extern "C" __global__ void f(float* out, float a, int b) {{ *out = a + b; }}'
            ptx = Program(source, "c++", {{"arch": "{ARCH}"}}).compile("ptx").code
            for kind, code in {{"c++": source, "ptx": ptx}}.items():
                cache = InMemoryProgramCache()
                program = Program(code, kind, {{"arch": "{ARCH}"}})
                first = program.compile("cubin", cache=cache)
                again = program.compile("cubin", cache=cache)
                assert again.ptx == first.ptx != ""
                assert str(again.signature("f")) == str(first.signature("f"))
                print(again.signature("f"))
        """
        assert run_cleanly(script, env={"CUDACORE_DRIVER": driver}) == (
            "f(float* out, .f32 a, .u32 b)\nf(.u64, .f32, .u32)\n"
        )

    def test_code_without_its_ptx_is_compiled_again(self, program: Program) -> None:
        cache = Recording()
        program.compile("cubin", cache=cache)
        ptx = make_program_cache_key(
            code=SOURCE, code_type="c++", options=options(name="fill.cu"), target_type="ptx"
        )
        del cache[ptx]
        asked = len(cache.calls)
        assert program.compile("cubin", cache=cache).ptx != ""
        assert cache.calls[asked:] == ["hit", "miss", "store", "store"]

    @pytest.mark.parametrize("target", [None, "cubin", "ptx"])
    def test_hit_runs(self, device: Device, target: Any) -> None:
        device.set_current()
        cache = Recording()
        fields = {} if target is None else {"arch": f"sm_{device.arch}"}
        for _ in range(2):
            code = Program(SOURCE, "c++", fields).compile(target, cache=cache)
            buffer = device.allocate(4)
            code.get_kernel("fill")[1, 1](buffer, 7)
            assert buffer.to_host("i4").tolist() == [7]
        assert cache.calls[-1] == "hit"

    def test_ptx_and_lto_ir(self) -> None:
        cache = Recording()
        linked = {"arch": ARCH, "link_time_optimization": True}
        for _ in range(2):
            Program(ptx(SOURCE).code, "ptx", {"arch": ARCH}).compile("cubin", cache=cache)
            Program(ltoir(SOURCE).code, "ltoir", linked).compile("ptx", cache=cache)
        assert cache.calls == ["miss", "store", "miss", "store", "hit", "hit"]

    def test_logs_get_what_the_compiler_says(self) -> None:
        import io

        program = Program(SOURCE + "__global__ void g() { int unused; }", "c++", options())
        cache = Recording()
        logs = [io.StringIO(), io.StringIO()]
        for log in logs:
            program.compile("ptx", cache=cache, logs=log)
        assert "unused" in logs[0].getvalue()
        assert logs[1].getvalue() == ""

    def test_failed_compilation_stores_nothing(self) -> None:
        cache = Recording()
        with pytest.raises(cudacore.CompileError):
            Program("nonsense", "c++", options()).compile("ptx", cache=cache)
        assert cache.calls == ["miss"]

    def test_names(self, program: Program) -> None:
        cache = Recording()
        with pytest.raises(ValueError, match="name_expressions don't go with a cache"):
            program.compile("ptx", ["fill"], cache=cache)
        program.compile("ptx", [], cache=cache)
        assert cache.calls == ["miss", "store"]

    @pytest.mark.parametrize("fields", [{"include_path": "a"}, {"name": "a/b.cu"}, {"time": "-"}])
    def test_options_without_a_key(self, fields: dict[str, Any]) -> None:
        cache = Recording()
        with pytest.raises(ValueError, match="no key for"):
            Program(SOURCE, "c++", options(**fields)).compile("ptx", cache=cache)
        assert cache.calls == []

    @pytest.mark.parametrize("bad", [5, "cache", {}, InMemoryProgramCache])
    def test_other_objects(self, program: Program, bad: Any) -> None:
        with pytest.raises(TypeError, match="ProgramCacheResource"):
            program.compile("ptx", cache=bad)

    def test_errors_of_the_cache(self, program: Program) -> None:
        class Broken(Recording):
            def __init__(self, get: Any, store: bool) -> None:
                super().__init__()
                self.answer = get
                self.fails = store

            def get(self, key: Any, default: Any = None) -> Any:
                if isinstance(self.answer, Exception):
                    raise self.answer
                return self.answer

            def __setitem__(self, key: Any, value: Any) -> None:
                if self.fails:
                    raise OSError("disk full")

        with pytest.raises(RuntimeError, match="broken"):
            program.compile("ptx", cache=Broken(RuntimeError("broken"), False))
        with pytest.raises(TypeError, match=r"Broken.get\(\) returned int, not bytes"):
            program.compile("ptx", cache=Broken(5, False))
        with pytest.raises(OSError, match="disk full"):
            program.compile("ptx", cache=Broken(None, True))
        with pytest.raises(ValueError, match="is empty"):
            program.compile("ptx", cache=Broken(b"", False))

    def test_cache_that_closes_the_program(self, program: Program) -> None:
        class Closing(Recording):
            def get(self, key: Any, default: Any = None) -> Any:
                program.close()
                return super().get(key, default)

        assert program.compile("ptx", cache=Closing()).kernels == ("fill",)
        assert program.is_closed
