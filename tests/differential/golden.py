# SPDX-License-Identifier: Apache-2.0
"""What a GPU computed, by item: one compressed file per family."""

import json
import lzma
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 24}]


@dataclass(frozen=True)
class Result:
    digest: int
    output: bytes


def save(family: str, results: dict[str, Result], folder: Path = FOLDER) -> int:
    """Write a family's file; return its size."""
    index = [[name, result.digest, len(result.output)] for name, result in results.items()]
    head = json.dumps(index, separators=(",", ":")).encode()
    body = b"".join(result.output for result in results.values())
    packed = lzma.compress(
        len(head).to_bytes(4, "little") + head + body, lzma.FORMAT_XZ, filters=_FILTERS
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{family}.xz").write_bytes(packed)
    return len(packed)


def load(family: str, folder: Path = FOLDER) -> dict[str, Result]:
    path = folder / f"{family}.xz"
    if not path.exists():
        return {}
    raw = lzma.decompress(path.read_bytes())
    end = 4 + int.from_bytes(raw[:4], "little")
    results: dict[str, Result] = {}
    at = end
    for name, digest, size in json.loads(raw[4:end]):
        results[name] = Result(digest, raw[at : at + size])
        at += size
    return results
