# SPDX-License-Identifier: Apache-2.0
"""A minimal PNG writer: 8-bit RGB, not interlaced."""

import struct
import zlib
from pathlib import Path

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = b"\x02"


def write_rgb(path: Path, width: int, height: int, pixels: bytes | bytearray) -> None:
    """Write an image.

    Parameters
    ----------
    path : Path
        The file; it is replaced if it exists.
    width, height : int
        Pixels.
    pixels : bytes or bytearray
        Rows from the top, three bytes per pixel: ``3 * width * height`` bytes.

    Raises
    ------
    ValueError
        The number of bytes is wrong.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> write_rgb(Path("red.png"), 1, 1, bytes([255, 0, 0]))
    """
    stride = 3 * width
    if len(pixels) != stride * height:
        raise ValueError(
            f"{width} x {height} RGB pixels take {stride * height} bytes, got {len(pixels)}"
        )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (pixels[start : start + stride] for start in range(0, len(pixels), stride))
    filtered = bytearray()
    above: bytes | bytearray = bytes(stride)
    for row in rows:
        filtered += _UP + _subtract(row, above)
        above = row
    with path.open("wb") as file:
        file.write(_SIGNATURE)
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(filtered)), (b"IEND", b"")):
            file.write(struct.pack(">I", len(data)) + kind + data)
            file.write(struct.pack(">I", zlib.crc32(kind + data)))


def _subtract(row: bytes | bytearray, above: bytes | bytearray) -> bytes:
    """Subtract byte by byte, modulo 256: all bytes at once, as one big integer.

    The high bit of each byte is set aside, so that no borrow leaves its byte, and restored with an
    exclusive or.
    """
    high = int.from_bytes(b"\x80" * len(row), "little")
    a = int.from_bytes(row, "little")
    b = int.from_bytes(above, "little")
    difference = ((a | high) - (b & ~high)) ^ ((a ^ ~b) & high)
    return difference.to_bytes(len(row), "little")
