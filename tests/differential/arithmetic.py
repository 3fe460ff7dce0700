# SPDX-License-Identifier: Apache-2.0
"""Items for instructions whose result depends only on their operands."""

import re
import zlib
from collections.abc import Iterator

from .items import Item, Output
from .values import size_of

_TYPE = re.compile(
    r"(?:pred|[busf](?:8|16|32|64|128)|b?f16|b?f16x2|f32x2|[us]16x2|[us]8x4|tf32"
    r"|(?:e4m3|e5m2|e2m3|e3m2|e2m1|ue8m0|ue5m3)x[24]|[us]4|[us]2)$"
)
_WIDTHS = {"b": 1, "h": 2, "w": 4, "x": 8, "q": 16}
_SLOT = re.compile(r"([|?]*)(\d*)([a-z])")

#: The bounds in PTX's manual, relative and absolute, for each result. If a result is relative to
#: the true value, a subnormal one may be flushed.
_TINY = 2.0**-126
_BOUNDS = {
    "ex2.approx.f32": (2.0**-22, _TINY),
    "ex2.approx.ftz.f32": (2.0**-22, _TINY),
    "lg2.approx.f32": (2.0**-22, 2.0**-22),
    "lg2.approx.ftz.f32": (2.0**-22, 2.0**-22),
    "rcp.approx.f32": (2.0**-23, _TINY),
    "rcp.approx.ftz.f32": (2.0**-23, _TINY),
    "sqrt.approx.f32": (2.0**-23, _TINY),
    "sqrt.approx.ftz.f32": (2.0**-23, _TINY),
    "rsqrt.approx.f32": (2.0**-22.9, _TINY),
    "rsqrt.approx.ftz.f32": (2.0**-22.9, _TINY),
    "div.approx.f32": (2.0**-22, _TINY),
    "div.approx.ftz.f32": (2.0**-22, _TINY),
    "div.full.f32": (2.0**-22, _TINY),
    "div.full.ftz.f32": (2.0**-22, _TINY),
    "tanh.approx.f32": (2.0**-11, 0),
    "tanh.approx.f16": (2.0**-10.987, 0),
    "tanh.approx.f16x2": (2.0**-10.987, 0),
    "tanh.approx.bf16": (2.0**-8, 0),
    "tanh.approx.bf16x2": (2.0**-8, 0),
    "ex2.approx.f16": (2.0**-9.9, 2.0**-24),
    "ex2.approx.f16x2": (2.0**-9.9, 2.0**-24),
    "ex2.approx.ftz.bf16": (2.0**-7, _TINY),
    "ex2.approx.ftz.bf16x2": (2.0**-7, _TINY),
    "rcp.approx.ftz.f64": (2.0**-20, 2.0**-1022),
    "rsqrt.approx.ftz.f64": (2.0**-20, 2.0**-1022),
    "rsqrt.approx.f64": (2.0**-20, 2.0**-1022),
}
_SINES = ("sin.approx", "cos.approx")

_MNEMONICS = frozenset(
    [
        "abs",
        "add",
        "and",
        "bfe",
        "bfi",
        "bfind",
        "bmsk",
        "brev",
        "clmad",
        "clz",
        "cnot",
        "copysign",
        "cos",
        "cvt",
        "div",
        "dp2a",
        "dp4a",
        "ex2",
        "fma",
        "fns",
        "lg2",
        "lop3",
        "mad",
        "mad24",
        "max",
        "min",
        "mul",
        "mul24",
        "neg",
        "not",
        "or",
        "popc",
        "prmt",
        "rcp",
        "rem",
        "rsqrt",
        "sad",
        "selp",
        "set",
        "setp",
        "shf",
        "shl",
        "shr",
        "sin",
        "slct",
        "sqrt",
        "sub",
        "szext",
        "tanh",
        "testp",
        "vabsdiff",
        "vabsdiff2",
        "vabsdiff4",
        "vadd",
        "vadd2",
        "vadd4",
        "vavrg2",
        "vavrg4",
        "vmad",
        "vmax",
        "vmax2",
        "vmax4",
        "vmin",
        "vmin2",
        "vmin4",
        "vset",
        "vset2",
        "vset4",
        "vshl",
        "vshr",
        "vsub",
        "vsub2",
        "vsub4",
        "xor",
        "mov",
    ]
)
_CARRIES = ("addc", "subc", "madc")


class Operand:
    def __init__(self, width: str, count: int, optional: bool, paired: bool) -> None:
        self.width = width
        self.count = count
        self.optional = optional
        self.paired = paired
        self.kind = ""


def operands_of(signature: str) -> list[Operand]:
    operands: list[Operand] = []
    for match in _SLOT.finditer(signature):
        if "|" in match[1]:
            operands[-1].paired = True
        else:
            operands.append(Operand(match[3], int(match[2] or 0), "?" in match[1], False))
    return operands


def knows(mnemonic: str, key: str) -> bool:
    return mnemonic in _MNEMONICS or mnemonic in _CARRIES


def types_of(key: str) -> list[str]:
    return [word for word in key.split(".")[1:] if _TYPE.match(word)]


def _kinds(key: str, operands: list[Operand]) -> list[str]:
    """Return what each operand means; "" for an integer as wide as the operand."""
    mnemonic = key.partition(".")[0]
    types = types_of(key)
    first = types[0] if types else ""
    count = len(operands)
    if mnemonic == "lop3" or first == "pred":
        return [""] * count
    if mnemonic == "mov":
        return [first if not operand.count and first[0] == "f" else "" for operand in operands]
    if mnemonic.startswith("v"):
        if mnemonic.startswith("vs") and mnemonic[2] == "h":
            return ["", "", "shift", ""][:count]
        return [""] * count
    if mnemonic == "cvt":
        if "pack" in key.split("."):
            return ["", "s32", "s32", "b32"][:count]
        sources = [*types[1:], *[types[-1]] * 3]
        if ".rs." in key:
            return ["", *["f32"] * (count - 2), "b32"]
        return [first, *sources[: count - 1]]
    if mnemonic == "set":
        return [types[0], types[1], types[1], "pred"][:count]
    if mnemonic == "setp":
        return ["pred", first, first, "pred"][:count]
    if mnemonic == "slct":
        return [first, first, first, types[1]]
    if mnemonic == "selp":
        return [first, first, first, "pred"]
    if mnemonic == "testp":
        return ["pred", first]
    if mnemonic in ("shl", "shr"):
        return [first, first, "shift"]
    if mnemonic == "shf":
        return [first, first, first, "shift"]
    if mnemonic == "bfe":
        return [first, first, "position", "position"]
    if mnemonic == "bfi":
        return [first, first, first, "position", "position"]
    if mnemonic in ("bmsk", "szext"):
        return [first, first if mnemonic == "szext" else "shift", "shift"]
    if mnemonic == "fns":
        return [first, first, "lane", "nth"]
    if mnemonic == "prmt":
        return [first, first, first, "selector"]
    if mnemonic in ("div", "rem") and first[0] in "us":
        return [first, first, f"nonzero.{first}"]
    if mnemonic in ("popc", "clz", "bfind"):
        return ["u32", first]
    if mnemonic in ("fma", "add", "sub") and len(types) == 2:
        if mnemonic == "fma":
            return ["f32", types[1], types[1], "f32"]
        return ["f32", types[1], "f32"]
    return [first if size_of(first) == _WIDTHS.get(operand.width) else "" for operand in operands]


def _register(kind: str, width: str, key: str) -> str:
    """Return the type with which to declare a register."""
    if width == "b" and (key.startswith("mov") or _wants_bytes(key)):
        return "b8"
    if width == "p":
        return "pred"
    if kind in ("f32", "f64"):
        return kind
    return {"b": "b16", "h": "b16", "w": "b32", "x": "b64", "q": "b128"}[width]


def _wants_bytes(key: str) -> bool:
    """Return whether ptxas accepts only 8-bit registers; mostly, wider ones will do."""
    return "e2m1x2" in key or (key.startswith("cvt") and "bf16" in types_of(key))


def _input_kind(kind: str, width: str) -> str:
    if kind and kind != "pred":
        return "f32" if kind == "tf32" else kind
    return {"b": "b8", "h": "b16", "w": "b32", "x": "b64", "q": "b128", "p": "flag"}[width]


def _mode(key: str, kind: str) -> str:
    if key.startswith(_SINES):
        return "sine.0"
    bound = _BOUNDS.get(key)
    if bound is not None:
        base = kind or types_of(key)[-1]
        return f"approx.{base}:{bound[0]!r}:{bound[1]!r}"
    mnemonic = key.partition(".")[0]
    if mnemonic in ("mov", "selp", "slct", "copysign", "set"):
        return "bits"
    if kind in ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "tf32"):
        return f"nan.{'f32' if kind == 'tf32' else kind}"
    return "bits"


def lanes_of(key: str) -> int:
    mnemonic = key.partition(".")[0]
    if mnemonic.startswith("v") or mnemonic in ("lop3", "mov", "selp", "slct"):
        return 64
    types = types_of(key)
    if key in _BOUNDS or any("f" in kind for kind in types):
        return 64 if mnemonic == "set" else 128 if mnemonic == "cvt" else 256
    return 128


def group_of(key: str) -> str:
    """Return the family under which a form's results are stored and reported."""
    mnemonic = key.partition(".")[0]
    if key in _BOUNDS or key.startswith(_SINES):
        return "approximate"
    if mnemonic.startswith("v"):
        return "video"
    if mnemonic in ("set", "setp", "testp", "cvt", "mov"):
        return {"testp": "setp"}.get(mnemonic, mnemonic)
    if mnemonic in ("selp", "slct"):
        return "select"
    kinds = types_of(key)
    if any("f16" in kind for kind in kinds):
        return "half"
    if any(kind.startswith("f") for kind in kinds):
        return "float"
    return "integer"


def items_of(key: str, signature: str) -> Iterator[Item]:
    mnemonic = key.partition(".")[0]
    lanes = lanes_of(key)
    operands = operands_of(signature)
    for operand, kind in zip(operands, _kinds(key, operands), strict=True):
        operand.kind = kind
    variants = ["plain"]
    # ptxas drops the guard of a testp.
    if not zlib.crc32(key.encode()) % 8 and not _wants_bytes(key) and mnemonic != "testp":
        variants.append("guarded")
    if operands[0].paired:
        if types_of(key)[0] not in ("f16", "bf16"):
            variants.append("pair")
        if key.startswith("lop3") or "x2" in key:
            variants.remove("plain")
    if "b" in signature[:1] and key.startswith("cvt") and not _wants_bytes(key):
        variants.append("wide")
    for variant in variants:
        text, outputs = _write(key, operands, lanes, variant)
        name = f"{key} {signature}" + ("" if variant == "plain" else f" {variant}")
        yield Item(name, [(key, signature)], text, outputs, lanes, group=group_of(key))


def opcode_of(key: str) -> str:
    """Return the opcode that PTX requires for the key."""
    return key


def _write(key: str, operands: list[Operand], lanes: int, variant: str) -> tuple[str, list[Output]]:
    lines: list[str] = []
    names: list[str] = []
    mnemonic = key.partition(".")[0]
    carries = mnemonic in _CARRIES
    guard = "@%guard " if variant == "guarded" else ""
    slot = 0
    for index, operand in enumerate(operands):
        if operand.width == "i":
            names.append("0xE8")
            continue
        register = _register(operand.kind, operand.width, key)
        parts = [f"v{index}_{part}" for part in range(operand.count)] or [f"v{index}"]
        lines.append(f"<{register}:{', '.join(parts)}>")
        names.append(
            "{" + ", ".join(f"%{part}" for part in parts) + "}" if operand.count else f"%{parts[0]}"
        )
        if index == 0:
            continue
        kind = _input_kind(operand.kind, operand.width)
        for part in parts:
            size = size_of(kind)
            if register == "pred":
                lines.append(f"<b32:{part}n>")
                lines.append(f"ld.global.b32 %{part}n, [#{kind}:{slot}#];")
                lines.append(f"setp.ne.s32 %{part}, %{part}n, 0;")
            else:
                type_ = f"~{kind}" if kind in ("f32", "f64") else f".b{8 * size}"
                lines.append(f"ld.global{type_} %{part}, [#{kind}:{slot}#];")
            slot += 1
    result = operands[0]
    if variant == "guarded":
        lines.append("<pred:guard>")
        lines.append("<b32:odd>")
        lines.append("and.b32 %odd, %thread, 5;")
        lines.append("setp.ne.b32 %guard, %odd, 0;")
        lines += _preset(mnemonic, result)
    if carries:
        # Carry-in of both kinds.
        lines.append("<b32:cf>")
        lines.append("shl.b32 %cf, %thread, 31;")
        lines.append("add.cc.u32 %cf, %cf, %cf;")
    first = names[0]
    if variant == "pair":
        second = "pred:second"
        lines.append(f"<{second}>")
        first += "|%second"
    if variant == "wide":
        lines[0] = "<b32:v0>"
    lines.append(f"{guard}{opcode_of(key)} {', '.join([first, *names[1:]])};")
    outputs: list[Output] = []
    at = 0
    carry_out = ".cc" in key
    if result.width == "p":
        lines.append("<b16:bits>")
        lines.append("selp.b16 %bits, 1, 0, %v0;")
        if variant == "pair":
            lines.append("@%second or.b16 %bits, %bits, 2;")
        lines.append("st.global.b8 [@1+0@], %bits;")
        outputs.append(Output(0, 1, lanes))
        return "\n".join(lines), outputs
    width = _WIDTHS[result.width]
    if variant == "wide":
        width = 4
    parts = [f"%v0_{part}" for part in range(result.count)] or ["%v0"]
    for part in parts:
        kind = result.kind if not result.count else ""
        mode = _mode(key, kind)
        type_ = f"~{kind}" if kind in ("f32", "f64") else f".b{8 * width}"
        lines.append(f"st.global{type_} [@{width}+{at}@], {part};")
        outputs.append(Output(at, width, lanes, mode))
        at += (width * lanes + 15) // 16 * 16
    if variant == "pair":
        lines.append("<b16:bits>")
        lines.append("selp.b16 %bits, 1, 0, %second;")
        lines.append(f"st.global.b8 [@1+{at}@], %bits;")
        outputs.append(Output(at, 1, lanes))
    if carry_out:
        lines.append("<b32:cout>")
        lines.append("addc.u32 %cout, 0, 0;")
        lines.append(f"st.global.b8 [@1+{at}@], %cout;")
        outputs.append(Output(at, 1, lanes))
    return "\n".join(lines), outputs


def _preset(mnemonic: str, result: Operand) -> Iterator[str]:
    """Fill a register that a guarded write may leave unchanged."""
    if result.width == "p":
        yield "setp.eq.b32 %v0, %odd, %odd;"
        return
    if result.count:
        # An 8-bit register can't be set to a number.
        for part in range(result.count):
            opcode = "cvt.u8.u32" if result.width == "b" else f"mov.b{8 * _WIDTHS[result.width]}"
            yield f"{opcode} %v0_{part}, {'%odd' if result.width == 'b' else 42 + part};"
        return
    kind = _register(result.kind, result.width, "")
    # ptxas computes the float of a set from an integer, with or without guard: only zero stays
    # unchanged.
    zero = mnemonic == "set" and result.kind in ("f16", "bf16", "f32")
    if kind[0] == "f":
        digits = "d4045000000000000" if kind == "f64" else "f00000000" if zero else "f42280000"
        yield f"mov~{kind} %v0, 0{digits};"
    else:
        yield f"mov.{kind} %v0, {0 if zero else 42};"
