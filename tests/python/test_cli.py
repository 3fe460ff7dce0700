# SPDX-License-Identifier: Apache-2.0
"""`python -m cudacore`."""

import struct
import subprocess
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

import cudacore
import pytest
from cudacore._commands import COMMANDS
from harness import environment, hide, run_cleanly

#: An image that the simulated device draws quickly.
SMALL = ("--width", "160", "--height", "100", "--iterations", "100")


def call(
    folder: Path, *arguments: str, env: Mapping[str, str | None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudacore", *arguments],
        check=False, capture_output=True, text=True, cwd=folder, env=environment(env), timeout=120,
    )  # fmt: skip


@pytest.fixture(scope="module")
def without_gpu(
    tmp_path_factory: pytest.TempPathFactory,
) -> subprocess.CompletedProcess[str]:
    """A run that requests NVIDIA's driver by name, on a machine without it."""
    folder = tmp_path_factory.mktemp("run")
    result = call(folder, env=hide(folder / "hidden", "driver"))
    assert [path.name for path in folder.iterdir()] == ["hidden"]
    return result


def test_without_the_driver_asked_for_fails(
    without_gpu: subprocess.CompletedProcess[str],
) -> None:
    assert without_gpu.returncode == 3
    assert "Traceback" not in without_gpu.stdout + without_gpu.stderr
    assert "Nothing was drawn" in without_gpu.stdout


def test_without_the_driver_asked_for_says_what_is_missing(
    without_gpu: subprocess.CompletedProcess[str],
) -> None:
    said = without_gpu.stdout + without_gpu.stderr
    assert "libcuda.so.1" in said
    assert "driver" in said


def test_without_the_driver_asked_for_still_compiles_and_shows_the_signature(
    without_gpu: subprocess.CompletedProcess[str],
) -> None:
    assert "mandelbrot<float>(" in without_gpu.stdout


@pytest.mark.parametrize("library", ["nvrtc", "nvjitlink"])
def test_shows_versions_and_places(
    without_gpu: subprocess.CompletedProcess[str], library: str
) -> None:
    (major, minor), path = getattr(cudacore, f"{library}_library")()
    assert f"{major}.{minor}" in without_gpu.stdout
    assert Path(path).name in without_gpu.stdout


@pytest.mark.parametrize("what", ["no driver", "no device"])
def test_without_gpu_draws_on_the_simulated_device(tmp_path: Path, what: str) -> None:
    hidden = hide(tmp_path / "hidden", "driver")["LD_LIBRARY_PATH"]
    env = {"LD_LIBRARY_PATH": hidden} if what == "no driver" else {"CUDA_VISIBLE_DEVICES": ""}
    result = call(tmp_path, *SMALL, env={"CUDACORE_DRIVER": None, **env})
    assert (result.returncode, result.stderr) == (0, "")
    first = result.stdout.splitlines()[0]
    assert first.startswith("No GPU was found: this runs on the simulated device")
    assert "cudacore simulated device (sm_90)" in result.stdout
    assert "2000 of 2000 pixels" in result.stdout
    assert (tmp_path / "seahorse_valley.png").exists()


def test_unknown_driver(tmp_path: Path) -> None:
    result = call(tmp_path, env={"CUDACORE_DRIVER": "nonsense"})
    assert result.returncode == 3
    assert 'CUDACORE_DRIVER is "nonsense"' in result.stderr
    assert "Traceback" not in result.stderr


def test_help(tmp_path: Path) -> None:
    result = call(tmp_path, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert "python -m cudacore" in result.stdout


def test_help_lists_the_commands_and_each_has_its_own(tmp_path: Path) -> None:
    listed = call(tmp_path, "--help").stdout.partition("commands")[2]
    for name in COMMANDS:
        assert f"\n  {name} " in listed
        result = call(tmp_path, name, "--help")
        assert (result.returncode, result.stderr) == (0, "")
        assert f"usage: python -m cudacore {name}" in result.stdout


def test_unknown_command(tmp_path: Path) -> None:
    result = call(tmp_path, "simulate")
    assert (result.returncode, result.stdout) == (2, "")
    assert "there is no command 'simulate'; the commands are " in result.stderr
    assert ", ".join(COMMANDS) in result.stderr


def test_simulator_path(tmp_path: Path) -> None:
    result = call(tmp_path, "simulator-path")
    assert (result.returncode, result.stderr) == (0, "")
    assert (Path(result.stdout.strip()) / "libcuda.so.1").exists()
    assert call(tmp_path, "simulator-path", "extra").returncode == 2


def test_only_the_named_command_is_imported() -> None:
    script = """
    import sys
    from cudacore import __main__
    __main__.main(["simulator-path"])
    print([name for name in sys.modules if name.startswith("cudacore._commands.")])
    """
    assert run_cleanly(script).endswith("['cudacore._commands.simulator_path']\n")


def test_unknown_argument(tmp_path: Path) -> None:
    result = call(tmp_path, "--no-such-option")
    assert result.returncode == 2
    assert "--no-such-option" in result.stderr


@pytest.mark.parametrize(
    ("output", "why"),
    [("no/such/folder/a.png", "there is no folder"), (".", "is a folder")],
)
def test_bad_output_is_found_before_anything_else(tmp_path: Path, output: str, why: str) -> None:
    result = call(tmp_path, "--output", output, env={"CUDACORE_DRIVER": "simulator"})
    assert (result.returncode, result.stdout) == (2, "")
    assert f"--output {output}" in result.stderr
    assert why in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "size", [("--width", "2000000000"), ("--width", "99999", "--height", "99999")]
)
def test_absurd_size(tmp_path: Path, size: tuple[str, ...]) -> None:
    result = call(tmp_path, *size, env={"CUDACORE_DRIVER": "simulator"})
    assert (result.returncode, result.stdout) == (2, "")
    assert "is too large" in result.stderr
    assert "Traceback" not in result.stderr


def test_closed_pipe(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m cudacore {' '.join(SMALL)} | head -n 1"
    result = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, shell=True,
        env=environment({"CUDACORE_DRIVER": "simulator", "PYTHONUNBUFFERED": "1"}), timeout=120,
    )  # fmt: skip
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1


def test_draws_and_checks_an_image(device: cudacore.Device, tmp_path: Path) -> None:
    arguments = SMALL if cudacore.simulator.is_enabled() else ()
    result = call(tmp_path, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert device.name in result.stdout
    assert result.stdout.count(" ms") >= 3
    [image] = tmp_path.glob("*.png")
    data = image.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert min(width, height) >= 100
    pixels, position = b"", 8
    while position < len(data):
        (size,) = struct.unpack(">I", data[position : position + 4])
        kind, body = data[position + 4 : position + 8], data[position + 8 : position + 8 + size]
        check = struct.unpack(">I", data[position + 8 + size : position + 12 + size])[0]
        assert zlib.crc32(kind + body) == check
        pixels += body if kind == b"IDAT" else b""
        position += size + 12
    assert len(set(zlib.decompress(pixels))) > 16
