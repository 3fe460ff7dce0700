# SPDX-License-Identifier: Apache-2.0
"""Compiles programs, and runs them on the current device."""

import cudacore
from cudacore import Device, Kernel, LaunchConfig, ObjectCode, Program, ProgramOptions, launch

from .program_archive import CompiledModule
from .program_runs import FOLDER, Module, Run


def compile_module(
    module: Module, include_path: list[str] | None = None, arch: str = ""
) -> CompiledModule:
    options = ProgramOptions(
        arch=arch or module.arch,
        std="c++17",
        include_path=[str(FOLDER), *(include_path or [])],
        **dict(module.options),
    )
    code = Program(module.source, "c++", options).compile("ptx", module.kernels)
    mapping = code.symbol_mapping
    names = {
        kernel: mapping.get(kernel, kernel).decode()
        if isinstance(mapping.get(kernel, kernel), bytes)
        else mapping.get(kernel, kernel)
        for kernel in module.kernels
    }
    compiler = ".".join(map(str, cudacore.system.get_nvrtc_version()))
    return CompiledModule(module.digest, compiler, names, code.code)


class LoadedModule:
    """A module on the current device."""

    def __init__(self, device: Device, compiled: CompiledModule) -> None:
        self._device = device
        self._compiled = compiled
        self._code = ObjectCode.from_ptx(compiled.ptx)

    def kernel(self, name: str) -> Kernel:
        return self._code.get_kernel(self._compiled.names[name])

    def run(self, run: Run) -> bytes:
        """Return the outputs, one after another as in `run.arrays`; what is not written is 0."""
        stream = self._device.default_stream
        inputs = []
        for data in run.input_bytes():
            buffer = self._device.allocate(len(data), stream=stream)
            buffer.copy_from(data, stream=stream)
            inputs.append(buffer)
        output = bytearray(run.size)
        config = LaunchConfig(
            grid=run.grid // max(run.cluster, 1),  # In clusters, if there are any.
            block=run.block,
            cluster=run.cluster or None,
            shmem_size=run.shared,
            is_cooperative=run.cooperative,
        )
        with self._device.allocate(run.size, stream=stream) as buffer:
            buffer.fill(0, stream=stream)
            places = [buffer.handle + array.offset for array in run.arrays]
            arguments = [*(data.handle for data in inputs), *places]
            launch(stream, config, self.kernel(run.kernel), *arguments)
            buffer.copy_to(output, stream=stream)
            stream.sync()
        for data in inputs:
            data.close()
        return bytes(output)
