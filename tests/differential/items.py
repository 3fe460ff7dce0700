# SPDX-License-Identifier: Apache-2.0
"""Items: the tests of one form. Kernels: each of them runs many items.

The text of an item is a separate PTX block. It reads element `tid` of arrays in the arena and
writes to its own part of the output. In this text,
    #f32:1#   is the address of this thread's element of the arena's array for operand 1, an f32;
    @4+16@    is the address of this thread's 4-byte element of the array that begins at byte 16 of
              the item's output;
    @=+16@    is the address of byte 16 of the item's output, the same for all threads;
              with a comma instead of the first +, or after the first #, it becomes two operands of
              an add;
    <f32:a>   declares register %a of type .f32, or .b32 in the dialect with untyped registers;
    ~f32      is .f32 in an instruction that only moves a value, or .b32 in that dialect.
"""

import functools
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from .values import arena, size_of

Dialect = Literal["typed", "untyped"]
DIALECTS: tuple[Dialect, ...] = ("typed", "untyped")


@dataclass(frozen=True)
class Output:
    """An array in the output of an item, and how two devices' results are compared.

    modes: "bits"; "nan.<type>": bits, but all NaNs are equal; "approx.<type>:<relative>:
    <absolute>": each result is within these bounds of the true one, using the wider of the two;
    "sine.<slot>": within the bounds of sin.approx and cos.approx for the argument, an f32, in that
    operand's array; "sorted": bits, in whatever order the threads wrote them; "skip".
    """

    offset: int
    width: int
    count: int
    mode: str = "bits"


@dataclass
class Item:
    name: str
    forms: list[tuple[str, str]]
    text: str
    outputs: list[Output]
    lanes: int = 128
    #: What it needs outside of its own block: module-scope declarations.
    module: str = ""
    #: The items of a group share a kernel.
    group: str = ""
    #: A separate kernel, with this launch. `extra`: the bytes of a third parameter.
    extra: bytes = b""
    grid: int = 1
    cluster: int = 0
    cooperative: bool = False
    alone: bool = False
    #: Why a GPU of compute capability 9.0 cannot run it.
    excluded: str = ""
    version: str = "8.8"
    target: str = "sm_90"

    @property
    def size(self) -> int:
        return max((o.offset + o.width * o.count for o in self.outputs), default=0)

    def __post_init__(self) -> None:
        for _, kind, slot in _INPUT.findall(self.text):
            arena(self.lanes).offset(kind, int(slot))

    @functools.cached_property
    def digest(self) -> int:
        """Return a digest of what runs on which input: golden data with another digest is stale."""
        inputs = [
            f"{kind} {slot} {arena(self.lanes).digest(kind, int(slot))}"
            for _, kind, slot in _INPUT.findall(self.text)
        ]
        parts = (self.text, self.module, self.lanes, self.grid, self.cluster, inputs)
        return zlib.crc32(repr(parts).encode())


@dataclass
class Kernel:
    name: str
    items: list[Item]
    #: Where each item's output begins.
    places: list[int] = field(default_factory=list)
    output_size: int = 0

    @property
    def lanes(self) -> int:
        return self.items[0].lanes


_DECLARE = re.compile(r"<(\w+):([\w, ]+)>")
_PLAIN = re.compile(r"~([a-z]+)(\d+)")
_INPUT = re.compile(r"#(,?)([\w.]+):(\d+)#")
_ADDRESS = re.compile(r"@(=|\d+)([+,])(\d+)@")
_WIDTHS = (1, 2, 4, 8, 16, 32)


def _declare(kind: str, names: str, dialect: Dialect) -> str:
    typed = kind if dialect == "typed" or kind == "pred" else "b" + kind.lstrip("bfsu")
    return f".reg .{typed} " + ", ".join(f"%{name.strip()}" for name in names.split(",")) + ";"


def text_of(item: Item, place: int, dialect: Dialect) -> str:
    text = _DECLARE.sub(lambda m: _declare(m[1], m[2], dialect), item.text)
    text = _PLAIN.sub(lambda m: "." + (m[1] if dialect == "typed" else "b") + m[2], text)
    text = _INPUT.sub(
        lambda m: f"%i{size_of(m[2])}{m[1] or '+'}{arena(item.lanes).offset(m[2], int(m[3]))}", text
    )
    return _ADDRESS.sub(
        lambda m: f"%o{'ut' if m[1] == '=' else m[1]}{m[2]}{place + int(m[3])}", text
    )


def kernel_text(kernel: Kernel, dialect: Dialect) -> str:
    """Return the PTX of a module with one kernel: `run(input, output)`."""
    first = kernel.items[0]
    modules = dict.fromkeys(item.module for item in kernel.items if item.module)
    extra = f", .param .align 32 .b8 extra[{len(first.extra)}]" if first.extra else ""
    lines = [
        f".version {max((i.version for i in kernel.items), key=_number)}",
        f".target {first.target}",
        ".address_size 64",
        *modules,
        f".visible .entry run(.param .u64 input, .param .u64 output{extra}) {{",
        ".reg .b64 %in, %out, %lane;",
        ".reg .b32 %thread;",
        *(f".reg .b64 %i{width}, %o{width};" for width in _WIDTHS),
        "ld.param.u64 %in, [input];",
        "ld.param.u64 %out, [output];",
        "mov.u32 %thread, %tid.x;",
    ]
    for width in _WIDTHS:
        lines.append(f"mul.wide.u32 %lane, %thread, {width};")
        lines.append(f"add.u64 %i{width}, %in, %lane;")
        lines.append(f"add.u64 %o{width}, %out, %lane;")
    for item, place in zip(kernel.items, kernel.places, strict=True):
        lines += ["{", text_of(item, place, dialect), "}"]
    lines += ["ret;", "}", ""]
    return "\n".join(lines)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def kernels_of(items: Sequence[Item], most: int = 24) -> list[Kernel]:
    """Combine items of a group, in order."""
    kernels: list[Kernel] = []
    current: dict[object, Kernel] = {}
    counts: dict[str, int] = {}
    for item in items:
        launch = (item.lanes, item.grid, item.cluster, item.cooperative, item.extra)
        key = (item.group, item.target, item.excluded, launch)
        kernel = current.get(key)
        if kernel is None or item.alone or len(kernel.items) >= most:
            counts[item.group] = counts.get(item.group, -1) + 1
            kernel = Kernel(f"{item.group}-{counts[item.group]}", [])
            kernels.append(kernel)
            if not item.alone:
                current[key] = kernel
        kernel.items.append(item)
        kernel.places.append(kernel.output_size)
        kernel.output_size += (item.size + 31) // 16 * 16
    return kernels
