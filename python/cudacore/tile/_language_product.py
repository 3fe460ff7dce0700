# SPDX-License-Identifier: Apache-2.0
"""Matrix products of tiles."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._language_array import Tile


@language_function
def mma(x: Tile, y: Tile, /, acc: Tile, *, use_fast_acc: bool = False) -> Tile:
    """Multiply matrices and add to an accumulator.

    The leading axes broadcast. Nothing is promoted; the types are:

    ====================================  ======================
    ``x`` and ``y``                       ``acc``
    ====================================  ======================
    float16                               float16 or float32
    bfloat16, float32, tfloat32           float32
    float64                               float64
    float8_e4m3fn, float8_e5m2            float16 or float32
    int8, uint8 (may be mixed)            int32
    ====================================  ======================

    Parameters
    ----------
    x : Tile
        The left matrix ``[..., M, K]``.
    y : Tile
        The right matrix ``[..., K, N]``.
    acc : Tile
        The accumulator ``[..., M, N]``.
    use_fast_acc : bool
        A hint to trade precision for speed, of products of 8-bit floats. Default: False.

    Returns
    -------
    Tile
        ``x @ y + acc``, of the dtype of ``acc``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        acc = ct.mma(a, b, acc)
    """


@language_function
def mma_scaled(x: Tile, x_scale: Tile, y: Tile, y_scale: Tile, /, acc: Tile) -> Tile:
    """Multiply matrices whose blocks along K have scales, and add to an accumulator.

    Blocks are of B elements:

    ==========================  ================  ==========
    ``x`` and ``y``             the scales        B
    ==========================  ================  ==========
    float8_e4m3fn, float8_e5m2  float8_e8m0fnu    32
    float4_e2m1fn               float8_e8m0fnu    16 or 32
    float4_e2m1fn               float8_e4m3fn     16
    float4_e2m1fn               float8_e5m3fnu    16 or 32
    ==========================  ================  ==========

    The scales are multiplied into the factors as ``bfloat16`` first, which is exact unless a scaled
    factor leaves the range of that type, from 2**-126 to 2**127.

    Parameters
    ----------
    x : Tile
        The left matrix ``[..., M, K]``.
    x_scale : Tile
        Its scales ``[..., M, K / B]``.
    y : Tile
        The right matrix ``[..., K, N]``.
    y_scale : Tile
        Its scales ``[..., K / B, N]``.
    acc : Tile
        The accumulator ``[..., M, N]``, of ``float32``.

    Returns
    -------
    Tile
        The product of the scaled matrices, plus ``acc``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        acc = ct.mma_scaled(a, a_scale, b, b_scale, acc)
    """


@language_function
def matmul(x: Tile, y: Tile, /) -> Tile:
    """Multiply matrices. ``x @ y`` does the same.

    Parameters
    ----------
    x : Tile
        The left matrix ``[..., M, K]``, or a vector.
    y : Tile
        The right matrix ``[..., K, N]``, or a vector. Dtypes promote.

    Returns
    -------
    Tile
        The product, of the common dtype; the leading axes broadcast, and that of a vector
        is left out.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.matmul(a, b)  # a @ b
    """
