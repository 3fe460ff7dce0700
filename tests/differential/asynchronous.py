# SPDX-License-Identifier: Apache-2.0
"""Items for asynchronous copies and for mbarriers."""

import re
from collections.abc import Iterator

from .items import Item, Output

LANES = 64
Lines = list[str]

_MODULE = (
    ".shared .align 128 .b8 from_bytes[4096];\n.shared .align 128 .b8 to_bytes[4096];\n"
    ".shared .align 8 .b64 object;\n.shared .align 8 .b64 objects[64];"
)


def knows(mnemonic: str, key: str) -> bool:
    return mnemonic in ("cp", "mbarrier") or ".async." in key


def items_of(key: str, signature: str) -> Iterator[Item]:
    if key.startswith("mbarrier"):
        made = _mbarrier(key, signature)
    elif key.startswith(("st.async", "red.async")):
        made = _store_async(key, signature)
    elif key.startswith("cp.reduce"):
        made = _reduce(key, signature)
    elif key.startswith("cp.async.bulk"):
        made = _bulk(key, signature)
    else:
        made = _copy(key, signature)
    cluster = "::cluster" in key or key.startswith(("st.async", "red.async"))
    for variant, lines, outputs in made:
        name = " ".join(part for part in (key, signature, variant) if part)
        yield Item(
            name, [(key, signature)], "\n".join(lines), outputs, LANES, _MODULE,
            "mbarrier" if key.startswith("mbarrier") else "async",
            grid=1, cluster=1 if cluster else 0,
        )  # fmt: skip


Made = Iterator[tuple[str, Lines, list[Output]]]


def _address(signature_letter: str, name: str, symbol: str, each: int = 0) -> Lines:
    """Put the shared address of a symbol, or of the thread's part of it, into a register."""
    bits = 32 if signature_letter == "n" else 64
    lines = [f"<b{bits}:{name}>", f"mov.u{bits} %{name}, {symbol};"]
    if each:
        multiply = "mad.lo.u32" if bits == 32 else "mad.wide.u32"
        lines.append(f"{multiply} %{name}, %thread, {each}, %{name};")
    return lines


def _wait(parity: str = "0") -> Lines:
    """Wait until a phase of the object is complete."""
    return [
        "<b32:watched>", "<pred:done>", "mov.u32 %watched, object;", "WAIT:",
        f"mbarrier.try_wait.parity.shared.b64 %done, [%watched], {parity};", "@!%done bra WAIT;",
    ]  # fmt: skip


def _initialise(count: int) -> Lines:
    return [
        "<b32:made>", "<pred:first>", "mov.u32 %made, object;", "setp.eq.u32 %first, %thread, 0;",
        "bar.sync 0;", f"@%first mbarrier.init.shared.b64 [%made], {count};",
        "@%first fence.mbarrier_init.release.cluster;", "bar.sync 0;",
    ]  # fmt: skip


def _finish() -> Lines:
    return ["bar.sync 0;", "@%first mbarrier.inval.shared.b64 [%made];", "bar.sync 0;"]


def _fill(symbol: str, kind: str, slot: int, width: int = 16) -> Lines:
    """Fill the thread's part of shared memory from the arena."""
    return [
        f"<b{8 * width}:filled>", "<b32:place>", f"mov.u32 %place, {symbol};",
        f"mad.lo.u32 %place, %thread, {width}, %place;",
        f"ld.global.b{8 * width} %filled, [#{kind}:{slot}#];",
        f"st.shared.b{8 * width} [%place], %filled;",
    ]  # fmt: skip


def _keep(symbol: str, width: int = 16, at: int = 0) -> Lines:
    return [
        f"<b{8 * width}:kept>", "<b32:read>", f"mov.u32 %read, {symbol};",
        f"mad.lo.u32 %read, %thread, {width}, %read;", f"ld.shared.b{8 * width} %kept, [%read];",
        f"st.global.b{8 * width} [@{width}+{at}@], %kept;",
    ]  # fmt: skip


_BYTES = [Output(0, 16, LANES)]


def _copy(key: str, signature: str) -> Made:
    if key.startswith("cp.async.mbarrier"):
        opcode = key.replace(".shared", ".shared::cta")
        noinc = ".noinc" in key
        lines = _initialise(128 if noinc else 64)
        lines += [*_address(signature, "at", "object"), *_address("n", "to", "to_bytes", 16)]
        if ".shared" not in key:
            lines.append("cvta.shared.u64 %at, %at;")
        lines += ["<b64:source>", "add.u64 %source, #,b128:0#;"]
        lines += ["cp.async.ca.shared.global [%to], [%source], 16;", f"{opcode} [%at];"]
        lines += ["<b64:state>", "mbarrier.arrive.shared.b64 %state, [%made];"]
        yield "", [*lines, *_wait(), *_keep("to_bytes"), *_finish()], _BYTES
        return
    start = [*_address("n", "to", "to_bytes", 16), "<b64:source>", "add.u64 %source, #,b128:0#;"]
    if not key.startswith("cp.async.shared"):
        lines = [
            *_fill("to_bytes", "b128", 1),
            *start,
            "cp.async.cg.shared.global [%to], [%source], 16;",
        ]
        if key == "cp.async.commit_group":
            lines += ["cp.async.commit_group;", "cp.async.wait_all;"]
        elif key == "cp.async.wait_group":
            lines += ["cp.async.commit_group;", "cp.async.wait_group 0;"]
        else:
            lines.append("cp.async.wait_all;")
        yield "", [*lines, *_keep("to_bytes")], _BYTES
        return
    start = [*_fill("to_bytes", "b128", 1), *_address(signature[0], "to2", "to_bytes", 16)]
    start += ["<b64:source>", "add.u64 %source, #,b128:0#;"]
    ignore = signature.endswith("p")
    for size in (4, 8, 16):
        for cache in ("ca", "cg") if size == 16 else ("ca",):
            opcode = f"cp.async.{cache}.shared.global"
            forms = {"": ""}
            lines: Lines = []
            if ignore:
                lines = ["<pred:some>", "<b32:bit>", "and.b32 %bit, %thread, 1;",
                         "setp.ne.u32 %some, %bit, 0;"]  # fmt: skip
                forms = {"ignored": ", %some"}
            else:
                lines = ["<b32:size>", f"rem.u32 %size, %thread, {size + 1};"]
                forms["partial"] = ", %size"
            for variant, extra in forms.items():
                yield f"{cache} {size} {variant}".strip(), [
                    *start, *lines, f"{opcode} [%to2], [%source], {size}{extra};",
                    "cp.async.wait_all;", *_keep("to_bytes"),
                ], _BYTES  # fmt: skip


_TRANSACTION = "mbarrier.arrive.expect_tx.shared.b64 _, [%made], "


def _bulk(key: str, signature: str) -> Made:
    if key == "cp.async.bulk.commit_group" or key.startswith("cp.async.bulk.wait_group"):
        wait = key if "wait" in key else "cp.async.bulk.wait_group"
        lines = [*_fill("from_bytes", "b128", 0), "<pred:first>", "setp.eq.u32 %first, %thread, 0;"]
        lines += ["fence.proxy.async.shared::cta;", "bar.sync 0;", "<b32:source>", "<b64:to>"]
        lines += ["mov.u32 %source, from_bytes;", "add.u64 %to, @=,0@;"]
        lines += ["@%first cp.async.bulk.global.shared::cta.bulk_group [%to], [%source], 1024;"]
        lines += ["@%first cp.async.bulk.commit_group;", f"@%first {wait} 0;"]
        if wait.endswith("read"):
            lines.append("@%first cp.async.bulk.wait_group 0;")
        yield "", [*lines, "bar.sync 0;"], _BYTES
        return
    if ".prefetch" in key:
        opcode = key if ".L2" in key else "cp.async.bulk.prefetch.L2.global"
        lines = ["<b64:source>", "add.u64 %source, #,b128:0#;", f"{opcode} [%source], 16;"]
        lines += ["st.global.b32 [@4+0@], %thread;"]
        yield "", lines, [Output(0, 4, LANES)]
        return
    if key.startswith("cp.async.bulk.global"):
        lines = [*_fill("from_bytes", "b128", 0), "<pred:first>", "setp.eq.u32 %first, %thread, 0;"]
        lines += ["fence.proxy.async.shared::cta;", "bar.sync 0;", "<b64:to>"]
        lines += [*_address(signature[1], "source", "from_bytes"), "add.u64 %to, @=,0@;"]
        opcode = key.replace(".shared", ".shared::cta")
        lines += [
            f"@%first {opcode} [%to], [%source], 1008;",
            "@%first cp.async.bulk.commit_group;",
        ]
        yield "", [*lines, "@%first cp.async.bulk.wait_group 0;", "bar.sync 0;"], _BYTES
        return
    lines = [*_fill("to_bytes", "b128", 1), *_fill_from(key), *_initialise(1)]
    lines += ["fence.proxy.async.shared::cta;", "bar.sync 0;"]
    letters = signature.replace("w", "")
    lines += [*_address(letters[0], "to", "to_bytes"), *_address(letters[0], "object_at", "object")]
    if ".global" in key:
        lines += ["<b64:source>", "add.u64 %source, #,b128:0#;"]  # For the first thread.
    else:
        lines += _address(letters[0], "source", "from_bytes")
    opcode = key.replace(".shared.", ".shared::cta.")
    mask = ""
    if key.endswith("multicast::cluster"):
        lines += ["<b16:members>", "mov.b16 %members, 1;"]
        mask = ", %members"
    lines += [f"@%first {_TRANSACTION}1008;"]
    lines += [f"@%first {opcode} [%to], [%source], 1008, [%object_at]{mask};"]
    yield "", [*lines, *_wait(), *_keep("to_bytes"), *_finish()], _BYTES


def _fill_from(key: str) -> Lines:
    if ".global" in key:
        return []
    return ["{", *_fill("from_bytes", "b128", 0), "}"]


def _kind(key: str) -> tuple[str, int]:
    kind = key.rpartition(".")[2]
    return kind, int(re.sub(r"\D", "", kind)) // 8


def _reduce(key: str, signature: str) -> Made:
    kind, width = _kind(key)
    size = LANES * width
    mode = f"nan.{kind}" if "f" in kind else "bits"
    opcode = key.replace(".shared.", ".shared::cta.")
    if ".add." in key and kind in ("f16", "bf16"):
        opcode = opcode.replace(".add.", ".add.noftz.")
    outputs = [Output(0, width, LANES, mode)]
    if key.startswith("cp.reduce.async.bulk.global"):
        lines = [*_fill("from_bytes", kind, 1, width), "<pred:first>"]
        lines += ["setp.eq.u32 %first, %thread, 0;", "<b64:to>", f"<b{8 * width}:old>"]
        lines += [
            f"ld.global.b{8 * width} %old, [#{kind}:0#];",
            f"st.global.b{8 * width} [@{width}+0@], %old;",
        ]
        lines += ["fence.proxy.async;", "bar.sync 0;", "add.u64 %to, @=,0@;"]
        lines += [*_address(signature[1], "source", "from_bytes")]
        lines += [
            f"@%first {opcode} [%to], [%source], {size};",
            "@%first cp.async.bulk.commit_group;",
        ]
        yield "", [*lines, "@%first cp.async.bulk.wait_group 0;", "bar.sync 0;"], outputs
        return
    lines = [*_fill("to_bytes", kind, 0, width), "{", *_fill("from_bytes", kind, 1, width), "}"]
    lines += [*_initialise(1), "fence.proxy.async.shared::cta;", "bar.sync 0;"]
    letter = signature[0]
    lines += [*_address(letter, "to", "to_bytes"), *_address(letter, "object_at", "object")]
    lines += [*_address(letter, "source", "from_bytes"), f"@%first {_TRANSACTION}{size};"]
    lines += [f"@%first {opcode} [%to], [%source], {size}, [%object_at];"]
    yield "", [*lines, *_wait(), *_keep("to_bytes", width), *_finish()], outputs


def _store_async(key: str, signature: str) -> Made:
    kind, width = _kind(key)
    vector = int(m[1]) if (m := re.search(r"\.v([248])\.", key)) else 1
    size = width * vector
    letter = signature[0]
    lines = [*_fill("to_bytes", f"b{8 * size}", 7, size), *_initialise(1)]
    lines += [*_address(letter, "to", "to_bytes", size), *_address(letter, "object_at", "object")]
    lines += [f"@%first {_TRANSACTION}{size * LANES};", "bar.sync 0;"]
    register = kind if kind[0] == "f" else f"b{8 * width}"
    names = [f"v{i}" for i in range(vector)]
    lines.append(f"<{register}:{', '.join(names)}>")
    for i, name in enumerate(names):
        type_ = f"~{register}" if register[0] == "f" else f".{register}"
        lines.append(f"ld.global{type_} %{name}, [#{kind}:{i}#];")
    listed = ", ".join(f"%{name}" for name in names)
    value = f"{{{listed}}}" if vector > 1 else listed
    opcode = key
    if key.startswith("red.async") and ".relaxed" in key:
        opcode = key.replace(".relaxed", ".relaxed.cluster")
    lines.append(f"{opcode} [%to], {value}, [%object_at];")
    yield "", [*lines, *_wait(), *_keep("to_bytes", size), *_finish()], [Output(0, size, LANES)]


def _mbarrier(key: str, signature: str) -> Made:
    """One object per block, on which all threads count."""
    if key == "mbarrier.pending_count.b64":
        lines = [
            *_initialise(64),
            "<b64:state>",
            "<b32:d>",
            "mbarrier.arrive.shared.b64 %state, [%made];",
        ]
        lines += [f"{key} %d, %state;", "setp.gt.u32 %first, %d, 64;", "selp.b32 %d, 1, 0, %first;"]
        lines += ["setp.eq.u32 %first, %thread, 0;", "st.global.b32 [@4+0@], %d;"]
        yield "", [*lines, *_finish()], [Output(0, 4, LANES)]
        return
    operation = key.split(".")[1]
    letter = "n" if "n" in signature else "m"
    opcode = _scoped(key)
    remote = "shared::cluster" in key
    lines = [*_address(letter, "at", "object")]
    if ".shared" not in key:
        lines.append("cvta.shared.u64 %at, %at;")
    body = ["<b64:state>", "<b32:d>", "<pred:p>", "mov.b32 %d, 0;"]
    keep = ["st.global.b32 [@4+0@], %d;"]
    outputs = [Output(0, 4, LANES)]
    if operation in ("init", "inval"):
        first = ["<pred:first>", "<b32:made>", "mov.u32 %made, object;",
                 "setp.eq.u32 %first, %thread, 0;", "bar.sync 0;"]  # fmt: skip
        init = opcode if operation == "init" else "mbarrier.init.shared.b64"
        lines += [
            *body,
            *first,
            f"@%first {init} [%{'at' if operation == 'init' else 'made'}], 64;",
        ]
        lines += ["bar.sync 0;", "mbarrier.arrive.shared.b64 %state, [%made];", *_wait()]
        lines += ["mbarrier.test_wait.parity.shared.b64 %p, [%made], 1;", "selp.b32 %d, 1, 5, %p;"]
        end = "mbarrier.inval.shared.b64 [%made];" if operation == "init" else f"{opcode} [%at];"
        yield "", [*lines, *keep, "bar.sync 0;", f"@%first {end}", "bar.sync 0;"], outputs
        return
    if operation in ("expect_tx", "complete_tx"):
        lines += [*body, *_initialise(64)]
        expect = opcode if operation == "expect_tx" else "mbarrier.expect_tx.relaxed.cta.shared.b64"
        complete = (
            opcode if operation == "complete_tx" else "mbarrier.complete_tx.relaxed.cta.shared.b64"
        )
        where = ("at", "made") if operation == "expect_tx" else ("made", "at")
        lines += [f"{expect} [%{where[0]}], 24;", "bar.sync 0;"]
        lines += ["mbarrier.arrive.shared.b64 %state, [%made];"]
        lines += ["mbarrier.test_wait.shared.b64 %p, [%made], %state;", "selp.b32 %d, 1, 3, %p;"]
        lines += ["bar.sync 0;", f"{complete} [%{where[1]}], 24;", *_wait(), "add.u32 %d, %d, 4;"]
        yield "", [*lines, *keep, *_finish()], outputs
        return
    if operation in ("arrive", "arrive_drop"):
        drop = operation == "arrive_drop"
        expecting = ".expect_tx" in key
        partial = ".noComplete" in key
        counts = [""] if signature.endswith("?w") else []
        if expecting:
            counts = [", 16"]
        elif signature.endswith("w"):
            counts.append(", 2")
        for count in counts:
            total = 64 * (2 if count == ", 2" else 1)
            # Two phases; if threads drop out, the second expects no arrivals from them.
            extra = 1 if drop or partial else 0
            use = [*body, *_initialise(total + extra)]
            state = "_" if remote else "%state"
            use.append(f"{opcode} {state}, [%at]{count};")
            if expecting:
                use += ["bar.sync 0;", "mbarrier.complete_tx.relaxed.cta.shared.b64 [%made], 16;"]
            if extra:
                use += ["bar.sync 0;", "@%first mbarrier.arrive.shared.b64 _, [%made];"]
            use += _wait()
            use.append("mbarrier.test_wait.parity.shared.b64 %p, [%made], 1;")
            use.append("selp.b32 %d, 1, 2, %p;")
            if drop:
                use += [
                    "bar.sync 0;",
                    "@%first mbarrier.arrive.shared.b64 _, [%made];",
                    "bar.sync 0;",
                ]
                use += [
                    "mbarrier.test_wait.parity.shared.b64 %p, [%made], 1;",
                    "@%p add.u32 %d, %d, 8;",
                ]
            yield count.strip(", "), [*lines, *use, *keep, *_finish()], outputs
        return
    # test_wait and try_wait.
    hints = ["", ", 1000"] if signature.endswith("?w") else [""]
    for hint in hints:
        use = [
            *body,
            *_initialise(64),
            "mbarrier.arrive.shared.b64 %state, [%made];",
            "bar.sync 0;",
        ]
        parity = ".parity" in key
        use += ["AGAIN:", f"{opcode} %p, [%at], {'0' if parity else '%state'}{hint};"]
        use += ["@!%p bra AGAIN;", "mov.b32 %d, 5;"]
        if parity:
            use += [f"{opcode} %p, [%at], 1{hint};", "@%p mov.b32 %d, 6;"]
        yield hint.strip(", "), [*lines, *use, *keep, *_finish()], outputs


def _scoped(key: str) -> str:
    """Return the opcode with the scopes that the key left out: PTX requires one after an order."""
    words: list[str] = []
    for word in key.split("."):
        words.append(word)
        if word in ("release", "acquire", "relaxed"):
            words.append("cluster" if "::cluster" in key else "cta")
    return ".".join(words)
