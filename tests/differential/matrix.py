# SPDX-License-Identifier: Apache-2.0
"""Items for matrix instructions: fragments from the arena, products and transfers."""

import itertools
import re
from collections.abc import Iterator

from .items import Item, Output
from .matrix_values import BITS

LANES = 32
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_OPERAND = re.compile(r"(\d+)([wx])")
_ELEMENTS = (
    "f16",
    "bf16",
    "tf32",
    "f32",
    "f64",
    "e4m3",
    "e5m2",
    "s8",
    "u8",
    "s4",
    "u4",
    "b1",
    "s32",
)


def knows(mnemonic: str, key: str) -> bool:
    return mnemonic in ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix")


def items_of(key: str, signature: str) -> Iterator[Item]:
    mnemonic = key.partition(".")[0]
    if mnemonic == "mma":
        yield from _mma(key, signature)
    elif mnemonic == "wmma":
        yield from _wmma(key, signature)
    elif mnemonic == "movmatrix":
        lines = ["<b32:a, d>", "ld.global.b32 %a, [#b32:0#];", f"{key} %d, %a;"]
        lines.append("st.global.b32 [@4+0@], %d;")
        yield _item(key, signature, lines, [Output(0, 4, LANES)])
    else:
        yield from _tiles(key, signature)


def _item(
    key: str,
    signature: str,
    lines: list[str],
    outputs: list[Output],
    module: str = "",
    variant: str = "",
) -> Item:
    name = f"{key} {signature}" + (f" {variant}" if variant else "")
    return Item(
        name, [(key, signature)], "\n".join(lines), outputs, LANES, module,
        key.partition(".")[0] if key[0] in "mw" and key[1] != "o" else "tiles",
    )  # fmt: skip


def elements_of(key: str) -> list[str]:
    """Return the elements of d, a, b and c."""
    words = [word for word in key.split(".") if word in _ELEMENTS]
    if len(words) == 2:  # wmma with f16: only d and c.
        return [words[0], "f16", "f16", words[1]]
    return words


def _selectors(key: str, element: str) -> range:
    """Return which of four lanes may hold the metadata of a sparse matrix; none for a dense one."""
    if ".sp" not in key:
        return range(1)
    shape = _SHAPE.search(key)
    assert shape is not None
    # Bits per row: four for each group that keeps some of its elements.
    group = {4: 8, 8: 4, 16: 4, 32: 2}[BITS[element]]
    return range(64 // (4 * int(shape[3]) // group))


def _mma(key: str, signature: str) -> Iterator[Item]:
    d, a, b, c = elements_of(key)
    counts = [(int(n), w) for n, w in _OPERAND.findall(signature)][:4]
    for variant, selector in itertools.product(("exact", "random"), _selectors(key, a)):
        if variant == "random" and (BITS[a] < 8 or selector):
            continue
        lines: list[str] = []
        names: list[str] = []
        for which, ((count, width), element) in enumerate(zip(counts, (d, a, b, c), strict=True)):
            letter = "dabc"[which]
            bits = 64 if width == "x" else 32
            register = f"f{bits}" if element in ("f32", "f64") else f"b{bits}"
            listed = [f"{letter}{i}" for i in range(count)]
            lines.append(f"<{register}:{', '.join(listed)}>")
            names.append("{" + ", ".join(f"%{name}" for name in listed) + "}")
            if which == 0:
                continue
            type_ = f"~{register}" if register[0] == "f" else f".{register}"
            for i, name in enumerate(listed):
                kind = f"{variant}_{element}"
                lines.append(f"ld.global{type_} %{name}, [#{kind}:{8 * which + i}#];")
        if ".sp" in key:
            kind = "kept_32" if a == "tf32" else "kept"
            lines += ["<b32:kept>", f"ld.global.b32 %kept, [#{kind}:{selector}#];"]
            names += ["%kept", str(selector)]
        lines.append(f"{key} {', '.join(names)};")
        kept, outputs = _keep(counts[0], d, variant, _SHAPE.search(key))
        named = f"{variant} {selector}" if ".sp" in key else variant
        yield _item(key, signature, [*lines, *kept], outputs, variant=named)


def _keep(
    count: tuple[int, str], element: str, variant: str, shape: re.Match[str] | None
) -> tuple[list[str], list[Output]]:
    number, width = count
    size = 8 if width == "x" else 4
    register = f"f{8 * size}" if element in ("f32", "f64") else f"b{8 * size}"
    type_ = f"~{register}" if register[0] == "f" else f".{register}"
    depth = int(shape[3]) if shape else 16
    lines: list[str] = []
    outputs: list[Output] = []
    for i in range(number):
        at = i * LANES * size
        lines.append(f"st.global{type_} [@{size}+{at}@], %d{i};")
        mode = "bits"
        if variant == "random" and element in ("f16", "f32", "f64"):
            kind = "f16x2" if element == "f16" else element
            # Sums of products with a magnitude of about one: the order and the precision of the sum
            # are undefined.
            epsilon = {"f16": 2.0**-10, "f32": 2.0**-21, "f64": 2.0**-51}[element]
            mode = f"approx.{kind}:{epsilon!r}:{depth * epsilon!r}"
        outputs.append(Output(at, size, LANES, mode))
    return lines, outputs


_MODULE = ".shared .align 128 .b8 tile[16384];"


def _wmma(key: str, signature: str) -> Iterator[Item]:
    """Through shared memory: loads of a, b, c, a product, and a store of d."""
    what = key.split(".")[1]
    shape = _SHAPE.search(key)
    assert shape is not None
    m, n, k = (int(size) for size in shape.groups())
    # A store with a stride must not affect the gaps between its rows, which a GPU doesn't check.
    variants = ("plain",) if what == "store" else ("plain", "stride")
    if what == "mma":
        d, a, b, c = elements_of(key)
        layouts = re.search(r"\.(row|col)\.(row|col)\.", key)
        assert layouts is not None
        layout_a, layout_b, layout_c = layouts[1], layouts[2], "row"
        product = key
        space, narrow = "shared", True
        for variant in ("exact", "random"):
            if variant == "random" and BITS[a] < 8:
                continue
            text = _product(
                (m, n, k), (d, a, b, c), (layout_a, layout_b, layout_c), product, variant,
                {}, False,
            )  # fmt: skip
            yield _item(key, signature, *text, module=_MODULE, variant=variant)
        return
    element = key.rpartition(".")[2]
    layout = (".row." in key and "row") or "col"
    role = key.split(".")[2]
    space = ".shared" if ".shared" in key else ".global" if ".global" in key else ""
    narrow = "n" in signature
    for variant in variants:
        kinds, product = _product_for(role, element, (m, n, k), layout)
        a_layout = layout if role == "a" else "row"
        b_layout = layout if role == "b" else "col"
        c_layout = layout if role in "cd" else "row"
        product = product.format(a=a_layout, b=b_layout)
        text = _product(
            (m, n, k), kinds, (a_layout, b_layout, c_layout), product, "exact",
            {role: (key, space, narrow)}, variant == "stride",
        )  # fmt: skip
        yield _item(key, signature, *text, module=_MODULE, variant=variant)


def _product_for(
    role: str, element: str, shape: tuple[int, int, int], layout: str
) -> tuple[tuple[str, str, str, str], str]:
    """Return the product that a fragment is used in."""
    m, n, k = shape
    size = f"m{m}n{n}k{k}"
    head = "wmma.mma.sync.aligned.{a}.{b}."
    if role in "ab":
        if element == "f16":
            return ("f32", "f16", "f16", "f32"), f"{head}{size}.f32.f32"
        if element in ("bf16", "tf32"):
            return ("f32", element, element, "f32"), f"{head}{size}.f32.{element}.{element}.f32"
        if element == "f64":
            return ("f64",) * 4, f"{head}{size}.f64.f64.f64.f64"
        if element == "b1":
            return (
                ("s32", "b1", "b1", "s32"),
                f"wmma.mma.xor.popc.sync.aligned.{{a}}.{{b}}.{size}.s32.b1.b1.s32",
            )
        return ("s32", element, element, "s32"), f"{head}{size}.s32.{element}.{element}.s32"
    inputs = {4: "f64", 8: "tf32", 16: "f16", 32: "s4", 128: "b1"}[k]
    if element == "s32" and k == 16:
        inputs = "s8"
    kinds = (element, inputs, inputs, element)
    if inputs == "f16":
        return kinds, f"{head}{size}.{element}.{element}"
    if inputs == "b1":
        return kinds, f"wmma.mma.xor.popc.sync.aligned.{{a}}.{{b}}.{size}.s32.b1.b1.s32"
    return kinds, f"{head}{size}.{element}.{inputs}.{inputs}.{element}"


def registers_of(which: str, element: str, shape: tuple[int, int, int]) -> int:
    m, n, k = shape
    if element == "f64":
        return 2 if which in "cd" else 1
    if which in "cd":
        return m * n // 32 // (2 if element == "f16" else 1)
    if element == "f16":
        return 8
    rows, columns = (m, k) if which == "a" else (k, n)
    return rows * columns * BITS[element] // 32 // 32


#: Where the matrices are in the tile.
_PLACES = {"a": 0, "b": 4096, "c": 8192, "d": 12288}


def _product(
    shape: tuple[int, int, int],
    kinds: tuple[str, str, str, str],
    layouts: tuple[str, str, str],
    product: str,
    variant: str,
    special: dict[str, tuple[str, str, bool]],
    strided: bool,
) -> tuple[list[str], list[Output]]:
    m, n, k = shape
    lines = ["bar.warp.sync 0xffffffff;"]
    # Fill the tile with elements, one line of 32 threads' words at a time.
    lines += ["<b32:at, word>", "<b64:wide>", "<b32:base>"]
    lines += ["mov.u32 %base, tile;", "mad.lo.u32 %at, %thread, 4, %base;"]
    dimensions = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    orders = {"a": layouts[0], "b": layouts[1], "c": layouts[2], "d": layouts[2]}
    leading: dict[str, int] = {}
    for which, element in zip("dabc", kinds, strict=True):
        rows, columns = dimensions[which]
        leading[which] = columns if orders[which] == "row" else rows
        pad = 0
        if strided and which in special:
            # The stride is a multiple of 16 bytes.
            pad = 128 // BITS[element] * (2 if element != "b1" else 1)
        lines_count = rows if orders[which] == "row" else columns
        leading[which] += pad
        if which == "d":
            continue
        size = lines_count * leading[which] * BITS[element] // 8
        kind = f"{variant}_{element}"
        if element == "f64":
            lines += ["mad.lo.u32 %at, %thread, 8, %base;"]
            for i in range((size + 255) // 256):
                lines.append(f"ld.global.b64 %wide, [#{kind}:{i % 8 + 8 * 'abc'.index(which)}#];")
                lines.append(f"st.shared.b64 [%at+{_PLACES[which] + 256 * i}], %wide;")
            continue
        for i in range((size + 127) // 128):
            lines.append(f"ld.global.b32 %word, [#{kind}:{i % 8 + 8 * 'abc'.index(which)}#];")
            lines.append(f"st.shared.b32 [%at+{_PLACES[which] + 128 * i}], %word;")
    # Global loads read the output, to which the tile is copied.
    used = any(space == ".global" for _, space, _ in special.values())
    lines.append("bar.warp.sync 0xffffffff;")
    d_size = dimensions["d"][0 if layouts[2] == "row" else 1] * leading["d"] * BITS[kinds[0]] // 8
    copy_at = (d_size + 127) // 128 * 128
    if used:
        lines += ["<b64:to>", "add.u64 %to, @4,0@;", "mad.lo.u32 %at, %thread, 4, %base;"]
        role = next(iter(special))
        if role != "d":
            for i in range(4096 // 128):
                lines.append(f"ld.shared.b32 %word, [%at+{_PLACES[role] + 128 * i}];")
                lines.append(f"st.global.b32 [%to+{copy_at + 128 * i}], %word;")
        lines.append("bar.warp.sync 0xffffffff;")
    sizes = f"m{m}n{n}k{k}"
    names: dict[str, str] = {}
    for which, element in zip("dabc", kinds, strict=True):
        bits = 64 if element == "f64" else 32
        register = f"f{bits}" if element in ("f32", "f64") else f"b{bits}"
        listed = [f"{which}{i}" for i in range(registers_of(which, element, shape))]
        lines.append(f"<{register}:{', '.join(listed)}>")
        names[which] = "{" + ", ".join(f"%{name}" for name in listed) + "}"
    for which, element in zip("abc", kinds[1:], strict=True):
        opcode = f"wmma.load.{which}.sync.aligned.{orders[which]}.{sizes}.shared.{element}"
        lines += _transfer(which, opcode, names[which], leading[which], special, strided, copy_at)
    lines.append(f"{product} {names['d']}, {names['a']}, {names['b']}, {names['c']};")
    opcode = f"wmma.store.d.sync.aligned.{orders['d']}.{sizes}.shared.{kinds[0]}"
    lines += _transfer("d", opcode, names["d"], leading["d"], special, strided, 0)
    lines.append("bar.warp.sync 0xffffffff;")
    if not (used and "d" in special):
        # Only what the store wrote.
        lines += ["<b64:result>", "add.u64 %result, @4,0@;", "mad.lo.u32 %at, %thread, 4, %base;"]
        for i in range((d_size + 127) // 128):
            lines.append(f"ld.shared.b32 %word, [%at+{_PLACES['d'] + 128 * i}];")
            lines.append(f"st.global.b32 [%result+{128 * i}], %word;")
    width = BITS[kinds[0]] // 8
    mode = "bits"
    if variant == "random" and kinds[0] in ("f16", "f32", "f64"):
        epsilon = {"f16": 2.0**-10, "f32": 2.0**-21, "f64": 2.0**-51}[kinds[0]]
        mode = f"approx.{kinds[0]}:{epsilon!r}:{k * epsilon!r}"
    outputs = [Output(0, width, d_size // width, mode)]
    if used and "d" not in special:
        outputs.append(Output(copy_at, 4, 1024, "skip"))
    if strided and "d" in special:
        # Between the lines is what was there before.
        lead = leading["d"]
        inner = dimensions["d"][1 if layouts[2] == "row" else 0]
        outputs = [
            Output(line * lead * width, width, inner, mode)
            for line in range(d_size // lead // width)
        ]
    return lines, outputs


def _transfer(
    which: str,
    opcode: str,
    names: str,
    leading: int,
    special: dict[str, tuple[str, str, bool]],
    strided: bool,
    copy_at: int,
) -> list[str]:
    lines: list[str] = []
    key, space, narrow = special.get(which, (opcode, ".shared", True))
    place = _PLACES[which]
    if which not in special:
        address = f"[%base+{place}]"
    else:
        bits = 32 if narrow else 64
        lines.append(f"<b{bits}:{which}at>")
        if space == ".global":
            lines.append(f"add.u64 %{which}at, @=,{copy_at}@;")
        else:
            lines.append(f"mov.u{bits} %{which}at, tile;")
            lines.append(f"add.u{bits} %{which}at, %{which}at, {place};")
            if not space:
                lines.append(f"cvta.shared.u64 %{which}at, %{which}at;")
        address = f"[%{which}at]"
    stride = f", {leading}" if (strided and which in special) else ""
    if which == "d":
        lines.append(f"{key} {address}, {names}{stride};")
    else:
        lines.append(f"{key} {names}, {address}{stride};")
    return lines


def _tiles(key: str, signature: str) -> Iterator[Item]:
    number = int(re.search(r"\.x(\d)", key)[1])  # type: ignore[index]
    narrow = "n" in signature
    bits = 32 if narrow else 64
    lines = ["<b32:line, word>", f"<b{bits}:base, at>", f"mov.u{bits} %base, tile;"]
    if ".shared" not in key:
        lines.append("cvta.shared.u64 %base, %base;")
    lines.append("bar.warp.sync 0xffffffff;")
    # Each lane has a line of 16 bytes; the lines are not in order.
    lines += [
        "mul.lo.u32 %line, %thread, 5;",
        "and.b32 %line, %line, 31;",
        "mul.lo.u32 %line, %line, 16;",
    ]
    if bits == 64:
        lines += ["cvt.u64.u32 %at, %line;", "add.u64 %base, %base, %at;"]
    else:
        lines.append("add.u32 %base, %base, %line;")
    listed = [f"d{i}" for i in range(number)]
    names = "{" + ", ".join(f"%{name}" for name in listed) + "}"
    lines.append(f"<b32:{', '.join(listed)}>")
    lines += ["<b32:own>", "mov.u32 %own, tile;", "mad.lo.u32 %own, %thread, 16, %own;"]
    outputs: list[Output] = []
    if key.startswith("ldmatrix"):
        for i in range(4):
            lines += [f"ld.global.b32 %word, [#b32:{i}#];", f"st.shared.b32 [%own+{4 * i}], %word;"]
        lines += ["bar.warp.sync 0xffffffff;", f"{key} {names}, [%base];"]
        for i, name in enumerate(listed):
            lines.append(f"st.global.b32 [@4+{128 * i}@], %{name};")
            outputs.append(Output(128 * i, 4, LANES))
    else:
        for i in range(4):
            lines.append(f"st.shared.b32 [%own+{4 * i}], %thread;")
        for i, name in enumerate(listed):
            lines.append(f"ld.global.b32 %{name}, [#b32:{i}#];")
        lines += [
            "bar.warp.sync 0xffffffff;",
            f"{key} [%base], {names};",
            "bar.warp.sync 0xffffffff;",
        ]
        for i in range(4):
            lines += [
                f"ld.shared.b32 %word, [%own+{4 * i}];",
                f"st.global.b32 [@4+{128 * i}@], %word;",
            ]
            outputs.append(Output(128 * i, 4, LANES))
    yield _item(key, signature, lines, outputs, _MODULE)
