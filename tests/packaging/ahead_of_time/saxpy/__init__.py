# SPDX-License-Identifier: Apache-2.0
"""A library whose kernels were compiled before it was packaged."""

from importlib import resources

from cudacore import Buffer, ObjectCode

_code = ObjectCode.load(resources.files(__name__) / "kernels.fatbin")


def saxpy(a: float, x: Buffer, y: Buffer, count: int) -> None:
    """Add ``a * x`` to ``y``, for buffers of ``count`` floats.

    Parameters
    ----------
    a : float
    x, y : Buffer
    count : int
    """
    _code.get_kernel("saxpy<float>")[(count + 255) // 256, 256](a, x, y, count)


def scale(x: Buffer, factor: float, count: int) -> None:
    """Multiply ``x``, a buffer of ``count`` floats, by ``factor``.

    Parameters
    ----------
    x : Buffer
    factor : float
    count : int
    """
    _code.get_kernel("scale")[(count + 255) // 256, 256](x, factor, count)
