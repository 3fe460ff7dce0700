# SPDX-License-Identifier: Apache-2.0
"""`python -m cudacore doctor` on real set-ups: folders with made-up libraries, variables."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cudacore import _core
from cudacore._doctor import probe
from harness import ARCH, build_library, copy_package, environment, hide, run, run_cleanly

#: A libcuda that has every function, each of which returns cuInit's code.
DRIVER = """
#include <string.h>
int cuDriverGetVersion(int* version) { *version = VERSION; return STUB; }
static int any(void) { return CODE; }
static int name(int code, const char** text) { *text = NAME; return 0; }
static int text(int code, const char** text) { *text = "made up"; return 0; }
int cuGetProcAddress_v2(const char* symbol, void** function, int since, unsigned long long flags,
                        int* status) {
  *function = (void*)any;
  if (strcmp(symbol, "cuGetErrorName") == 0) *function = (void*)name;
  if (strcmp(symbol, "cuGetErrorString") == 0) *function = (void*)text;
  return STUB;
}
"""
CRASHING_DRIVER = """
#include <stdlib.h>
__attribute__((constructor)) static void start(void) { abort(); }
"""
NVML = """
#include <string.h>
int nvmlInit_v2(void) { return 18; }
const char* nvmlErrorString(int result) { return "Driver/library version mismatch"; }
"""
NVRTC = """
int nvrtcVersion(int* major, int* minor) { *major = 12; *minor = 4; return 0; }
"""
NAMES = {
    34: "CUDA_ERROR_STUB_LIBRARY", 100: "CUDA_ERROR_NO_DEVICE",
    802: "CUDA_ERROR_SYSTEM_NOT_READY", 803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    999: "CUDA_ERROR_UNKNOWN", 217: "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
}  # fmt: skip


def call(
    *arguments: str, env: Mapping[str, str | None] | None = None
) -> subprocess.CompletedProcess[str]:
    # hide() removes it, but the package may have been found by it.
    if not (env or {}).get("PYTHONPATH"):
        env = {**(env or {}), "PYTHONPATH": os.environ.get("PYTHONPATH")}
    return subprocess.run(
        [sys.executable, "-m", "cudacore", "doctor", *arguments],
        check=False, capture_output=True, text=True, env=environment(env), timeout=200,
    )  # fmt: skip


def examine(env: Mapping[str, str | None] | None = None) -> tuple[int, dict[str, Any]]:
    done = call("--json", env=env)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def ids(report: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {finding["id"]: finding for finding in report["findings"]}


def driver(
    folder: Path, code: int = 0, stub: int = 0, version: int = 13000
) -> dict[str, str | None]:
    """Build a driver that fails; return the environment in which it is found."""
    build_library(
        folder / "libcuda.so.1", DRIVER,
        CODE=code, STUB=stub, VERSION=version, NAME=f'"{NAMES.get(code, "")}"',
    )  # fmt: skip
    return {"LD_LIBRARY_PATH": str(folder), "CUDACORE_DRIVER": "native"}


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """What the doctor says of this machine and the device of the tests."""
    return examine()[1]


def test_says_which_libraries_are_used(report: dict[str, Any]) -> None:
    used = {library["name"]: library["used"] for library in report["libraries"]}
    assert used["driver"]["path"] == cudacore.driver_library()[1]
    compilers = {"NVRTC": cudacore.nvrtc_library, "nvJitLink": cudacore.nvjitlink_library}
    for name, find in compilers.items():
        version, path = find()
        assert (tuple(used[name]["version"]), used[name]["path"]) == (version, path)
        assert used[name]["place"] in {"wheel", "conda", "loader", "toolkit"}
    assert used["simulated device"]["path"] == cudacore.simulator.library()


def test_shows_devices_and_headers(report: dict[str, Any]) -> None:
    assert [device["name"] for device in report["devices"]] == [
        device.name for device in cudacore.Device.get_all_devices()
    ]
    assert all(device["failure"] is None for device in report["devices"])
    assert report["simulated"] == cudacore.simulator.is_enabled()
    used = [one["folder"] for one in report["headers"] if one["used"]]
    assert set(used) <= set(cudacore.include_directories())
    assert report["architectures"] == cudacore.nvrtc_architectures()


def test_shape_of_the_json(report: dict[str, Any]) -> None:
    assert report["format"] == 1
    assert set(report) == {
        "format", "healthy", "cudacore", "python", "findings", "libraries", "headers",
        "architectures", "simulated", "devices", "nvml", "machine", "cache", "environment",
    }  # fmt: skip
    for finding in report["findings"]:
        assert set(finding) == {"id", "severity", "text", "cure"}
        assert finding["severity"] in {"problem", "warning", "note"}
        assert finding["cure"]
    for library in report["libraries"]:
        assert set(library) == {"name", "used", "error", "copies"}


def test_device_of_the_tests_is_healthy() -> None:
    done = call()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("healthy")
    assert cudacore.Device(0).name in done.stdout
    assert cudacore.nvrtc_library()[1] in done.stdout


@pytest.mark.simulator_only(reason="chooses the simulated device")
def test_simulator_is_noted(report: dict[str, Any]) -> None:
    assert ids(report)["simulator-chosen"]["severity"] == "note"
    assert report["healthy"]


def test_no_driver(tmp_path: Path) -> None:
    code, report = examine(env=hide(tmp_path, "driver"))
    assert code == 1
    assert not report["healthy"]
    assert not report["devices"]
    [found] = [finding for finding in report["findings"] if finding["severity"] == "problem"]
    assert found["id"] in {
        "no-driver", "container-driver", "driver-without-libraries", "driver-not-installed",
        "container-capabilities",
    }  # fmt: skip


def test_no_compilers(tmp_path: Path) -> None:
    # Without the wheels, which would be found on sys.path.
    alone = copy_package(tmp_path / "alone")
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from cudacore.__main__ import main
        sys.exit(main(["doctor", "--json"]))
    """
    env = hide(tmp_path / "hidden", "NVRTC", "nvJitLink")
    done = run(script, str(alone), flags=("-I", "-S"), env=env, timeout=200)
    assert (done.returncode, done.stderr) == (1, "")
    found = ids(json.loads(done.stdout))
    assert found["no-nvrtc"]["severity"] == "problem"
    assert "pip install nvidia-cuda-nvrtc" in found["no-nvrtc"]["cure"]
    assert found["no-nvjitlink"]["severity"] == "warning"


def test_unknown_driver() -> None:
    code, report = examine(env={"CUDACORE_DRIVER": "nonsense"})
    assert code == 1
    assert "nonsense" in ids(report)["unknown-driver"]["text"]


@pytest.mark.parametrize(
    ("code", "id_", "cure"),
    [
        (802, "driver-does-not-start", "fabricmanager"),
        (803, "driver-does-not-start", "restart the machine"),
        (999, "driver-does-not-start", "nvidia-modprobe"),
        (217, "driver-does-not-start", "nvidia-smi"),
        (100, "no-device", "nvidia-smi -L"),
    ],
)
def test_driver_that_does_not_start(tmp_path: Path, code: int, id_: str, cure: str) -> None:
    env = {**driver(tmp_path, code), "CUDA_VISIBLE_DEVICES": None}
    status, report = examine(env=env)
    assert status == 1
    assert cure in ids(report)[id_]["cure"]


def test_hidden_devices(tmp_path: Path) -> None:
    env = {**driver(tmp_path, code=100), "CUDA_VISIBLE_DEVICES": "7"}
    _, report = examine(env=env)
    assert "CUDA_VISIBLE_DEVICES is '7'" in ids(report)["devices-hidden"]["text"]


@pytest.mark.simulator_only(reason="hides simulated devices")
def test_hidden_simulated_devices() -> None:
    code, report = examine(env={"CUDA_VISIBLE_DEVICES": ""})
    assert code == 1
    assert "devices-hidden" in ids(report)


def test_stub(tmp_path: Path) -> None:
    env = driver(tmp_path / "stubs", stub=34)
    code, report = examine(env=env)
    assert code == 1
    assert "LD_LIBRARY_PATH" in ids(report)["driver-stub"]["cure"]
    assert "stubs-in-path" in ids(report)


def test_old_driver(tmp_path: Path) -> None:
    _, report = examine(env=driver(tmp_path, version=11040))
    assert "11.4" in ids(report)["driver-too-old"]["text"]


def test_driver_that_crashes(tmp_path: Path) -> None:
    build_library(tmp_path / "libcuda.so.1", CRASHING_DRIVER)
    env = {"LD_LIBRARY_PATH": str(tmp_path), "CUDACORE_DRIVER": "native"}
    code, report = examine(env=env)
    assert code == 1
    assert "SIGABRT" in ids(report)["driver-crashes"]["text"]


def test_driver_of_another_version_than_the_module(tmp_path: Path) -> None:
    build_library(tmp_path / "libnvidia-ml.so.1", NVML)
    code, report = examine(env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert code == 1
    assert "restart the machine" in ids(report)["driver-mismatch"]["cure"]


def test_two_nvrtcs(tmp_path: Path) -> None:
    second = build_library(tmp_path / "lib64" / "libnvrtc.so.12", NVRTC)
    env = {"CUDA_PATH": str(tmp_path), "CUDA_HOME": None}
    _, report = examine(env=env)
    text = ids(report)["two-nvrtc"]["text"]
    assert f"12.4 at {second} (toolkit)" in text
    assert cudacore.nvrtc_library()[1] in text


def test_broken_nvrtc(tmp_path: Path) -> None:
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64" / "libnvrtc.so.12").write_text("no library")
    _, report = examine(env={"CUDA_PATH": str(tmp_path), "CUDA_HOME": None})
    assert "libnvrtc.so.12 (toolkit) cannot be opened" in ids(report)["broken-library"]["text"]


def test_nvrtc_of_another_package(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('imported')")
    build_library(tmp_path / "torch" / "lib" / "libnvrtc-672ee683.so.12", NVRTC)
    build_library(tmp_path / "torch" / "lib" / "libnvrtc-builtins.so.12.4", NVRTC)
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    done = call("--json", env={"PYTHONPATH": path})
    note = ids(json.loads(done.stdout))["bundled-library"]
    assert "torch brings NVRTC 12.4 at" in note["text"]
    assert "builtins" not in done.stdout


def test_variables_that_name_no_folder() -> None:
    code, report = examine(env={"CUDA_PATH": "/no/such/folder", "CUDA_HOME": "/usr"})
    assert "/no/such/folder" in ids(report)["no-such-folder"]["text"]
    assert "two-toolkits" in ids(report)
    assert code == 0 or not report["healthy"]


def test_shows_the_program_cache(tmp_path: Path) -> None:
    env = {"CUDACORE_CACHE_DIR": str(tmp_path / "cache")}
    _, report = examine(env=env)
    assert report["cache"]["folder"].startswith(str(tmp_path / "cache"))
    assert (report["cache"]["entries"], report["cache"]["problem"]) == (0, "")


def test_damaged_entries_are_found(tmp_path: Path) -> None:
    env = {"CUDACORE_CACHE_DIR": str(tmp_path / "cache")}
    script = f"""
        import cudacore
        for i in range(3):
            source = f"__global__ void f{{i}}() {{{{}}}}"
            cudacore.Program(source, "c++", {{"arch": "{ARCH}"}}).compile("ptx")
    """
    run_cleanly(script, env=env)
    assert "cache-damaged" not in ids(examine(env=env)[1])
    entry = next(path for path in tmp_path.rglob("*") if len(path.name) == 62)
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 4
    entry.write_bytes(content)
    before = entry.stat()
    _, report = examine(env=env)
    found = ids(report)["cache-damaged"]
    assert "1 of the 3 entries" in found["text"]
    assert f"the entry {entry.parent.name}{entry.name} is damaged" in found["text"]
    assert "python -m cudacore cache clear" in found["cure"]
    assert report["cache"]["checked"] == 3
    assert entry.read_bytes() == content  # it is only looked at
    assert entry.stat().st_mtime_ns == before.st_mtime_ns
    assert "cache-damaged" not in ids(examine(env={**env, "CUDACORE_CACHE": "0"})[1])


def test_settings_of_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = {"CUDACORE_CACHE_DIR": str(tmp_path / "cache")}
    for value in ({"CUDACORE_CACHE_MAX_SIZE": "abc"}, {"CUDACORE_CACHE": "maybe"}):
        found = ids(examine(env={**folder, **value})[1])
        assert next(iter(value)) in found["cache-settings"]["text"]
        assert "cache-unusable" not in found
    found = ids(examine(env={**folder, "CUDACORE_CACHE_MAX_SIZE": "0"})[1])
    assert "0 bytes" in found["cache-keeps-nothing"]["text"]
    off = {"CUDACORE_CACHE_DIR": str(tmp_path / "file"), "CUDACORE_CACHE": "0"}
    assert not [id_ for id_ in ids(examine(env=off)[1]) if id_.startswith("cache")]


def test_cache_that_cannot_be_made() -> None:
    found = ids(examine(env={"CUDACORE_CACHE_DIR": "/proc/cudacore"})[1])
    assert "/proc/cudacore cannot be made" in found["cache-unusable"]["text"]


def test_hiding_devices_by_a_wrong_number() -> None:
    env = {"CUDACORE_DRIVER": "simulator", "CUDA_VISIBLE_DEVICES": "5"}
    _, report = examine(env=env)
    [problem] = [one for one in report["findings"] if one["severity"] == "problem"]
    assert problem["id"] == "devices-hidden"
    assert problem["cure"] == "unset it, or name a simulated device, counted from 0"


def test_cache_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, report = examine(env={"CUDACORE_CACHE_DIR": str(tmp_path / "file")})
    assert ids(report)["cache-unusable"]["severity"] == "warning"
    assert code == 0 or not report["healthy"]


def test_forgotten_settings() -> None:
    _, report = examine(env={"CUDA_LAUNCH_BLOCKING": "1"})
    assert ids(report)["setting"]["cure"] == "unset CUDA_LAUNCH_BLOCKING"


def test_wrong_arguments() -> None:
    done = call("--yaml")
    assert done.returncode == 2
    assert "--yaml" in done.stderr


def test_help() -> None:
    done = call("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Exit status" in done.stdout


# Probes: processes that may do anything.


def test_probe_that_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(probe.ProbeError, match="has no attribute|cannot import"):
        probe.run("no_such_module")


def test_probe_that_hangs() -> None:
    with pytest.raises(probe.ProbeError, match="no answer within 0 s"):
        probe.run("probe_driver", timeout=0.001)


def test_probe_without_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(probe.ProbeError, match="no process could be started"):
        probe.run("probe_driver")


def test_probe_that_prints_when_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit\nprint('begin')\natexit.register(print, 'end')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert probe.run("probe_copy", "NVRTC", "libm.so.6")["error"] == "it has no nvrtcVersion"


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGKILL, "SIGKILL"), (signal.SIGRTMIN + 1, "signal 35")]
)
def test_probe_that_a_signal_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, name: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import os; os.kill(os.getpid(), {int(number)})\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(probe.ProbeError, match=f"^the process crashed with {name}\\."):
        probe.run("probe_copy", "NVRTC", "libm.so.6")


def test_probe_of_something_that_is_no_compiler() -> None:
    assert probe.run("probe_copy", "NVRTC", "libm.so.6")["error"] == "it has no nvrtcVersion"


# What the bindings tell.


def test_places_are_in_the_order_of_the_search() -> None:
    kinds = [kind for kind, _ in _core.library_places("NVRTC")]
    order = ["loaded", "wheel", "conda", "loader", "toolkit"]
    assert kinds == sorted(kinds, key=order.index)
    assert ("loader", "libnvrtc.so.13") in _core.library_places("NVRTC")
    path = cudacore.nvrtc_library()[1]
    files = [os.path.realpath(name) for kind, name in _core.library_places("NVRTC")]
    assert path in files or "loader" in kinds


@pytest.mark.parametrize("library", ["NVRTC", "nvJitLink", "nvFatbin"])
def test_places_of_each_library(library: str) -> None:
    assert any("lib" + library.lower() in name.lower() for _, name in _core.library_places(library))


def test_places_of_an_unknown_library() -> None:
    with pytest.raises(ValueError, match="name NVRTC, nvJitLink or nvFatbin"):
        _core.library_places("libcuda")


def test_header_places_have_versions() -> None:
    for folder, version in _core.header_places():
        assert (Path(folder) / "cuda_runtime_api.h").exists()
        assert version >= (11, 0)
