# SPDX-License-Identifier: Apache-2.0
"""The main job of ``python -m cudacore``: an image of the Mandelbrot set, drawn and checked."""

import math
from pathlib import Path
from typing import NamedTuple

from cudacore import _core

EXACT = "mandelbrot<double>"
FAST = "mandelbrot<float>"
SOURCE = Path(__file__).with_name("_mandelbrot.cu")
BLOCK = (32, 8)
TOLERANCE = 1

_RADIUS_SQUARED = 1e6


class View(NamedTuple):
    """A rectangle of the complex plane, and how finely to draw it.

    Attributes
    ----------
    width, height : int
        Pixels.
    iterations : int
        A point that stays within the radius for this many is assumed to be in the set.
    center_x, center_y : float
        The center; by default in the Seahorse Valley.
    extent : float
        Width of the rectangle.
    """

    width: int
    height: int
    iterations: int
    center_x: float = -0.7436
    center_y: float = 0.1318
    extent: float = 0.012

    @property
    def pixel(self) -> float:
        """Width of a pixel in the plane."""
        return self.extent / self.width


class Picture(NamedTuple):
    """What a device drew.

    Attributes
    ----------
    pixels : bytearray
        RGB, rows from the top.
    kernel_ms, copy_ms : float
        Milliseconds that the kernel and the copy to the host took on the device.
    """

    pixels: bytearray
    kernel_ms: float
    copy_ms: float


def compile_kernel(arch: str | None = None) -> _core.ObjectCode:
    """Compile the two instances of the kernel, without the program cache.

    Multiplications and additions are not fused, so the host can repeat every rounding.

    Parameters
    ----------
    arch : str, optional
        Such as ``"sm_90"``; by default the current device's.
    """
    options = _core.ProgramOptions(name=SOURCE.name, arch=arch, fma=False)
    program = _core.Program(SOURCE.read_text(encoding="utf-8"), "c++", options)
    return program.compile("cubin", name_expressions=(EXACT, FAST), cache=False)


def draw(device: _core.Device, kernel: _core.Kernel, view: View) -> Picture:
    """Draw a view on the current device, and copy it to the host."""
    grid = (-(-view.width // BLOCK[0]), -(-view.height // BLOCK[1]))
    pixels = bytearray(3 * view.width * view.height)
    arguments = (view.center_x, view.center_y, view.pixel, view.iterations)
    timing = _core.EventOptions(timing_enabled=True)
    with (
        device.create_stream() as stream,
        device.allocate(len(pixels)) as image,
    ):
        # The first launch also loads the code onto the device.
        kernel[1, BLOCK](image, view.width, view.height, *arguments)
        begin = stream.record(options=timing)
        kernel[grid, BLOCK](image, view.width, view.height, *arguments)
        drawn = stream.record(options=timing)
        image.copy_to(pixels)
        copied = stream.record(options=timing)
        stream.sync()
        return Picture(pixels, drawn - begin, copied - drawn)


def count_agreeing(pixels: bytearray, view: View, count: int) -> int:
    """Draw a sample of the pixels on the host, and count those that ``EXACT`` drew the same.

    Each channel may differ by ``TOLERANCE``, because the logarithm and the cosine of host and
    device may round differently in the last place. Everything else is IEEE arithmetic in the
    same order.

    Parameters
    ----------
    pixels : bytearray
        The whole image.
    view : View
        What it shows.
    count : int
        Number of pixels to draw, spread evenly; not more than the image has.
    """
    agreeing = 0
    total = view.width * view.height
    for index in range(count):
        # Multiples of the golden ratio, modulo 1, are the most even distribution.
        place = int(total * (index * 0.6180339887498949 % 1.0))
        row, column = divmod(place, view.width)
        drawn = pixels[3 * place : 3 * place + 3]
        expected = pixel_color(view, column, row)
        agreeing += all(abs(a - b) <= TOLERANCE for a, b in zip(drawn, expected, strict=True))
    return agreeing


def pixel_color(view: View, column: int, row: int) -> tuple[int, int, int]:
    """Red, green and blue of one pixel, as the kernel computes them."""
    red = green = blue = 0.0
    for sample in range(4):
        right = column + 0.25 + 0.5 * (sample % 2) - 0.5 * view.width
        down = row + 0.25 + 0.5 * (sample // 2) - 0.5 * view.height
        color = _shade(
            view.center_x + right * view.pixel, view.center_y - down * view.pixel, view.iterations
        )
        red += color[0]
        green += color[1]
        blue += color[2]
    return int(63.75 * red + 0.5), int(63.75 * green + 0.5), int(63.75 * blue + 0.5)


def _shade(cx: float, cy: float, iterations: int) -> tuple[float, float, float]:
    x = y = dx = dy = 0.0
    for n in range(1, iterations + 1):
        dx, dy = 2 * (x * dx - y * dy) + 1, 2 * (x * dy + y * dx)
        x, y = x * x - y * y + cx, 2 * x * y + cy
        norm = x * x + y * y
        if norm > _RADIUS_SQUARED:
            count = n - math.log2(math.log(norm) / math.log(_RADIUS_SQUARED))
            phase = 2.4 * math.log(count + 1) + 2.6
            away_x = x * dx + y * dy
            away_y = y * dx - x * dy
            slope = (0.6 * away_x + 0.8 * away_y) / math.sqrt(away_x * away_x + away_y * away_y)
            light = 0.37 + 0.13 * slope
            return (
                light * (1 + math.cos(phase)),
                light * (1 + math.cos(phase + 0.7)),
                light * (1 + math.cos(phase + 1.4)),
            )
    return 0.0, 0.0, 0.0
