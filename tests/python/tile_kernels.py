# SPDX-License-Identifier: Apache-2.0
"""Texts of tile kernels, and how they run on the device."""

import numpy as np
from cudacore import Device, LaunchConfig, Program, ProgramOptions, _tile, launch


def run(text, *arguments, grid=1, arch=None):
    """Launch a kernel; arrays are copied to the device and back."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    generated = _tile.generate(text, arch=arch or 80)
    options = ProgramOptions(arch=f"sm_{arch or 80}", headers=_tile.headers())
    kernel = Program(generated.source, "c++", options).compile("ptx").get_kernel(generated.entry)
    passed = []
    buffers = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            buffer = device.allocate(max(argument.nbytes, 1), stream=stream)
            buffer.copy_from(
                np.ascontiguousarray(argument).view(np.uint8).reshape(-1), stream=stream
            )
            buffers.append((argument, buffer))
            passed.append(buffer)
        else:
            passed.append(argument)
    config = LaunchConfig(grid=grid, block=generated.threads, shmem_size=generated.shared_bytes)
    launch(stream, config, kernel, *passed)
    for array, buffer in buffers:
        array[...] = buffer.to_host(np.uint8, stream=stream).view(array.dtype).reshape(array.shape)
    stream.sync()
    return generated


def whole(name, element, shape, pad="zero"):
    """Load a tile from an array of its own shape."""
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    zeros = ", ".join("0" for _ in shape)
    return (
        f"load {name}, origin({zeros}), shape({', '.join(map(str, shape))}), "
        f"strides({', '.join(map(str, strides))}) {{pad = {pad}}} : {tile(element, shape)}"
    )


def keep(name, value, shape):
    """Store a tile to an array of its own shape."""
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    zeros = ", ".join("0" for _ in shape)
    return (
        f"store {name}, {value}, origin({zeros}), shape({', '.join(map(str, shape))}), "
        f"strides({', '.join(map(str, strides))})"
    )


def tile(element, shape):
    return f"{element}[{','.join(map(str, shape))}]" if shape else element


DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "i1": np.bool_,
}


def kernel(parameters, body, hints=""):
    lines = [
        f"param %{name} : {kind} {{align = 16}}" if "ptr" in kind else f"param %{name} : {kind}"
        for name, kind in parameters.items()
    ]
    return "\n".join(["tile 1", 'kernel "k" {', *lines, hints, body, "return", "}"])
