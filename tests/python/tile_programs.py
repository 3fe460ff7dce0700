# SPDX-License-Identifier: Apache-2.0
"""Kernels that tests write while they run, and launches of kernels on NumPy's arrays."""

import itertools
import linecache
from typing import Any

import cudacore.tile as ct
import numpy as np
from cudacore import Device

_number = itertools.count()


def define(source: str, name: str = "k", **names: Any) -> Any:
    """Run source that can be read again, as that of a notebook; return what has the name."""
    filename = f"<program {next(_number)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"ct": ct, **names}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


def launch(kernel: Any, *arguments: Any, grid: tuple[int, ...] = (1,)) -> None:
    """Launch a kernel, which may change the arrays among its arguments."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    views: list[Any] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            flat = np.ascontiguousarray(argument).reshape(-1).view(np.uint8)
            buffer = device.allocate(flat.nbytes, stream=stream)
            buffer.copy_from(flat, stream=stream)
            views.append(buffer.view(argument.dtype).reshape(argument.shape))
        else:
            views.append(argument)
    ct.launch(stream, grid, kernel, tuple(views))
    for argument, view in zip(arguments, views, strict=True):
        if isinstance(argument, np.ndarray):
            flat = np.empty(argument.nbytes, np.uint8)
            view.exporting_obj.copy_to(flat, stream=stream)
            stream.sync()
            argument[...] = flat.view(argument.dtype).reshape(argument.shape)
    stream.sync()
