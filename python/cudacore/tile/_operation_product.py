# SPDX-License-Identifier: Apache-2.0
"""What matrix products do in a kernel."""

from __future__ import annotations

import math

from cudacore.tile import _dtype
from cudacore.tile import _language_product as language
from cudacore.tile import _static_argument as argument
from cudacore.tile._dtype import DType, MismatchError
from cudacore.tile._operand import (
    Operand,
    Shape,
    astype,
    broadcast,
    common_shape,
    data_type,
    emit,
    filled,
    reshape,
    shape_of,
    spread,
    tile,
    typing,
)
from cudacore.tile._operation import implements
from cudacore.tile._promotion import accumulator, promote, scaled_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._scope import Scope


def _batch(x: Shape, y: Shape) -> Shape:
    """Give the leading axes of the product of matrices of these shapes."""
    message = f"Incompatible shapes for matrix mul on tiles: {x}, {y}."
    if x[-1] != y[-2]:
        raise MismatchError(
            f"{message} The last axis of the first must be as long as the last but one of the "
            f"second, but they are {x[-1]} and {y[-2]} long"
        )
    try:
        return common_shape(x[:-2], y[:-2])
    except MismatchError:
        raise MismatchError(f"{message} The leading axes do not broadcast") from None


def _multiply(scope: Scope, x: Operand, y: Operand, acc: Operand, batch: Shape) -> Operand:
    """Multiply; the text has one leading axis at most."""
    rows, inner = shape_of(x)[-2:]
    columns = shape_of(y)[-1]
    dtype = data_type(acc)
    lead = (math.prod(batch),) if batch else ()
    if len(batch) > 0:
        x = broadcast(scope, x, (*batch, rows, inner))
        y = broadcast(scope, y, (*batch, inner, columns))
    parts = (
        reshape(scope, x, (*lead, rows, inner)),
        reshape(scope, y, (*lead, inner, columns)),
        reshape(scope, acc, (*lead, rows, columns)),
    )
    result = emit(scope, "mma", *parts, dtype=dtype, shape=(*lead, rows, columns))
    return reshape(scope, result, (*batch, rows, columns))


@implements(language.mma)
def mma(scope: Scope, x: object, y: object, acc: object, *, use_fast_acc: object) -> Operand:
    """Multiply matrices and add to an accumulator."""
    fast = argument.boolean(use_fast_acc)
    left, right, sums = tile(x), tile(y), tile(acc)
    for name, factor in (("x", left), ("y", right)):
        if len(shape_of(factor)) < 2:  # noqa: PLR2004
            raise MismatchError(
                f"Expect shape of `{name}` to be at least 2D, got {shape_of(factor)}"
            )
    batch = _check_accumulator(left, right, sums)
    dtype = data_type(left)
    if fast and dtype not in (_dtype.float8_e4m3fn, _dtype.float8_e5m2):
        raise MismatchError(
            "use_fast_acc is only supported for fp8 input dtypes "
            f"(float8_e4m3fn, float8_e5m2), got {dtype}"
        )
    accumulator(dtype, data_type(right), data_type(sums))
    return _multiply(scope, left, right, sums, batch)


def _check_accumulator(x: Operand, y: Operand, acc: Operand) -> Shape:
    batch = _batch(shape_of(x), shape_of(y))
    shape = (*batch, shape_of(x)[-2], shape_of(y)[-1])
    if shape_of(acc) != shape:
        raise MismatchError(f"Expect acc shape to be {shape}, got {shape_of(acc)}")
    return batch


@implements(language.matmul)
def matmul(scope: Scope, x: object, y: object) -> Operand:
    """Multiply matrices or vectors, whose data types promote."""
    left, right = tile(x), tile(y)
    for name, factor in (("x", left), ("y", right)):
        if not shape_of(factor):
            raise MismatchError(f"Expect shape of `{name}` to be at least 1D, got a scalar")
    vectors = len(shape_of(left)) == 1, len(shape_of(right)) == 1
    dtype: DType = promote(typing(left), typing(right))
    sums = accumulator(dtype, dtype)
    left, right = astype(scope, left, dtype), astype(scope, right, dtype)
    if vectors[0]:
        left = reshape(scope, left, (1, *shape_of(left)))
    if vectors[1]:
        right = reshape(scope, right, (*shape_of(right), 1))
    batch = _batch(shape_of(left), shape_of(right))
    rows, columns = shape_of(left)[-2], shape_of(right)[-1]
    zero = filled(scope, 0, sums, (*batch, rows, columns))
    result = astype(scope, _multiply(scope, left, right, zero, batch), dtype)
    shape = batch + (() if vectors[0] else (rows,)) + (() if vectors[1] else (columns,))
    return reshape(scope, result, shape)


def _check_scale(x: Operand, scale: Operand, axis: int, name: str, blocks: Shape) -> int:
    """Give how many elements along an axis share a scale."""
    shape, scales = shape_of(x), shape_of(scale)
    axis %= len(shape)
    same = len(shape) == len(scales) and all(
        a == b for i, (a, b) in enumerate(zip(shape, scales, strict=False)) if i != axis
    )
    if not same:
        raise MismatchError(
            f"{name}_scale shape {scales} is not compatible with {name} shape {shape}. "
            f"All dimensions except K axis {axis} must match"
        )
    size, rest = divmod(shape[axis], scales[axis])
    if rest or size not in blocks:
        raise MismatchError(
            f"For mma_scaled with dtype={data_type(x)}, scale_dtype={data_type(scale)}: "
            f"{name}.shape[{axis}] must be an exact multiple of {name}_scale.shape[{axis}] "
            f"with scaling block size B = K // K_s in {set(blocks)}, "
            f"got {name}.shape[{axis}] = {shape[axis]} and "
            f"{name}_scale.shape[{axis}] = {scales[axis]}"
        )
    return size


def _scaled(scope: Scope, x: Operand, scale: Operand, axis: int, size: int) -> Operand:
    """Multiply a factor with its scales.

    That is exact in bfloat16: the significands together have 6 bits at most, of 8. Only what
    leaves the range of exponents of that type, which is that of float32, is not.
    """
    shape = shape_of(x)
    axis %= len(shape)
    split = (*shape[:axis], shape[axis] // size, size, *shape[axis + 1 :])
    scales = shape_of(scale)
    factor = reshape(scope, scale, (*scales[: axis + 1], 1, *scales[axis + 1 :]))
    factor = spread(scope, factor, _dtype.bfloat16, split)
    value = reshape(scope, astype(scope, x, _dtype.bfloat16), split)
    product = emit(scope, "mul", value, factor, dtype=_dtype.bfloat16, shape=split)
    return reshape(scope, product, shape)


@implements(language.mma_scaled)
def mma_scaled(  # noqa: PLR0917
    scope: Scope, x: object, x_scale: object, y: object, y_scale: object, acc: object
) -> Operand:
    """Multiply matrices whose blocks have scales, and add to an accumulator."""
    left, left_scale, right, right_scale, sums = map(tile, (x, x_scale, y, y_scale, acc))
    named = {"x": left, "y": right, "acc": sums, "x_scale": left_scale, "y_scale": right_scale}
    for name, each in named.items():
        if len(shape_of(each)) not in (2, 3):
            raise MismatchError(f"Expect shape of `{name}` to be 2D or 3D, got {shape_of(each)}")
    types = (data_type(each) for each in (left, left_scale, right, right_scale, sums))
    blocks = scaled_blocks(*types)
    sizes = (
        _check_scale(left, left_scale, -1, "x", blocks),
        _check_scale(right, right_scale, -2, "y", blocks),
    )
    batch = _check_accumulator(left, right, sums)
    left = _scaled(scope, left, left_scale, -1, sizes[0])
    right = _scaled(scope, right, right_scale, -2, sizes[1])
    return _multiply(scope, left, right, sums, batch)
