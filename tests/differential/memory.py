# SPDX-License-Identifier: Apache-2.0
"""Items for loads, stores and atomics, in every space: each thread has its own place."""

import zlib
from collections.abc import Iterator

from .items import Item, Output
from .values import Random

LANES = 40  # A complete warp and a part of one.
_WIDTHS = {"b": 1, "h": 2, "w": 4, "x": 8, "q": 16}
_SCOPES = ("cta", "gpu", "sys", "cluster")
_SPACES = ("global", "shared", "shared::cluster", "local", "const", "param", "frame")
_ORDERS = ("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")
_OPERATIONS = ("add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas")

_CONSTANTS = Random("constants").bits(LANES * 32 * 8).to_bytes(LANES * 32, "little")
_PARAMETER = Random("parameter").bits(64 * 8).to_bytes(64, "little")


def knows(mnemonic: str, key: str) -> bool:
    if ".async" in key or ".frame" in key:
        return False
    return mnemonic in ("ld", "ldu", "st", "atom", "red")


class Access:
    """A key, split into its parts."""

    def __init__(self, key: str, signature: str) -> None:
        words = key.split(".")
        self.key = key
        self.mnemonic = words[0]
        self.narrow = "n" in signature
        self.order = ".".join(word for word in words if word in _ORDERS)
        self.space = next((word for word in words if word in _SPACES), "")
        self.vector = next((int(w[1:]) for w in words if w in ("v2", "v4", "v8")), 1)
        self.operation = next((word for word in words[1:] if word in _OPERATIONS), "")
        self.kind = words[-1]
        packed = 2 if self.kind.endswith("x2") else 1
        base = self.kind.removesuffix("x2").removeprefix("b") if "f" in self.kind else self.kind
        self.width = int(base.lstrip("busf")) // 8 * packed
        self.bytes = self.width * self.vector

    def opcode(self) -> str:
        """Return the opcode with the scope and the .noftz that the key left out."""
        words: list[str] = []
        scopes = _SCOPES[:1] if "shared" in self.space else _SCOPES
        for word in self.key.split("."):
            words.append(word)
            if word in ("relaxed", "acquire", "release", "acq_rel"):
                mmio = self.order.startswith("mmio")
                place = zlib.crc32(self.key.encode()) % len(scopes)
                words.append("sys" if mmio else scopes[place])
            if word == self.operation and "f16" in self.kind:
                words.append("noftz")
        return ".".join(words)

    def names(self, prefix: str) -> list[str]:
        return [f"{prefix}{i}" for i in range(self.vector)]


def _braced(names: list[str]) -> str:
    listed = ", ".join(f"%{name}" for name in names)
    return f"{{{listed}}}" if len(names) > 1 else listed


def _register(kind: str, width: int) -> str:
    return kind if kind in ("f32", "f64") else f"b{8 * max(width, 2)}"


class Place:
    """Where in a space the thread's bytes are: how to get the address, and fill and read them."""

    def __init__(self, access: Access, space: str) -> None:
        self.access = access
        self.space = space
        self.module = ""
        self.lines: list[str] = []
        size = access.bytes
        bits = 32 if access.narrow else 64
        generic = access.space == ""
        self.back = {"shared::cluster": "shared"}.get(space, space)
        if space == "global":
            return
        if space == "const":
            listed = ", ".join(str(byte) for byte in _CONSTANTS)
            self.module = f".const .align 32 .b8 constants[{len(_CONSTANTS)}] = {{{listed}}};"
            symbol = "constants"
        elif space == "local":
            self.lines.append(f".local .align 32 .b8 own[{max(size, 4)}];")
            symbol = "own"
        else:
            symbol = f"area{size}"
            self.module = f".shared .align 32 .b8 {symbol}[{LANES * size}];"
        self.lines += [f"<b{bits}:base, step>", f"mov.u{bits} %base, {symbol};"]
        if generic:
            self.lines.append(f"cvta.{self.back}.u64 %base, %base;")
        if space != "local":
            multiply = "mul.wide.u32" if bits == 64 else "mul.lo.u32"
            self.lines.append(f"{multiply} %step, %thread, {size};")
            self.lines.append(f"add.u{bits} %base, %base, %step;")

    def plain(self) -> tuple[str, str]:
        """Return the opcodes of a plain load and store there."""
        space = f".{self.back}" if self.access.space else ""
        return f"ld{space}", f"st{space}"


def _spaces(access: Access) -> list[str]:
    if access.space:
        return [access.space]
    # PTX has vector atomics only for global memory.
    vector_atomic = access.mnemonic in ("atom", "red") and access.vector > 1
    if access.order.startswith("mmio") or vector_atomic:
        return ["global"]
    if access.order == "" and access.mnemonic in ("ld", "st"):
        return ["global", "shared", "local"]
    return ["global"] if access.mnemonic == "ldu" else ["global", "shared"]


def items_of(key: str, signature: str) -> Iterator[Item]:
    access = Access(key, signature)
    if access.mnemonic in ("atom", "red"):
        yield from _atomics(access, signature)
        return
    if access.space == "param":
        yield from _parameter(access, signature)
        return
    for space in _spaces(access):
        name = f"{key} {signature}" + ("" if access.space else f" {space}")
        store = access.mnemonic == "st"
        write = _store if store else _load
        place = Place(access, space)
        text, outputs = write(access, place, "")
        group = "store" if store else "load"
        yield Item(name, [(key, signature)], text, outputs, LANES, place.module, group)
        if access.width < 8 and space == "global" and not access.order and access.kind[0] != "f":
            text, outputs = write(access, place, "wide")
            yield Item(
                f"{name} wide", [(key, signature)], text, outputs, LANES, place.module, group
            )


def _fill(access: Access, place: Place, prefix: str, kind: str = "") -> list[str]:
    """Copy the arena's bytes to the thread's place."""
    bits = 8 * access.bytes
    names = access.names(prefix)
    register = f"b{8 * max(access.width, 2)}"
    lines = [f"<{register}:{', '.join(names)}>"]
    word = access.width * 8
    for i, name in enumerate(names):
        source = f"#{kind}:{2 * i}#" if kind else f"#b{bits}:0#+{i * access.width}"
        lines.append(f"ld.global.b{word} %{name}, [{source}];")
        lines.append(f"{place.plain()[1]}.b{word} [%base+{i * access.width}], %{name};")
    return lines


def _load(access: Access, place: Place, variant: str) -> tuple[str, list[Output]]:
    names = access.names("v")
    width = access.width
    lines = list(place.lines)
    register_bytes = max(width, 2) * (2 if variant == "wide" else 1)
    register = access.kind if access.kind[0] == "f" else f"b{8 * register_bytes}"
    if place.space == "global":
        lines += ["<b64:base>", f"add.u64 %base, #,b{8 * access.bytes}:0#;"]
    elif place.space != "const":
        lines += _fill(access, place, "f")
    lines.append(f"<{register}:{', '.join(names)}>")
    lines.append(f"{access.opcode()} {_braced(names)}, [%base];")
    return _keep(lines, names, register_bytes, register)


def _keep(
    lines: list[str], names: list[str], width: int, register: str
) -> tuple[str, list[Output]]:
    outputs: list[Output] = []
    for i, name in enumerate(names):
        offset = i * LANES * width
        type_ = f"~{register}" if register[0] == "f" else f".b{8 * width}"
        lines.append(f"st.global{type_} [@{width}+{offset}@], %{name};")
        outputs.append(Output(offset, width, LANES))
    return "\n".join(lines), outputs


def _store(access: Access, place: Place, variant: str) -> tuple[str, list[Output]]:
    names = access.names("v")
    width = access.width
    register_bytes = max(width, 2) * (2 if variant == "wide" else 1)
    register = access.kind if access.kind[0] == "f" else f"b{8 * register_bytes}"
    lines = [f"<{register}:{', '.join(names)}>"]
    for i, name in enumerate(names):
        type_ = f"~{register}" if register[0] == "f" else f".b{8 * register_bytes}"
        lines.append(f"ld.global{type_} %{name}, [#b{8 * register_bytes}:{i}#];")
    if place.space == "global":
        lines.append("<b64:base>")
        lines.append(f"add.u64 %base, @{access.bytes},0@;")
        lines.append(f"{access.opcode()} [%base], {_braced(names)};")
        return "\n".join(lines), [Output(0, width, LANES * access.vector)]
    lines += place.lines
    lines.append(f"{access.opcode()} [%base], {_braced(names)};")
    back = access.names("r")
    plain = max(width, 2)
    lines.append(f"<b{8 * plain}:{', '.join(back)}>")
    for i, name in enumerate(back):
        lines.append(f"{place.plain()[0]}.b{8 * width} %{name}, [%base+{i * width}];")
    return _keep(lines, back, plain, f"b{8 * plain}")


def _parameter(access: Access, signature: str) -> Iterator[Item]:
    names = access.names("v")
    width = access.width
    register = access.kind if access.kind[0] == "f" else f"b{8 * max(width, 2)}"
    bits = 32 if access.narrow else 64
    for variant in ("register",) if access.narrow else ("register", "direct"):
        lines = [f"<{register}:{', '.join(names)}>"]
        if variant == "direct":
            lines.append(f"{access.opcode()} {_braced(names)}, [extra+{access.bytes}];")
        else:
            lines += [f"<b{bits}:base>", f"mov.u{bits} %base, extra;"]
            lines.append(f"{access.opcode()} {_braced(names)}, [%base+{access.bytes}];")
        text, outputs = _keep(lines, names, max(width, 2), register)
        form = (access.key, signature)
        name = f"{access.key} {signature} {variant}"
        yield Item(name, [form], text, outputs, LANES, group="param", extra=_PARAMETER)


def _atomics(access: Access, signature: str) -> Iterator[Item]:
    returns = access.mnemonic == "atom"
    for space in _spaces(access):
        name = f"{access.key} {signature}" + ("" if access.space else f" {space}")
        place = Place(access, space)
        text, outputs = _atomic(access, place, returns)
        group = "atom" if returns else "red"
        yield Item(name, [(access.key, signature)], text, outputs, LANES, place.module, group)
        contended = not access.order and access.kind[0] in "bus" and access.operation not in (
            "exch", "cas",
        )  # fmt: skip
        if contended and access.kind[:2] != "bf":
            text, outputs = _contended(access, place, returns)
            yield Item(
                f"{name} contended", [(access.key, signature)], text, outputs, LANES, place.module,
                group,
            )  # fmt: skip


def _mode(kind: str) -> str:
    return f"nan.{kind}" if "f" in kind else "bits"


def _operands(access: Access) -> tuple[list[str], str]:
    names = access.names("b")
    register = _register(access.kind, access.width)
    type_ = f"~{register}" if register[0] == "f" else f".b{8 * access.width}"
    lines = [f"<{register}:{', '.join(names)}>"]
    for i, name in enumerate(names):
        lines.append(f"ld.global{type_} %{name}, [#{access.kind}:{2 * i + 1}#];")
    text = _braced(names)
    if access.operation == "cas":
        # Half of the threads compare with what is there.
        lines += [f"<{register}:c>", f"ld.global{type_} %c, [#{access.kind}:0#];"]
        lines += ["<b32:odd>", "<pred:other>", "and.b32 %odd, %thread, 1;"]
        lines += ["setp.ne.b32 %other, %odd, 0;", f"@%other mov.b{8 * access.width} %c, %b0;"]
        text = f"%c, {text}"
    return lines, text


def _atomic(access: Access, place: Place, returns: bool) -> tuple[str, list[Output]]:
    width, size = access.width, access.bytes
    lines: list[str] = []
    if place.space == "global":
        lines += ["<b64:base>", f"add.u64 %base, @{size},0@;"]
    else:
        lines += place.lines
    lines += _fill(access, place, "f", access.kind)
    operands, text = _operands(access)
    lines += operands
    at = 0
    outputs: list[Output] = []
    if place.space == "global":
        outputs.append(Output(0, width, LANES * access.vector, _mode(access.kind)))
        at = (LANES * size + 15) // 16 * 16
    result = access.names("d")
    register = _register(access.kind, width)
    if returns:
        lines.append(f"<{register}:{', '.join(result)}>")
        text = f"{_braced(result)}, [%base], {text}"
    else:
        text = f"[%base], {text}"
    lines.append(f"{access.opcode()} {text};")
    if returns:
        for name in result:
            type_ = f"~{register}" if register[0] == "f" else f".b{8 * width}"
            lines.append(f"st.global{type_} [@{width}+{at}@], %{name};")
            outputs.append(Output(at, width, LANES, _mode(access.kind)))
            at += (LANES * width + 15) // 16 * 16
    if place.space != "global":
        lines.append(f"<b{8 * max(width, 2)}:r>")
        for i in range(access.vector):
            lines.append(f"{place.plain()[0]}.b{8 * width} %r, [%base+{i * width}];")
            lines.append(f"st.global.b{8 * width} [@{width}+{at}@], %r;")
            outputs.append(Output(at, width, LANES, _mode(access.kind)))
            at += (LANES * width + 15) // 16 * 16
    return "\n".join(lines), outputs


def _contended(access: Access, place: Place, returns: bool) -> tuple[str, list[Output]]:
    """All threads use four places: the order must not matter."""
    width = access.width
    bits = 8 * width
    base = 32 if access.narrow else 64
    lines: list[str] = []
    symbol = f"area{access.bytes}"
    if place.space == "global":
        lines += ["<b64:base>", "add.u64 %base, @=,0@;"]
    else:
        lines += [f"<b{base}:base>", f"mov.u{base} %base, {symbol};"]
        if not access.space:
            lines.append("cvta.shared.u64 %base, %base;")
    lines += ["<b32:four>", f"<b{base}:step>", "<pred:first>"]
    lines += ["and.b32 %four, %thread, 3;", "setp.lt.u32 %first, %thread, 4;"]
    multiply = "mul.wide.u32" if base == 64 else "mul.lo.u32"
    lines += [f"{multiply} %step, %four, {width};", f"add.u{base} %base, %base, %step;"]
    load, store = place.plain()
    lines += [f"<b{bits}:b, d, r>", f"ld.global.b{bits} %r, [#{access.kind}:0#];"]
    lines += [f"@%first {store}.b{bits} [%base], %r;", "bar.sync 0;"]
    counts = access.operation in ("inc", "dec")
    if counts:
        # Their order doesn't matter if all operands for a place are the same.
        lines += ["<b64:from, back>", f"add.u64 %from, #,{access.kind}:4#;"]
        lines += ["sub.s32 %b, %four, %thread;", f"mul.wide.s32 %back, %b, {width};"]
        lines += ["add.u64 %from, %from, %back;", f"ld.global.b{bits} %b, [%from];"]
    else:
        lines.append(f"ld.global.b{bits} %b, [#{access.kind}:1#];")
    lines.append(f"{access.opcode()} {'%d, ' if returns else ''}[%base], %b;")
    lines.append("bar.sync 0;")
    if place.space != "global":
        lines += [f"@%first {load}.b{bits} %r, [%base];"]
        lines += [f"@%first st.global.b{bits} [@{width}+0@], %r;", "bar.sync 0;"]
    outputs = [Output(0, width, 4)]
    if counts and returns:
        lines.append(f"st.global.b{bits} [@{width}+{4 * width}@], %d;")
        outputs.append(Output(4 * width, width, LANES, "sorted"))
    return "\n".join(lines), outputs
