# SPDX-License-Identifier: Apache-2.0
"""Whole programs: the CUDA C++ in programs/, and the PTX that NVRTC made from it.

    python -m differential.programs

recompiles all of them, with the installed NVRTC, into golden/programs_ptx.xz; no GPU is needed. The
PTX is stored because two devices must run exactly the same code. A program's second line says how
to launch it.
"""

import json
import lzma
import sys
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cudacore
from cudacore import Device, LaunchConfig, ObjectCode, launch

from .compare import compare
from .golden import FOLDER
from .items import Item, Output
from .values import Random

_SOURCES = Path(__file__).parent / "programs"
_PTX = FOLDER / "programs_ptx.xz"
_WORDS = 4096


@cache
def _input() -> bytes:
    return Random("programs").bits(_WORDS * 32).to_bytes(_WORDS * 4, "little")


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


@dataclass(frozen=True)
class Program:
    name: str
    ptx: str
    launch: str

    @property
    def _settings(self) -> dict[str, str]:
        return dict(part.split("=", 1) for part in self.launch.split())

    @property
    def digest(self) -> int:
        return zlib.crc32(self.ptx.encode() + self.launch.encode() + _input())

    def run(self, device: Device) -> bytes:
        settings = self._settings
        device.set_current()
        cluster = _shape(settings["cluster"]) if "cluster" in settings else None
        grid = _shape(settings.get("grid", "1"))
        if cluster:
            grid = (grid[0] // cluster[0],)
        config = LaunchConfig(
            grid=grid,
            block=_shape(settings["block"]),
            cluster=cluster,
            shmem_size=int(settings.get("shared", "0")),
            is_cooperative="cooperative" in settings,
        )
        output = bytearray(4 * int(settings["output"]))
        kernel = ObjectCode.from_ptx(self.ptx.encode()).get_kernel("run")
        with (
            device.create_stream() as stream,
            device.allocate(len(_input()), stream=stream) as given,
            device.allocate(len(output), stream=stream) as result,
        ):
            given.copy_from(_input(), stream=stream)
            result.fill(0, stream=stream)
            launch(stream, config, kernel, given.handle, result.handle, _WORDS)
            result.copy_to(output, stream=stream)
            stream.sync()
        return bytes(output)

    def differs(self, expected: bytes, actual: bytes) -> str:
        """Return where it differs, or ""."""
        mode = self._settings.get("mode", "bits")
        width = 8 if "f64" in mode else 4
        outputs = [Output(0, width, len(expected) // width, mode)]
        return compare(Item(self.name, [], "", outputs), expected, actual).wrong


@cache
def programs() -> tuple[Program, ...]:
    if not _PTX.exists():
        return ()
    return tuple(Program(*entry) for entry in json.loads(lzma.decompress(_PTX.read_bytes())))


def _compile() -> list[tuple[str, str, str]]:
    version = ".".join(str(part) for part in cudacore.nvrtc_library()[0])
    made: list[tuple[str, str, str]] = []
    for path in sorted(_SOURCES.glob("*.cu")):
        source = path.read_text()
        second = source.splitlines()[1]
        if not second.startswith("// launch: "):
            continue
        settings = second.removeprefix("// launch: ")
        keys = dict(part.split("=", 1) for part in settings.split())
        for target in keys.get("targets", "sm_75,sm_90").split(","):
            options: dict[str, object] = {"arch": target, "std": "c++17"}
            if "fast" in keys.get("options", ""):
                options["use_fast_math"] = True
            if "int128" in keys.get("options", ""):
                options["device_int128"] = True
            try:
                code = cudacore.Program(source, "c++", options).compile("ptx").code.decode()
            except cudacore.CompileError as error:
                print(f"{path.name} for {target}: {error}", file=sys.stderr)
                continue
            lines = [line for line in code.splitlines() if line and not line.startswith("//")]
            made.append(
                (f"{path.stem} {target} nvrtc {version}", "\n".join(lines) + "\n", settings)
            )
    return made


def main() -> int:
    kept = [(p.name, p.ptx, p.launch) for p in programs()]
    fresh = _compile()
    version = fresh[0][0].rpartition(" ")[2] if fresh else ""
    kept = [entry for entry in kept if entry[0].rpartition(" ")[2] != version]
    data = json.dumps(sorted([*kept, *fresh]), separators=(",", ":")).encode()
    _PTX.parent.mkdir(exist_ok=True)
    _PTX.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(kept)} + {len(fresh)} programs, {_PTX.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
