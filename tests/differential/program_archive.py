# SPDX-License-Identifier: Apache-2.0
"""What is stored for programs: the PTX of each module, and what a GPU computed with it.

An output is stored as one checksum per 256 bytes; a part in which the simulated device's bits
differ (or may differ) is stored as it is.
"""

import json
import lzma
import zlib
from dataclasses import dataclass, field
from pathlib import Path

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 24}]
FOLDER = Path(__file__).parent / "golden" / "programs"
PART = 256


@dataclass(frozen=True)
class CompiledModule:
    digest: int
    #: What compiled it.
    compiler: str
    #: From a kernel's C++ name to its name in the PTX.
    names: dict[str, str]
    ptx: bytes


def save_ptx(name: str, compiled: CompiledModule, folder: Path = FOLDER) -> int:
    head = json.dumps([compiled.digest, compiled.compiler, compiled.names]).encode()
    packed = _compress(head + b"\n" + compiled.ptx)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.ptx.xz").write_bytes(packed)
    return len(packed)


def load_ptx(name: str, folder: Path = FOLDER) -> CompiledModule | None:
    path = folder / f"{name}.ptx.xz"
    if not path.exists():
        return None
    head, _, ptx = lzma.decompress(path.read_bytes()).partition(b"\n")
    return CompiledModule(*json.loads(head), ptx)


@dataclass
class KeptOutput:
    """The output of a run: checksums of its parts, and the parts that are stored as they are."""

    digest: int
    size: int
    sums: list[int] = field(default_factory=list)
    parts: dict[int, bytes] = field(default_factory=dict)

    def expected(self, actual: bytes) -> tuple[bytes, list[int]]:
        """Return what the GPU computed, if stored or the same as `actual`; and the other parts."""
        result = bytearray(actual)
        wrong: list[int] = []
        for index, total in enumerate(self.sums):
            begin = index * PART
            kept = self.parts.get(index)
            if kept is not None:
                result[begin : begin + len(kept)] = kept
            elif zlib.crc32(actual[begin : begin + PART]) != total:
                wrong.append(index)
        return bytes(result), wrong


def keep(digest: int, output: bytes, simulated: bytes | None) -> KeptOutput:
    """Store what a GPU computed; uncompressed where another device's result has other bits."""
    kept = KeptOutput(digest, len(output))
    for index, begin in enumerate(range(0, len(output), PART)):
        part = output[begin : begin + PART]
        kept.sums.append(zlib.crc32(part))
        if simulated is not None and simulated[begin : begin + PART] != part:
            kept.parts[index] = part
    return kept


def save_results(module: str, results: dict[str, KeptOutput], folder: Path = FOLDER) -> int:
    index = [[name, kept.digest, kept.size, sorted(kept.parts)] for name, kept in results.items()]
    head = json.dumps(index, separators=(",", ":")).encode()
    sums = b"".join(s.to_bytes(4, "little") for kept in results.values() for s in kept.sums)
    parts = b"".join(kept.parts[at] for kept in results.values() for at in sorted(kept.parts))
    packed = _compress(len(head).to_bytes(4, "little") + head + sums + parts)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.results.xz").write_bytes(packed)
    return len(packed)


def load_results(module: str, folder: Path = FOLDER) -> dict[str, KeptOutput]:
    path = folder / f"{module}.results.xz"
    if not path.exists():
        return {}
    raw = lzma.decompress(path.read_bytes())
    end = 4 + int.from_bytes(raw[:4], "little")
    results: dict[str, KeptOutput] = {}
    raw_parts: list[tuple[KeptOutput, list[int]]] = []
    at = end
    for name, digest, size, kept_parts in json.loads(raw[4:end]):
        kept = results[name] = KeptOutput(digest, size)
        for _ in range((size + PART - 1) // PART):
            kept.sums.append(int.from_bytes(raw[at : at + 4], "little"))
            at += 4
        raw_parts.append((kept, kept_parts))
    for kept, indices in raw_parts:
        for index in indices:
            length = min(PART, kept.size - index * PART)
            kept.parts[index] = raw[at : at + length]
            at += length
    return results


def _compress(data: bytes) -> bytes:
    return lzma.compress(data, lzma.FORMAT_XZ, filters=_FILTERS)
