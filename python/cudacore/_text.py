# SPDX-License-Identifier: Apache-2.0
"""How sizes and counts are written."""

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def size_text(size: int, digits: str = ".1f") -> str:
    """Write a number of bytes in the largest unit that it fills: ``1.5 MiB``.

    Parameters
    ----------
    size : int
        Bytes.
    digits : str, default ".1f"
        The format of the number, if the unit isn't bytes.
    """
    power = min(max(size.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    return f"{size / 2 ** (10 * power):{digits if power else '.0f'}} {UNITS[power]}"


def count_text(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun, whose plural has an s by default: ``1 run``, ``5 runs``."""
    return f"{count} {one if count == 1 else many or one + 's'}"
