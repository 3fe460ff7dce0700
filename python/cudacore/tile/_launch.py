# SPDX-License-Identifier: Apache-2.0
"""Launches of tile kernels."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import cudacore
from cudacore._core import _TileLaunches
from cudacore._integers import to_int
from cudacore._public import public
from cudacore.tile._kernel import kernel as Kernel  # noqa: N812 - the parameter has its name
from cudacore.tile._launch_argument import arguments_of
from cudacore.tile._specialization import architecture_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore import Stream

_MOST_BLOCKS = 2**24 - 1
_MOST_AXES = 3


@public("cudacore.tile")
def launch(
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
        The stream, also of another library, or its handle. A default stream of another library, or
        0, is that of the device that the arrays are on. Work that other libraries have queued on
        other streams is not waited for.
    grid : tuple or list of int
        How many blocks there are along up to three axes, each at most 2**24 - 1. If one is 0,
        nothing runs.
    kernel : kernel
        What each block evaluates.
    kernel_args : tuple or list
        Its arguments, one for each parameter: arrays of any library on one device, ints, floats,
        bools, lists of arrays, and plain tuples and frozen dataclasses of these. Convert scalars
        of NumPy by ``int()`` or ``float()``. Arguments for parameters annotated with
        ``Constant`` are compiled in.
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
        advice = (
            "decorate it with @cudacore.tile.kernel"
            if isinstance(kernel, types.FunctionType)
            else "the order is launch(stream, grid, kernel, kernel_args)"
        )
        raise TypeError(f"kernel must be a tile kernel, not {type(kernel).__name__}; {advice}")
    if not isinstance(kernel_args, (tuple, list)):
        kind = type(kernel_args).__name__
        raise TypeError(
            f"kernel_args must be a tuple of the arguments, not {kind}; a tuple of one is (x,)"
        )
    # What follows is for what is like no launch before, or can't be compared with one, or is wrong.
    args = tuple(kernel_args)
    is_dependent = bool(programmatic_dependent_launch)
    launches = kernel._known_launches()  # noqa: SLF001
    extents = _check_grid(grid)
    arguments = arguments_of(kernel, args)
    queue = to_stream(stream, arguments.device)
    if arguments.device not in (None, queue.device.device_id):
        raise ValueError(
            f"The arrays are on device {arguments.device}, and the stream is on device "
            f"{queue.device.device_id}"
        )
    # First, since this is refused while the stream is captured.
    tables = [(place, _copy_table(numbers, queue)) for place, numbers in arguments.tables]
    architecture = architecture_of(queue.device)
    try:
        compiled = kernel._specialize(arguments.constraints, architecture)  # noqa: SLF001
    except Exception as error:  # noqa: BLE001 - raised again
        from cudacore.tile._exception import without_frames  # noqa: PLC0415 - rarely needed

        raise without_frames(error) from error.__cause__
    config = compiled.config(extents, is_dependent)
    if config is None:
        return
    if not arguments.has_records:
        launches.add(queue, args, is_dependent, config, compiled.kernel, compiled.watched)
        if launches.try_launch(queue, extents, args, is_dependent):
            return
    passed = list[Any](arguments.passed)
    for place, table in tables:
        passed[place] = table
    used = (*arguments.arrays, *arguments.views, *(table for _, table in tables))
    launches.launch_once(queue, config, compiled.kernel, tuple(passed), used)


launch = _TileLaunches.fast_launch(launch, Kernel)


def _check_grid(grid: Sequence[int]) -> tuple[int, int, int]:
    if not isinstance(grid, (tuple, list)):
        raise TypeError(f"grid must be a tuple of up to three ints, not {type(grid).__name__}")
    if len(grid) > _MOST_AXES:
        raise ValueError(f"grid must have up to three extents, not {len(grid)}")
    extents = [1, 1, 1]
    for axis, extent in enumerate(grid):
        count = to_int(extent, f"Grid[{axis}]")
        if count > _MOST_BLOCKS:
            raise ValueError(
                f"Grid[{axis}] exceeds 24-bit limit: max={_MOST_BLOCKS}, got={count}. Use multiple "
                "kernel launches for larger workloads."
            )
        if count < 0:
            raise ValueError(f"Grid[{axis}] must not be negative, got={count}")
        extents[axis] = count
    return extents[0], extents[1], extents[2]


def to_stream(stream: Any, device: int | None) -> Stream:
    """Return the stream that a launch with arrays on a device goes to."""
    if stream is None:
        raise TypeError("Stream is required, got None")
    if isinstance(stream, bool):
        raise TypeError("Unsupported stream type 'bool'.")
    if isinstance(stream, int):
        if stream not in {0, cudacore.LEGACY_DEFAULT_STREAM.handle}:
            return cudacore.Stream.from_handle(stream)
        return (cudacore.Device() if device is None else cudacore.Device(device)).default_stream
    if isinstance(stream, cudacore.Stream):
        return stream
    if not hasattr(stream, "__cuda_stream__"):
        raise TypeError(f"Unsupported stream type '{type(stream).__name__}'.")
    given = cudacore.Device().create_stream(stream)
    is_default = given.handle == cudacore.LEGACY_DEFAULT_STREAM.handle
    return given if device is None or not is_default else cudacore.Device(device).default_stream


def _copy_table(numbers: list[int], stream: Stream) -> cudacore.Buffer:
    """Copy the table of a list of arrays to the device, in the order of the stream."""
    if _TileLaunches.is_captured(stream):
        raise cudacore.NotSupportedError(
            "List argument in CUDAGraph isn't supported yet: pass the arrays as a tuple, or stack "
            "them, while a stream is being captured"
        )
    table = stream.device.allocate(8 * len(numbers), stream=stream)
    table.copy_from(b"".join(number.to_bytes(8, "little") for number in numbers), stream=stream)
    return table
