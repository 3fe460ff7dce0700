# SPDX-License-Identifier: Apache-2.0
"""Launches of tile kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cudacore
from cudacore import _tracing
from cudacore.tile._kernel import kernel as Kernel  # noqa: N812 - the parameter has its name
from cudacore.tile._launch_argument import arguments_of, strides_of
from cudacore.tile._variant import architecture_of
from cudacore.utils import StridedMemoryView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore import Stream

_MOST_BLOCKS = 2**24 - 1
_MOST_LAUNCHES = 1024
_NUMBERS = frozenset({int, float, bool})
_NO_STREAMS = frozenset({int, bool, type(None)})
_MOST_AXES = 3


def launch(  # noqa: C901
    stream: Any,
    grid: Sequence[int],
    kernel: Kernel,
    kernel_args: Sequence[Any],
    /,
    *,
    programmatic_dependent_launch: bool = False,
) -> None:
    """Queue a kernel on a stream, which evaluates it once for each block of a grid.

    Parameters
    ----------
    stream : Stream, anything with ``__cuda_stream__``, or int
        The stream, also of another library, or its handle; 0 is the default stream.
    grid : tuple of int
        How many blocks there are along up to three axes, each at most 2**24 - 1.
    kernel : kernel
        What each block evaluates.
    kernel_args : tuple
        Its arguments, one for each parameter: arrays of any library on one device, ints, floats,
        bools, lists of arrays, and plain tuples and frozen dataclasses of these. Arguments for
        parameters annotated with ``Constant`` are compiled in.
    programmatic_dependent_launch : bool
        Whether the kernel may start before the one in front of it on the stream has ended, once
        that one calls ``grid_dependency_control_launch_dependents()``. The kernel must call
        ``grid_dependency_control_wait()`` before it uses what that one computes.

    Raises
    ------
    TypeError, ValueError, OverflowError
        An argument is not possible.
    TileError
        The kernel can't be compiled; see the class.
    LaunchError, CUDAError
        The driver refuses the launch.

    Notes
    -----
    While PyTorch traces a `cudacore.torch_op`, nothing is launched.

    Examples
    --------
    >>> import cudacore
    >>> import cudacore.tile as ct
    >>> import numpy as np
    >>> @ct.kernel
    ... def double(x, size: ct.Constant[int]):
    ...     i = ct.bid(0)
    ...     ct.store(x, (i,), ct.load(x, (i,), (size,)) * 2)
    >>> device = cudacore.Device()
    >>> stream = device.create_stream()
    >>> buffer = device.allocate(64, stream=stream)
    >>> numbers = np.arange(16, dtype=np.float32)
    >>> buffer.copy_from(numbers, stream=stream)
    >>> ct.launch(stream, (2,), double, (buffer.view(np.float32), 8))
    >>> buffer.to_host(np.float32, stream=stream)[:4]
    array([0., 2., 4., 6.], dtype=float32)
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a tile kernel, not {type(kernel).__name__}")
    if _tracing.count and _tracing.is_tracing():
        return
    kernel_args = tuple(kernel_args)
    key, passed = _describe_quickly(stream, grid, kernel, kernel_args)
    if key is not None:
        if programmatic_dependent_launch:
            key = (*key, "dependent")
        try:
            found = kernel.launches.get(key)
        except TypeError:  # a constant that is not hashable
            key, found = None, None
        if found is not None:
            cudacore.launch(stream, found[0], found[1], *passed)
            return
    extents = _check_grid(grid)
    arguments = arguments_of(kernel, kernel_args)
    queue = _to_stream(stream, arguments.device)
    compiled = kernel.variant(arguments.constraints, architecture_of(queue))
    passed = list[Any](arguments.passed)
    for place, numbers in arguments.tables:
        passed[place] = _copy_table(numbers, queue)
    config = compiled.config(extents, bool(programmatic_dependent_launch))
    if config is None:
        return
    cudacore.launch(queue, config, compiled.kernel, *passed)
    if key is not None and arguments.device is not None:
        if len(kernel.launches) == _MOST_LAUNCHES:
            kernel.launches.clear()
        kernel.launches[key] = (config, compiled.kernel)


def _describe_quickly(
    stream: Any, grid: Any, kernel: Kernel, values: Any
) -> tuple[tuple[object, ...] | None, list[Any]]:
    """Return what tells launches of one kind, and what the compiled kernel is passed.

    A launch that is described by None takes the long way, which also tells what is wrong.
    """
    nothing: tuple[None, list[Any]] = (None, [])
    constants = kernel.constants
    if type(grid) is not tuple or type(stream) in _NO_STREAMS or len(values) != len(constants):
        return nothing
    key: list[object] = [grid]
    passed: list[Any] = []
    for value, is_constant in zip(values, constants, strict=True):
        kind = type(value)
        key.append(kind)
        if is_constant:
            # As text, since 0.0 equals -0.0, and NaN not itself.
            key.append(repr(value) if kind is float else value)
        elif kind in _NUMBERS:
            passed.append(value)
        elif hasattr(kind, "__dlpack__"):
            try:
                view = StridedMemoryView.from_any_interface(value, -1)
            except (BufferError, TypeError, ValueError):
                return nothing
            address, shape, strides = view.ptr, view.shape, view.strides or strides_of(view)
            if view.device_id < 0:
                return nothing
            key += (getattr(value, "dtype", None), shape, strides, address & 15, view.device_id)
            passed.append(address)
            passed += shape
            passed += strides
        else:
            return nothing
    return tuple(key), passed


def _check_grid(grid: Sequence[int]) -> tuple[int, int, int]:
    if not isinstance(grid, (tuple, list)):
        raise TypeError(f"grid must be a tuple of up to three ints, not {type(grid).__name__}")
    if len(grid) > _MOST_AXES:
        raise ValueError(f"grid must have up to three extents, not {len(grid)}")
    extents = [1, 1, 1]
    for axis, extent in enumerate(grid):
        if isinstance(extent, bool) or not hasattr(extent, "__index__"):
            raise TypeError(f"Grid[{axis}] must be an int, not {type(extent).__name__}")
        count = int(extent.__index__())
        if count > _MOST_BLOCKS:
            raise ValueError(
                f"Grid[{axis}] exceeds 24-bit limit: max={_MOST_BLOCKS}, got={count}. Use multiple "
                "kernel launches for larger workloads."
            )
        if count < 0:
            raise ValueError(f"Grid[{axis}] must not be negative, got={count}")
        extents[axis] = count
    return extents[0], extents[1], extents[2]


def _to_stream(stream: Any, device: int | None) -> Stream:
    if stream is None:
        raise TypeError("Stream is required, got None")
    if isinstance(stream, bool):
        raise TypeError("Unsupported stream type 'bool'.")
    if isinstance(stream, int):
        on = cudacore.Device() if device is None else cudacore.Device(device)
        on.set_current()
        return cudacore.Stream.from_handle(stream) if stream else on.default_stream
    if isinstance(stream, cudacore.Stream):
        return stream
    if not hasattr(stream, "__cuda_stream__"):
        raise TypeError(f"Unsupported stream type '{type(stream).__name__}'.")
    return cudacore.Device().create_stream(stream)


def _copy_table(numbers: list[int], stream: Stream) -> cudacore.Buffer:
    """Copy the table of a list of arrays to the device, in the order of the stream."""
    table = stream.device.allocate(8 * len(numbers), stream=stream)
    table.copy_from(b"".join(number.to_bytes(8, "little") for number in numbers), stream=stream)
    return table
