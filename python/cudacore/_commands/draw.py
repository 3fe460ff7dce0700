# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore`` without a command: what this machine has, and the main job on its GPU.

If there is no GPU, the command uses the simulated device, and its first line says so.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cudacore import _core, _mandelbrot, _png, simulator
from cudacore._commands import FAILED, MISSING, listing, output_file
from cudacore._text import size_text

CHECKED_PIXELS = 2000
COMPILE_ONLY_ARCH = 90

# Width, height and iterations: what a GPU draws in an instant, and what a CPU draws in a few
# seconds.
ON_GPU = (1600, 1000, 1500)
SIMULATED = (640, 400, 300)

NO_GPU = """\
No GPU was found: this runs on the simulated device, on the CPU. Its times say nothing about a GPU.
Why there is none:"""

GO_ON = """\
Nothing was drawn: the driver that CUDACORE_DRIVER asks for shows no device. Unset it, and the
simulated device is used if there is no GPU."""

# Three bytes per pixel: 1 GiB, on the host and on the device.
MOST_PIXELS = 2**30 // 3


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Report, draw and check; return the exit status."""
    output_file.check(parser, "--output", options.output)
    _choose_driver()
    usual = SIMULATED if simulator.is_enabled() else ON_GPU
    width, height, iterations = (
        given or default
        for given, default in zip(
            (options.width, options.height, options.iterations), usual, strict=True
        )
    )
    if width * height > MOST_PIXELS:
        parser.error(
            f"an image of {width} x {height} pixels is too large: at most {MOST_PIXELS} pixels"
        )
    return _run(_mandelbrot.View(width, height, iterations), options.output)


def parser(prog: str) -> argparse.ArgumentParser:
    """Make the parser, whose help lists all commands."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s [-h] [--version] [--output FILE] [--width N] [--height N] "
        "[--iterations N]\n       %(prog)s COMMAND ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Print what cudacore finds on this machine, draw the Mandelbrot set on its GPU "
        "or,\nif there is none, on the simulated device, and check the image against the host.",
        epilog=f"{listing()}\n"
        "Exit status: 0 drawn and checked, 1 failed, 3 a library or a device is missing.",
    )
    parser.add_argument("--version", action="version", version=f"cudacore {_core.__version__}")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("seahorse_valley.png"),
        metavar="FILE",
        help="the image (default: %(default)s)",
    )
    for name, on_gpu, simulated, text in zip(
        ("width", "height", "iterations"),
        ON_GPU,
        SIMULATED,
        (
            "pixels in a row",
            "rows of pixels",
            "iterations before a point is taken to lie in the set",
        ),
        strict=True,
    ):
        parser.add_argument(
            f"--{name}",
            type=_positive,
            metavar="N",
            help=f"{text} (default: {on_gpu}; on the simulated device {simulated})",
        )
    return parser


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 0 < value < 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {2**31 - 1}")
    return value


def _choose_driver() -> None:
    """Use the simulated device if there is no GPU and the user hasn't chosen a driver."""
    if os.environ.get("CUDACORE_DRIVER"):
        return
    try:
        _core.driver_library()
    except _core.DriverNotFoundError as error:
        # It may be what hides the GPU, and would also hide the simulated device.
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        simulator.enable()
        print(NO_GPU)
        _say("", str(error))


def _run(view: _mandelbrot.View, output: Path) -> int:
    _say("cudacore", f"{_core.__version__}, Python {sys.version.split()[0]}")
    has_driver = _report_library("driver", _core.driver_library)
    has_nvrtc = _report_library("NVRTC", _core.nvrtc_library)
    _report_library("nvJitLink", _core.nvjitlink_library)
    _report_library("nvFatbin", _core.nvfatbin_library)
    device = _report_devices() if has_driver else None
    code = _compile(device) if has_nvrtc else None
    if device is None:
        print(f"\n{GO_ON}")
    if device is None or code is None:
        return MISSING

    picture = _draw(device, code, _mandelbrot.EXACT, view)
    _draw(device, code, _mandelbrot.FAST, view)
    count = min(CHECKED_PIXELS, view.width * view.height)
    agreeing = _mandelbrot.count_agreeing(picture.pixels, view, count)
    _say(
        "check",
        f"{agreeing} of {count} pixels of {_mandelbrot.EXACT} agree with the host's own "
        f"computation, each channel within {_mandelbrot.TOLERANCE} of 255",
    )
    _png.write_rgb(output, view.width, view.height, picture.pixels)
    _say("image", str(output.resolve()))
    if agreeing < count:
        print("\nerror: the device and the host do not agree; see check above", file=sys.stderr)
        return FAILED
    return 0


def _report_library(title: str, find: Callable[[], tuple[tuple[int, int], str]]) -> bool:
    try:
        (major, minor), path = find()
    except _core.LibraryNotFoundError as error:
        _say(title, f"missing. {error}")
        return False
    _say(title, f"{major}.{minor:<5} {path}")
    return True


def _report_devices() -> _core.Device | None:
    devices = _core.Device.get_all_devices()
    if not devices:
        _say("device", "none: the driver is there but shows no GPU; look at CUDA_VISIBLE_DEVICES")
        return None
    for device in devices:
        _say(
            f"device {device.device_id}",
            f"{device.name}, sm_{device.arch}, "
            f"{device.properties.multiprocessor_count} multiprocessors",
        )
    # Querying the memory makes a context, so query only the device that draws.
    devices[0].set_current()
    memory = devices[0].mem_info
    _say("memory", f"{size_text(memory.free)} of {size_text(memory.total)} free on device 0")
    return devices[0]


def _compile(device: _core.Device | None) -> _core.ObjectCode:
    if device is None:
        known = _core.nvrtc_architectures()
        arch = f"sm_{COMPILE_ONLY_ARCH if COMPILE_ONLY_ARCH in known else max(known)}"
    else:
        arch = f"sm_{device.arch}"
    begin = time.perf_counter()
    code = _mandelbrot.compile_kernel(None if device else arch)
    elapsed_ms = 1e3 * (time.perf_counter() - begin)
    _say("compile", f"{elapsed_ms:.1f} ms: for {arch}, {len(code.code)} bytes of {code.code_type}")
    for name in (_mandelbrot.EXACT, _mandelbrot.FAST):
        _say("signature", str(code.signature(name)))
    return code


def _draw(
    device: _core.Device, code: _core.ObjectCode, name: str, view: _mandelbrot.View
) -> _mandelbrot.Picture:
    picture = _mandelbrot.draw(device, code.get_kernel(name), view)
    _say(
        "kernel",
        f"{picture.kernel_ms:.3f} ms: {name}, {view.width} x {view.height} pixels of 4 samples, "
        f"up to {view.iterations} iterations each",
    )
    # Events resolve half a microsecond, which copying a tiny image may not take.
    rate = len(picture.pixels) / max(picture.copy_ms, 5e-4) / 1e6
    _say("copy", f"{picture.copy_ms:.3f} ms: {len(picture.pixels)} bytes, {rate:.1f} GB/s")
    return picture


def _say(title: str, text: str) -> None:
    print(f"{title:<10} {text}".replace("\n", "\n" + " " * 11))
