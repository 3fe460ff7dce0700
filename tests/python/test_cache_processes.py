# SPDX-License-Identifier: Apache-2.0
"""The program cache in several processes and threads, and on the command line."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cached_programs import SOURCE, compile_ptx, done, folder
from cudacore import cache
from harness import ARCH, environment, hide, run, run_cleanly

__all__ = ["folder"]  # a fixture


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
    assert command("burn", env=variables(folder)).returncode == 2
    for unused in (folder, folder.parent / "other"):
        off = command(env=variables(unused, CUDACORE_CACHE="off"))
        assert "switched off" in off.stdout
        assert off.returncode == 0


def test_the_command_tells_settings_from_the_folder(folder: Path) -> None:
    for name, value, said in (
        (
            "CUDACORE_CACHE_MAX_SIZE",
            "lots",
            "is not a size such as 500M or 4G; the default is used",
        ),
        ("CUDACORE_CACHE", "maybe", "is neither on nor off; the cache is on"),
    ):
        shown = command(env=variables(folder, **{name: value}))
        assert f"settings  {name}={value} {said}" in shown.stdout
        assert "problem" not in shown.stdout
        assert shown.returncode == 0
    both = variables(folder, CUDACORE_CACHE="maybe", CUDACORE_CACHE_MAX_SIZE="lots")
    found = json.loads(command("--json", env=both).stdout)
    assert found["problem"] == ""
    assert found["settings_problem"].count("CUDACORE_CACHE") == 2
    nothing = command(env=variables(folder, CUDACORE_CACHE_MAX_SIZE="0"))
    assert "it keeps nothing" in nothing.stdout
    assert nothing.returncode == 0


def test_the_command_tries_to_make_the_folder(tmp_path: Path) -> None:
    for impossible in (Path("/proc/cudacore/cache"), Path("/proc/cudacore")):
        shown = command(env=variables(impossible))
        assert f"problem   {impossible} cannot be made: " in shown.stdout
        assert shown.returncode == 1
    below = tmp_path / "a" / "b"
    assert command(env=variables(below)).returncode == 0
    assert list(tmp_path.iterdir()) == []
