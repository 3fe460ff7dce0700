# SPDX-License-Identifier: Apache-2.0
"""The caches of cudacore.utils."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cache_keys import SOURCE, key
from cudacore import ObjectCode, utils
from cudacore.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
)
from harness import ARCH, cubin, run_cleanly

Make = Callable[..., ProgramCacheResource]


@pytest.fixture(params=["memory", "files"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "memory":
        return InMemoryProgramCache
    return lambda **kwargs: FileStreamProgramCache(tmp_path / "cache", **kwargs)


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

    @pytest.mark.parametrize("bad", ["1G", 1.5, True])
    def test_bound_that_is_no_int(self, make: Make, bad: object) -> None:
        with pytest.raises(TypeError, match=f"max_size_bytes must be an int or None, not {bad!r}"):
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

    def test_default_folder_is_that_of_the_program_cache(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        FileStreamProgramCache()["a"] = b"1"
        assert [path.name for path in tmp_path.iterdir()] == ["home"]
        for home in ("", "relative"):
            monkeypatch.setenv("HOME", home)
            with pytest.raises(
                OSError, match="neither XDG_CACHE_HOME nor HOME is set; give a path"
            ):
                FileStreamProgramCache()
        if os.geteuid() == 0:
            (tmp_path / "other").mkdir()
            os.chown(tmp_path / "other", 65534, -1)
            monkeypatch.setenv("HOME", str(tmp_path / "other"))
            with pytest.raises(OSError, match=r"other belongs to another user \(65534\)"):
                FileStreamProgramCache()
            assert list((tmp_path / "other").iterdir()) == []

    def test_folders_are_private_and_leave_the_program_cache_usable(self, tmp_path: Path) -> None:
        script = f"""
            import os
            os.umask(0o002)
            import cudacore
            from cudacore.utils import FileStreamProgramCache
            FileStreamProgramCache()["a"] = b"1"
            program = cudacore.Program("__global__ void f() {{}}", "c++", {{"arch": "{ARCH}"}})
            program.compile("ptx"), program.compile("ptx")
            info = cudacore.cache.info()
            print(info.folder, info.hits, info.problem)
        """
        env = {"CUDACORE_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": str(tmp_path)}
        base = tmp_path / ".cache" / "cudacore"
        assert run_cleanly(script, env=env) == f"{base} 1 \n"
        for folder in (base, *(path for path in base.rglob("*") if path.is_dir())):
            assert folder.stat().st_mode & 0o777 == 0o700, folder
        assert base.parent.stat().st_mode & 0o777 == 0o775

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
        for name, age in (("entry-old", 4000), ("entry-young", 0), ("mine", 4000)):
            (tmp_path / "tmp" / name).write_bytes(bytes(50))
            os.utime(tmp_path / "tmp" / name, (time.time() - age,) * 2)
        cache = FileStreamProgramCache(tmp_path, max_size_bytes=100)
        assert {path.name for path in (tmp_path / "tmp").iterdir()} == {"entry-young", "mine"}
        cache["a"] = bytes(60)  # with the draft, too much
        assert len(cache) == 0
        cache.clear()
        assert (tmp_path / "tmp" / "entry-young").exists()

    def test_other_things_in_the_folder_are_left_alone(self, tmp_path: Path) -> None:
        cache = FileStreamProgramCache(tmp_path, max_size_bytes=1000)
        cache["a"] = b"1"
        (tmp_path / "entries" / "note.txt").write_text("mine")
        (tmp_path / "entries" / "ab").mkdir(exist_ok=True)
        (tmp_path / "entries" / "ab" / "link").symlink_to(tmp_path / "entries" / "note.txt")
        mine = ["ab/note.txt", "ab/" + "A" * 62, "photos/" + "a" * 62, "ab/" + "a" * 61]
        for name in mine:
            path = tmp_path / "entries" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(bytes(2000))
        assert len(cache) == 1
        cache["b"] = bytes(900)
        cache["c"] = bytes(900)  # which removes the other
        assert len(cache) == 1
        cache.clear()
        assert all((tmp_path / "entries" / name).exists() for name in mine)
        assert (tmp_path / "entries" / "note.txt").read_text() == "mine"
        assert (tmp_path / "entries" / "ab" / "link").is_symlink()

    @pytest.mark.parametrize("kind", ["pipe", "folder", "socket"])
    def test_what_is_no_file_is_no_entry(
        self, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cache = FileStreamProgramCache(tmp_path)
        cache["a"] = b"one"
        [path] = [each for each in (tmp_path / "entries").rglob("*") if each.is_file()]
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            monkeypatch.chdir(path.parent)  # for its name is long
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(path.name)
        assert cache.get("a") is None
        with pytest.raises(KeyError):
            cache["a"]
        assert len(cache) == 0
        if kind != "folder":
            cache["a"] = b"two"
            assert cache["a"] == b"two"

    @pytest.mark.parametrize("evicts", [True, False])
    def test_file_that_another_process_replaces_stays(self, tmp_path: Path, evicts: bool) -> None:
        cache = FileStreamProgramCache(tmp_path)
        cache["a"] = bytes(100)
        [path] = [path for path in (tmp_path / "entries").rglob("*") if path.is_file()]

        class Racing(FileStreamProgramCache):
            def _entry_files(self) -> Any:
                yield from super()._entry_files()
                if not done:
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
        with pytest.raises(ValueError, match="FileStreamProgramCache: the folder's path is empty"):
            FileStreamProgramCache("")

    def test_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        FileStreamProgramCache("~/c")["a"] = b"1"
        assert FileStreamProgramCache(tmp_path / "c")["a"] == b"1"
        with pytest.raises(ValueError, match="no such user: '~no such user/c'"):
            FileStreamProgramCache("~no such user/c")
        assert [path.name for path in tmp_path.iterdir()] == ["c"]

    @pytest.mark.parametrize("linked", ["entries", "tmp"])
    def test_linked_folders_are_refused(self, tmp_path: Path, linked: str) -> None:
        victim = tmp_path / "victim"
        file = victim / "ab" / ("c" * 62) if linked == "entries" else victim / "entry-x"
        file.parent.mkdir(parents=True)
        file.write_bytes(bytes(2000))
        os.utime(file, (time.time() - 4000,) * 2)
        cache = FileStreamProgramCache(tmp_path / "cache", max_size_bytes=100)
        (tmp_path / "cache" / linked).rmdir()
        (tmp_path / "cache" / linked).symlink_to(victim)
        for use in (
            cache.clear,
            lambda: cache.update({"a": b"1"}),
            lambda: FileStreamProgramCache(tmp_path / "cache"),
        ):
            with pytest.raises(NotADirectoryError, match=f"must not be a link.*{linked}"):
                use()
        assert [path for path in victim.rglob("*") if path.is_file()] == [file]

    def test_linked_folder_of_entries_is_refused(self, tmp_path: Path) -> None:
        cache = FileStreamProgramCache(tmp_path / "cache", max_size_bytes=1000)
        cache["a"] = bytes(10)
        [folder] = (tmp_path / "cache" / "entries").iterdir()
        folder.rename(tmp_path / "victim")
        folder.symlink_to(tmp_path / "victim")
        for use in (cache.clear, lambda: cache.__delitem__("a"), lambda: cache.update({"a": b"1"})):
            with pytest.raises(NotADirectoryError, match="must not be a link"):
                use()
        [file] = (tmp_path / "victim").iterdir()
        assert file.stat().st_size == 10

    def test_folder_itself_may_be_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        FileStreamProgramCache(tmp_path / "link")["a"] = b"1"
        assert FileStreamProgramCache(tmp_path / "real")["a"] == b"1"

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
