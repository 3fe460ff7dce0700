# SPDX-License-Identifier: Apache-2.0
"""Check that arrows between the rooms of the source tree point one way.

    python -> bindings -> compile -> runtime -> launch -> signature, owner -> error -> driver

The compiler of tiles stands below the bindings alone. The simulator is a separate library: it
includes none of these, and none of these include it.

Without options, reads the sources alone. ``--archive`` and ``--extension`` look into what was built
from them as well.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]

#: The rooms directly below each. A room may include their headers, and those of all rooms below.
BELOW: dict[str, tuple[str, ...]] = {
    "driver": (),
    "error": ("driver",),
    "owner": ("error",),
    "signature": (),
    "launch": ("owner", "signature"),
    "runtime": ("launch",),
    "compile": ("runtime",),
    "tile": (),
    "bindings": ("compile", "tile"),
    "simulator": (),
}

#: The public headers that each room implements. The others contain only declarations.
PUBLIC_HEADERS = {
    "signature": {"signature.hpp"},
    "launch": {"argument.hpp", "launch.hpp", "launch_attributes.hpp"},
    "runtime": {
        "buffer.hpp",
        "caching_memory_resource.hpp",
        "checkpoint.hpp",
        "clocks.hpp",
        "context.hpp",
        "copy_options.hpp",
        "device.hpp",
        "device_memory_resource.hpp",
        "device_resources.hpp",
        "event.hpp",
        "external_memory.hpp",
        "external_semaphore.hpp",
        "graph.hpp",
        "graph_builder.hpp",
        "graph_condition.hpp",
        "graph_definition.hpp",
        "graph_memory_resource.hpp",
        "graph_node.hpp",
        "graph_work.hpp",
        "graphics_resource.hpp",
        "host_registration.hpp",
        "kernel.hpp",
        "legacy_pinned_memory_resource.hpp",
        "managed_buffer.hpp",
        "managed_memory_resource.hpp",
        "memory_location.hpp",
        "memory_resource.hpp",
        "mipmapped_array.hpp",
        "multicast.hpp",
        "object_code.hpp",
        "opaque_array.hpp",
        "pinned_memory_resource.hpp",
        "places.hpp",
        "pool_memory_resource.hpp",
        "simulator.hpp",
        "stream.hpp",
        "stream_attributes.hpp",
        "stream_value.hpp",
        "strided_memory.hpp",
        "surface_object.hpp",
        "synchronous_memory_resource.hpp",
        "system.hpp",
        "tensor_map.hpp",
        "texture_object.hpp",
        "virtual_memory_resource.hpp",
    },
    "compile": {
        "cache.hpp",
        "fatbin.hpp",
        "linker.hpp",
        "linker_options.def",
        "program.hpp",
        "program_options.def",
    },
}

#: The same within the simulator, whose rooms are its subfolders.
SIMULATOR_MAY_INCLUDE = {
    "ptx": set[str](),
    "memory": set[str](),
    "engine": {"memory", "ptx"},
    "ops": {"engine", "memory"},
    "api": {"engine", "memory", "ops"},
    "runtime": set[str](),  # uses only the functions of cuda.h
}

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
RESOLVES = re.compile(r"\b(dlm?open|dlv?sym|cuGetProcAddress\w*)\s*\(")

PYTHON_HEADER = re.compile(r"Python\.h|pybind11/")
CUDA_HEADER = re.compile(r"cuda\w*\.h|nvrtc\.h|nvJitLink\.h|nvFatbin\.h")

PYTHON_SYMBOL = re.compile(r"_?Py[A-Z_]\w*|\w*pybind11\w*")
EXPORTED_SYMBOL = re.compile(r"PyInit__core|cudacore_torch_\w+")
LIBRARY_SYMBOL = re.compile(r"_*(cu(da)?[A-Z]|nvrtc[A-Z]|nvJitLink|nvFatbin|nvml[A-Z])\w*")


def sources(folder: Path) -> Iterator[Path]:
    """Yield all C++ files in a folder and its subfolders."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".cpp", ".hpp", ".def"}:
            yield path


def included(text: str) -> Iterator[tuple[str, str]]:
    """Yield the bracket and the name of each header included."""
    for match in INCLUDE.finditer(text):
        yield match[1], match[2]


def public_header_errors(root: Path) -> Iterator[str]:
    """Yield what is wrong with the headers that users include."""
    folder = root / "include" / "cudacore"
    for path in sources(folder):
        for bracket, header in included(path.read_text()):
            where = f"{path.relative_to(root)}: includes {header}"
            if PYTHON_HEADER.match(header) or CUDA_HEADER.match(header):
                yield f"{where}: public headers know neither Python nor cuda.h"
            elif bracket == '"' and not (folder.parent / header).exists():
                yield f"{where}: public headers include public headers alone"


def at_or_below(room: str) -> set[str]:
    """Return a room and all rooms below it."""
    return {room}.union(*(at_or_below(other) for other in BELOW[room]))


def public_errors(root: Path) -> Iterator[str]:
    """Yield what is wrong with the list of public headers."""
    known = {name for names in PUBLIC_HEADERS.values() for name in names}
    known |= {"cudacore.hpp", "error.hpp", "handles.hpp", "nvml_error.hpp"}
    for path in sources(root / "include" / "cudacore"):
        if path.name not in known:
            yield f"{path.relative_to(root)}: no room is said to implement it"


def unknown_rooms(root: Path) -> Iterator[str]:
    """Yield the folders of src that this check doesn't know."""
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and folder.name not in BELOW:
            yield f"src/{folder.name}: a room that this check does not know"


def include_errors(name: Path, room: str, text: str) -> Iterator[str]:
    """Yield what is wrong with the includes of a file."""
    visible = at_or_below(room)
    for bracket, header in included(text):
        first, slash, rest = header.partition("/")
        if PYTHON_HEADER.match(header) and room != "bindings":
            yield f"{name}: includes {header}: only src/bindings knows Python"
        if first == "cudacore" and room != "simulator":
            for other, headers in PUBLIC_HEADERS.items():
                if rest in headers and other not in visible:
                    yield f"{name}: includes {header}, of {other}, a room above {room}"
        elif bracket == '"' and slash and first not in visible:
            yield f"{name}: includes {header}: {room} must not know {first}"


def room_errors(root: Path) -> Iterator[str]:
    """Yield what is wrong with the includes and calls of each room."""
    for room in BELOW:
        for path in sources(root / "src" / room):
            name = path.relative_to(root)
            text = path.read_text()
            yield from include_errors(name, room, text)
            code = COMMENT_OR_TEXT.sub(" ", text)
            if room not in {"driver", "simulator"}:  # defines what others resolve
                for call in sorted({match[1] for match in RESOLVES.finditer(code)}):
                    yield f"{name}: calls {call}: only src/driver resolves symbols"


def simulator_errors(root: Path) -> Iterator[str]:
    """Yield what is wrong with the includes of the simulator's rooms."""
    folder = root / "src" / "simulator"
    for room, others in SIMULATOR_MAY_INCLUDE.items():
        for path in sources(folder / room):
            for bracket, header in included(path.read_text()):
                _, _, inner = header.partition("simulator/")
                first = inner.partition("/")[0]
                where = f"{path.relative_to(root)}: includes {header}: simulator/{room}"
                if bracket == '"' and first not in {*others, room}:
                    yield f"{where} must not know {first or header}"
                if CUDA_HEADER.match(header) and room not in {"api", "runtime"}:
                    yield f"{where} knows no cuda.h"


def isa_errors(objects: Iterable[Path]) -> Iterator[str]:
    """Yield what is wrong with objects that are compiled for one instruction set.

    The linker keeps one copy of a weak symbol, whichever object it comes from: one that was
    compiled for AVX-512 would then run on processors without it.
    """
    for path in objects:
        result = subprocess.run(
            ["nm", "--format=posix", "--defined-only", str(path)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        for line in result.stdout.splitlines():
            name, kind, *_ = line.split()
            if kind in "WVu" and not name.startswith("DW."):
                yield f"{path}: shares {name} with the objects of other instruction sets"


def symbols(binary: Path, *flags: str) -> set[str]:
    """Return the names that nm prints, without their versions."""
    result = subprocess.run(
        ["nm", "--format=posix", *flags, str(binary)], check=True, capture_output=True, text=True
    )
    # "archive.a[member.o]:" separates the members of an archive.
    lines = (line.split() for line in result.stdout.splitlines() if not line.endswith(":"))
    return {words[0].partition("@")[0] for words in lines if words}


def archive_errors(archive: Path) -> Iterator[str]:
    """Yield what is wrong with the symbols of the core library."""
    names = symbols(archive)
    if not any("cudacore" in name for name in names):
        yield f"{archive}: has no symbol of cudacore: is it the core library?"
    for name in sorted(filter(PYTHON_SYMBOL.fullmatch, names)):
        yield f"{archive}: mentions {name}: the core knows no Python"
    for name in sorted(filter(LIBRARY_SYMBOL.fullmatch, symbols(archive, "--undefined-only"))):
        yield f"{archive}: needs {name}: nothing is linked against CUDA"


def extension_errors(extension: Path) -> Iterator[str]:
    """Yield what is wrong with the symbols of the extension module."""
    undefined = symbols(extension, "--dynamic", "--undefined-only")
    for name in sorted(filter(LIBRARY_SYMBOL.fullmatch, undefined)):
        yield f"{extension}: needs {name}: nothing is linked against CUDA"
    exported = symbols(extension, "--dynamic", "--defined-only")
    others = [name for name in sorted(exported) if not EXPORTED_SYMBOL.fullmatch(name)]
    if others or "PyInit__core" not in exported:
        yield (
            f"{extension}: exports {', '.join(others[:5]) or 'no PyInit__core'}; it should export "
            "PyInit__core, and what PyTorch allocates with"
        )


def main() -> int:
    """Print what is wrong; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, help="libcudacore.a")
    parser.add_argument("--extension", type=Path, help="_core.*.so")
    parser.add_argument(
        "--isa-objects", type=Path, nargs="+", default=[], help="what is built for one ISA"
    )
    arguments = parser.parse_args()

    errors = [
        *public_header_errors(ROOT),
        *public_errors(ROOT),
        *unknown_rooms(ROOT),
        *room_errors(ROOT),
        *simulator_errors(ROOT),
    ]
    errors += isa_errors(arguments.isa_objects)
    if arguments.archive:
        errors += archive_errors(arguments.archive)
    if arguments.extension:
        errors += extension_errors(arguments.extension)
    for error in errors:
        print(error, file=sys.stderr)
    if not errors:
        print("all arrows point the right way")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
