# SPDX-License-Identifier: Apache-2.0
"""Items for branches, calls, barriers, fences, addresses, and other control instructions."""

from collections.abc import Callable, Iterator

from .items import Item, Output

LANES = 64

Lines = list[str]

_KEEP = "st.global.b32 [@4+0@], %d;"
_WORD = [Output(0, 4, LANES)]

#: Instructions that change nothing a kernel can observe: the kernel runs them and continues.
_SILENT = {
    "nanosleep.u32": "nanosleep.u32 20;",
    "pmevent": "pmevent 1;",
    "pmevent.mask": "pmevent.mask 3;",
    "griddepcontrol.launch_dependents": "griddepcontrol.launch_dependents;",
    "griddepcontrol.wait": "griddepcontrol.wait;",
    "createpolicy.fractional.b64": "createpolicy.fractional.L2::evict_last.b64 %policy, 0.5;",
    "createpolicy.cvt.L2.b64": "createpolicy.cvt.L2.b64 %policy, 0x10F0000000000000;",
    "createpolicy.range.b64": "createpolicy.range.L2::evict_first.L2::evict_unchanged.b64 %policy,"
    " [%base], 64, 128;",
    "createpolicy.range.global.b64": "createpolicy.range.global.L2::evict_last.b64 %policy, [%base],"  # noqa: E501
    " 64, 128;",
    "prefetchu.L1": "prefetchu.L1 [%base];",
    "fence.proxy.async.shared": "fence.proxy.async.shared::cta;",
    "membar": "membar.cta;",
    "membar.gl": "membar.gl;",
    "fence": "fence.cta;",
    "fence.sc": "fence.sc.cluster;",
    "fence.acq_rel": "fence.acq_rel.gpu;",
    "fence.acquire": "fence.acquire.sys;",
    "fence.release": "fence.release.gpu;",
    "fence.mbarrier_init.release": "fence.mbarrier_init.release.cluster;",
    "fence.acquire.sync_restrict::shared::cluster": "fence.acquire.sync_restrict::shared::cluster"
    ".cluster;",
    "fence.release.sync_restrict::shared::cta": "fence.release.sync_restrict::shared::cta.cluster;",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster": "fence.proxy.async::generic"  # noqa: E501
    ".acquire.sync_restrict::shared::cluster.cluster;",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta": "fence.proxy.async::generic"
    ".release.sync_restrict::shared::cta.cluster;",
}

_FUNCTIONS = """
.func (.param .b32 result) twice(.param .b32 value) {
.reg .b32 %a;
ld.param.b32 %a, [value];
add.u32 %a, %a, %a;
st.param.b32 [result], %a;
ret;
}
.func (.param .b32 result) thrice(.param .b32 value) {
.reg .b32 %a;
ld.param.b32 %a, [value];
mul.lo.u32 %a, %a, 3;
st.param.b32 [result], %a;
ret;
}
.func (.param .b32 result) below(.param .b32 value) {
.reg .b32 %a, %b;
.reg .pred %p;
ld.param.b32 %a, [value];
setp.lt.u32 %p, %a, 2;
@%p bra DONE;
sub.u32 %a, %a, 1;
{
.param .b32 to;
.param .b32 from;
st.param.b32 [to], %a;
call.uni (from), below, (to);
ld.param.b32 %b, [from];
}
add.u32 %a, %a, %b;
DONE:
st.param.b32 [result], %a;
ret;
}
"""
_RUNTIME = """
.extern .func (.param .b64 result) malloc(.param .b64 size);
.extern .func free(.param .b64 pointer);
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,
.param .b64 e);
.global .align 1 .b8 nothing[1] = {0};
"""
_SHARED = ".shared .align 128 .b8 block_words[1024];"
_CONST = ".const .align 4 .b32 constant_word = 12345;"


def _bra(signature: str) -> Iterator[tuple[str, Lines]]:
    divergent = ["and.b32 %a, %thread, 3;", "mov.b32 %d, 100;"]
    for i in range(3):
        divergent += [f"setp.eq.u32 %p, %a, {i};", f"@%p bra TARGET{i};"]
    divergent += ["add.u32 %d, %d, 7;", "bra.uni JOIN;"]
    for i in range(3):
        divergent += [f"TARGET{i}:", f"mad.lo.u32 %d, %thread, {i + 2}, %d;"]
        if i != 1:
            divergent.append("bra JOIN;")
    yield "divergent", [*divergent, "JOIN:"]
    yield "loop", [
        "mov.b32 %d, 0;", "mov.b32 %a, %thread;", "AGAIN:", "setp.eq.u32 %p, %a, 0;",
        "@%p bra OUT;", "mad.lo.u32 %d, %d, 3, %a;",
        "sub.u32 %a, %a, 1;", "bra AGAIN;", "OUT:",
    ]  # fmt: skip


def _brx(signature: str) -> Iterator[tuple[str, Lines]]:
    for suffix, index in (("", "and.b32 %a, %thread, 3;"), (".uni", "mov.b32 %a, 2;")):
        yield suffix.strip("."), [
            index, "mov.b32 %d, 1;", "table: .branchtargets C0, C1, C2, C3;",
            f"brx.idx{suffix} %a, table;", "C0:", "add.u32 %d, %d, 10;", "C1:",
            "add.u32 %d, %d, 20;", "bra END;", "C2:", "add.u32 %d, %d, %thread;", "bra END;",
            "C3:", "add.u32 %d, %d, 40;", "END:",
        ]  # fmt: skip


def _call_of(target: str, argument: str, uniform: str = ".uni", extra: str = "") -> Lines:
    return [
        "{", ".param .b32 to;", ".param .b32 from;", f"st.param.b32 [to], {argument};",
        f"call{uniform} (from), {target}, (to){extra};", "ld.param.b32 %d, [from];", "}",
    ]  # fmt: skip


def _call(signature: str) -> Iterator[tuple[str, Lines]]:
    yield "direct", _call_of("twice", "%thread")
    yield "recursive", ["and.b32 %a, %thread, 15;", *_call_of("below", "%a", "")]
    yield "guarded", [
        "mov.b32 %d, 5;", "setp.gt.u32 %p, %thread, 20;", "@!%p bra SKIP;",
        *_call_of("thrice", "%thread", ""), "SKIP:",
    ]  # fmt: skip


def _indirect(signature: str) -> Iterator[tuple[str, Lines]]:
    yield "divergent", [
        "<b64:one, other>", "mov.u64 %one, twice;", "mov.u64 %other, thrice;",
        "and.b32 %a, %thread, 1;", "setp.ne.u32 %p, %a, 0;", "selp.b64 %one, %one, %other, %p;",
        "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);",
        *_call_of("%one", "%thread", "", ", prototype"),
    ]  # fmt: skip


def _malloc(signature: str) -> Iterator[tuple[str, Lines]]:
    yield "", [
        "<b64:memory>", "{", ".param .b64 size;", ".param .b64 found;", "st.param.b64 [size], 16;",
        "call.uni (found), malloc, (size);", "ld.param.b64 %memory, [found];", "}",
        "add.u32 %a, %thread, 9;", "st.b32 [%memory+12], %a;", "ld.b32 %d, [%memory+12];", "{",
        ".param .b64 pointer;", "st.param.b64 [pointer], %memory;", "call.uni free, (pointer);", "}",  # noqa: E501
    ]  # fmt: skip


def _vprintf(signature: str) -> Iterator[tuple[str, Lines]]:
    yield "", [
        "<b64:format>", "mov.u64 %format, nothing;", "cvta.global.u64 %format, %format;", "{",
        ".param .b64 text;", ".param .b64 values;", ".param .b32 count;",
        "st.param.b64 [text], %format;", "st.param.b64 [values], 0;",
        "call.uni (count), vprintf, (text, values);", "ld.param.b32 %d, [count];", "}",
        "mov.b32 %d, 3;",
    ]  # fmt: skip


def _assert(signature: str) -> Iterator[tuple[str, Lines]]:
    yield "not reached", [
        "setp.lt.u32 %p, %thread, 1000;", "mov.b32 %d, 8;", "@%p bra FINE;", "{",
        *(f".param .b{32 if i == 2 else 64} p{i};" for i in range(5)),
        *(f"st.param.b{32 if i == 2 else 64} [p{i}], 0;" for i in range(5)),
        "call.uni __assertfail, (p0, p1, p2, p3, p4);", "}", "FINE:",
    ]  # fmt: skip


def _not_reached(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        yield "not reached", ["setp.gt.u32 %p, %thread, 1000;", "mov.b32 %d, 8;", f"@%p {key};"]

    return make


def _leave(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        yield "some", ["mov.b32 %d, 6;", "and.b32 %a, %thread, 2;", "setp.ne.u32 %p, %a, 0;",
                       f"@%p {key};", "add.u32 %d, %d, %thread;"]  # fmt: skip

    return make


def _bar(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    """Uses the words of the block: each thread reads one that another thread wrote."""

    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        start = [
            "<b32:mine, its>", "mov.u32 %mine, block_words;", "mad.lo.u32 %mine, %thread, 4, %mine;",  # noqa: E501
            "mov.u32 %its, block_words;", "sub.u32 %a, 63, %thread;", "mad.lo.u32 %its, %a, 4, %its;",  # noqa: E501
            "mul.lo.u32 %a, %thread, 17;", "bar.sync 0;", "st.shared.b32 [%mine], %a;",
        ]  # fmt: skip
        if ".sync" in key:
            for barrier in ("0", "5", "3, 64", "%b, %c"):
                some = ["mov.b32 %b, 7;", "mov.b32 %c, 64;"] if "%" in barrier else []
                yield barrier.replace("%", ""), [
                    *start, *some, f"{key} {barrier};", "ld.shared.b32 %d, [%its];",
                ]  # fmt: skip
        elif ".arrive" in key:
            wait = key.replace("arrive", "sync")
            yield "", [
                *start, "mov.b32 %d, 1;", "setp.lt.u32 %p, %thread, 32;", f"@%p {key} 4, 64;",
                f"@!%p {wait} 4, 64;", "@!%p ld.shared.b32 %d, [%its];",
            ]  # fmt: skip
        else:
            count = ", 64" if len(signature) == 4 else ""
            for what, limit in (("some", 10), ("all", 100), ("none", 0)):
                lines = [*start, f"setp.lt.u32 %p, %thread, {limit};"]
                if ".popc" in key:
                    yield what, [*lines, f"{key} %d, 2{count}, %p;"]
                    continue
                yield what, [*lines, f"{key} %q, 2{count}, %p;", "selp.b32 %d, 1, 0, %q;"]

    return make


def _cluster(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        arrive = key if ".arrive" in key else "barrier.cluster.arrive"
        wait = key if ".wait" in key else "barrier.cluster.wait"
        aligned = ".aligned" if ".aligned" in key else ""
        if not arrive.endswith(aligned):
            arrive += aligned
        if not wait.endswith(aligned):
            wait += aligned
        fence = ["fence.acq_rel.cluster;"] if ".relaxed" in key else []
        yield "", [
            "<b32:mine, rank, its>", "mov.u32 %mine, block_words;",
            "mad.lo.u32 %mine, %thread, 4, %mine;", "mov.u32 %rank, %cluster_ctarank;",
            "mad.lo.u32 %a, %rank, 1000, %thread;", "st.shared.b32 [%mine], %a;", *fence,
            f"{arrive};", f"{wait};", "xor.b32 %rank, %rank, 1;",
            "mapa.shared::cluster.u32 %its, %mine, %rank;", "ld.shared::cluster.b32 %d, [%its];",
            f"{arrive};", f"{wait};",
        ]  # fmt: skip

    return make


def _map(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        bits = 32 if key.endswith("u32") else 64
        window = "shared::cluster" in key
        space = ".shared::cluster" if window else ""
        load = f"ld{space}.b32"
        lines = [
            "<b32:rank, own>", f"<b{bits}:mine, its>", "mov.u32 %own, block_words;",
            "mad.lo.u32 %own, %thread, 4, %own;", "mov.u32 %rank, %cluster_ctarank;",
            "mad.lo.u32 %a, %rank, 1000, %thread;", "st.shared.b32 [%own], %a;",
            "barrier.cluster.arrive;", "barrier.cluster.wait;",
            f"cvt.u{bits}.u32 %mine, %own;",
        ]  # fmt: skip
        if not window:
            lines.append(f"cvta.shared.u{bits} %mine, %mine;")
        lines.append("xor.b32 %rank, %rank, 1;")
        other = key if key.startswith("mapa") else f"mapa{space}.u{bits}"
        lines.append(f"{other} %its, %mine, %rank;")
        if key.startswith("mapa"):
            lines.append(f"{load} %d, [%its];")
        else:
            lines += [f"{key} %d, %its;", f"{key} %a, %mine;", "mad.lo.u32 %d, %d, 10, %a;"]
        yield "", [*lines, "barrier.cluster.arrive;", "barrier.cluster.wait;"]

    return make


#: A variable in each space, and what to write into it first.
_VARIABLES = {
    "global": ("", "add.u64 %base, @4,0@;"),
    "shared": ("", "mov.u64 %base, block_words;"),
    "shared::cluster": ("", "mov.u64 %base, block_words;"),
    "local": (".local .align 4 .b32 variable;", "mov.u64 %base, variable;"),
    "const": ("", "mov.u64 %base, constant_word;"),
    "param": ("", "mov.u64 %base, input;"),
}


def _cvta(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        space = key.split(".")[2 if ".to." in key else 1]
        declare, address = _VARIABLES[space]
        narrow = key.endswith("32")
        bits = 32 if narrow else 64
        there = f"cvta.{space}.u{bits}"
        back = f"cvta.to.{space}.u{bits}"
        if space == "param":
            there = key if ".to." not in key else there
        lines = [declare, "<b64:base>", f"<b{bits}:generic, again, own>", address]
        if narrow:
            lines += ["cvt.u32.u64 %own, %base;"]
        else:
            lines.append("mov.b64 %own, %base;")
        lines += [f"{there} %generic, %own;", f"{back} %again, %generic;"]
        lines += [f"setp.eq.u{bits} %p, %again, %own;", "selp.b32 %d, 1, 0, %p;"]
        if space not in ("const", "param") and not narrow:
            lines += ["add.u32 %a, %thread, 3;", "setp.eq.u32 %q, %thread, 0;"]
            guard = "@%q " if space.startswith("shared") else ""
            lines += [f"{guard}st.b32 [%generic], %a;", "bar.sync 0;", "ld.b32 %a, [%generic];"]
            lines.append("mad.lo.u32 %d, %a, 2, %d;")
            lines.append("bar.sync 0;")
        if space == "const" and not narrow:
            lines += ["ld.b32 %a, [%generic];", "mad.lo.u32 %d, %a, 2, %d;"]
        yield "", lines

    return make


def _isspacep(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        narrow = signature.endswith("w")
        lines = ["<b64:base>", "<b32:low>", "mov.b32 %d, 0;", ".local .align 4 .b32 variable;"]
        for bit, (space, (_, address)) in enumerate(_VARIABLES.items()):
            lines.append(address)
            if space != "global":
                lines.append(f"cvta.{space}.u64 %base, %base;")
            source = "%base"
            if narrow:
                lines.append("cvt.u32.u64 %low, %base;")
                source = "%low"
            lines += [f"{key} %p, {source};", f"@%p or.b32 %d, %d, {1 << bit};"]
        yield "", lines

    return make


def _stack(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        bits = 32 if key.endswith("32") else 64
        align = ", 32" if "i" in signature else ""
        for variant, what in (("", ""), ("aligned", align)) if align else (("", ""),):
            yield variant, [
                f"<b{bits}:one, two, saved, at>", "<b32:n>", "<b64:size>", "mov.b32 %n, 0;",
                "mov.b32 %d, 0;", f"stacksave.u{bits} %saved;", "ROUND:",
                "and.b32 %a, %thread, 7;", "add.u32 %a, %a, 1;", "mul.lo.u32 %a, %a, 16;",
                f"cvt.u{bits}.u32 %at, %a;", f"alloca.u{bits} %one, %at{what};",
                f"alloca.u{bits} %two, 16{what};", "st.local.b32 [%one], %thread;",
                "st.local.b32 [%two], %n;", "ld.local.b32 %a, [%one];", "ld.local.b32 %b, [%two];",
                "mad.lo.u32 %d, %d, 3, %a;", "add.u32 %d, %d, %b;",
                f"stackrestore.u{bits} %saved;", "add.u32 %n, %n, 1;",
                "setp.lt.u32 %p, %n, 100;", "@%p bra ROUND;",
            ]  # fmt: skip

    return make


def _silent(text: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        lines = ["<b64:policy, base>", "add.u64 %base, @4,0@;", text]
        yield "", [*lines, "add.u32 %d, %thread, 1;"]

    return make


def _hint(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]]:
    """prefetch, discard, applypriority: for the thread's line of 128 bytes."""

    def make(signature: str) -> Iterator[tuple[str, Lines]]:
        local = ".local" in key
        bits = 32 if "n" in signature else 64
        lines = ["<b64:base>", f"<b{bits}:at>", "add.u32 %d, %thread, 1;"]
        if local:
            lines += [".local .align 128 .b8 variable[128];", f"mov.u{bits} %at, variable;"]
        else:
            # For a line after the results.
            lines += ["add.u64 %base, @=,512@;", "and.b64 %at, %base, -128;"]
        opcode = key
        if key.startswith("applypriority"):
            opcode = f"{key}.L2::evict_normal"
        size = ", 128" if "i" in signature else ""
        yield "", [*lines, f"{opcode} [%at]{size};"]

    return make


def _maker(key: str) -> Callable[[str], Iterator[tuple[str, Lines]]] | None:
    mnemonic = key.partition(".")[0]
    if key in _SILENT:
        return _silent(_SILENT[key])
    makers: dict[str, Callable[[str], Iterator[tuple[str, Lines]]]] = {
        "bra": _bra, "brx.idx": _brx, "call": _call, "call.indirect": _indirect,
        "call.malloc": _malloc, "call.free": _malloc, "call.vprintf": _vprintf,
        "call.__assertfail": _assert, "trap": _not_reached(key), "brkpt": _not_reached(key),
        "exit": _leave(key), "ret": _leave(key),
    }  # fmt: skip
    if key in makers:
        return makers[key]
    if key.startswith("barrier.cluster"):
        return _cluster(key)
    by_mnemonic = {
        "bar": _bar, "barrier": _bar, "mapa": _map, "getctarank": _map, "cvta": _cvta,
        "isspacep": _isspacep, "alloca": _stack, "stacksave": _stack, "stackrestore": _stack,
        "prefetch": _hint, "discard": _hint, "applypriority": _hint,
    }  # fmt: skip
    if mnemonic in ("fence", "membar") and ".proxy" in key:
        return _silent(f"{key};")
    found = by_mnemonic.get(mnemonic)
    return found(key) if found is not None else None


def knows(mnemonic: str, key: str) -> bool:
    return key != "bar.warp.sync" and _maker(key) is not None


def items_of(key: str, signature: str) -> Iterator[Item]:
    maker = _maker(key)
    if maker is None:
        return
    mnemonic = key.partition(".")[0]
    in_cluster = mnemonic in ("mapa", "getctarank") or key.startswith("barrier.cluster")
    module = ""
    if mnemonic == "call":
        module = _RUNTIME if "." in key and "indirect" not in key else _FUNCTIONS
    elif mnemonic in ("bar", "barrier", "mapa", "getctarank"):
        module = _SHARED
    elif mnemonic in ("cvta", "isspacep"):
        module = f"{_SHARED}\n{_CONST}"
    group = "calls" if mnemonic == "call" else "cluster" if in_cluster else "control"
    if mnemonic in ("bar", "barrier") and not in_cluster:
        group = "barriers"
    for variant, lines in maker(signature):
        name = " ".join(part for part in (key, signature, variant) if part)
        text = ["<b32:d, a, b, c>", "<pred:p, q>", *(line for line in lines if line)]
        keep = _KEEP
        outputs = _WORD
        if in_cluster:
            text += [
                "<b64:out>", "add.u64 %out, @4,0@;", "<b32:block>", "mov.u32 %block, %ctaid.x;",
                f"mad.wide.u32 %out, %block, {4 * LANES}, %out;",
            ]  # fmt: skip
            keep = "st.global.b32 [%out], %d;"
            outputs = [Output(0, 4, 4 * LANES)]
        elif mnemonic in ("discard", "prefetch", "applypriority"):
            outputs = [Output(0, 4, LANES), Output(384, 4, 128, "skip")]
        yield Item(
            name, [(key, signature)], "\n".join([*text, keep]), outputs, LANES, module, group,
            grid=4 if in_cluster else 1, cluster=2 if in_cluster else 0,
            alone=key in ("exit", "ret"),
        )  # fmt: skip
