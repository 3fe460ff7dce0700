# SPDX-License-Identifier: Apache-2.0
"""Items for what the lanes of a warp do together."""

from collections.abc import Iterator

from .items import Item, Output

LANES = 64
_KNOWN = ("shfl", "vote", "match", "redux", "elect", "activemask")


def knows(mnemonic: str, key: str) -> bool:
    return mnemonic in _KNOWN or key == "bar.warp.sync"


#: The whole warp; and only the odd lanes, while the even ones are elsewhere.
_GROUPS = {"all": ("", "0xffffffff"), "odd": ("@%odd ", "0xaaaaaaaa")}
_ODD = ["<pred:odd>", "<b32:bit>", "and.b32 %bit, %thread, 1;", "setp.ne.b32 %odd, %bit, 0;"]


def items_of(key: str, signature: str) -> Iterator[Item]:
    mnemonic = key.partition(".")[0]
    for group, (guard, mask) in _GROUPS.items():
        makers = {
            "shfl": _shuffle, "vote": _vote, "match": _match, "redux": _redux, "elect": _elect,
        }  # fmt: skip
        maker = makers.get(mnemonic)
        bodies = {"": _simple(key, guard, mask)} if maker is None else maker(key, guard, mask)
        for variant, (lines, outputs) in bodies.items():
            name = " ".join(part for part in (key, signature, group, variant) if part)
            yield Item(
                name, [(key, signature)], "\n".join([*_ODD, *lines]), outputs, LANES,
                group="exchange",
            )  # fmt: skip


Bodies = dict[str, tuple[list[str], list[Output]]]


def _keep_word(name: str, at: int = 0) -> tuple[str, Output]:
    return f"st.global.b32 [@4+{at}@], %{name};", Output(at, 4, LANES)


def _keep_bit(name: str, at: int) -> tuple[list[str], Output]:
    lines = ["<b16:keep>", f"selp.b16 %keep, 1, 0, %{name};", f"st.global.b8 [@1+{at}@], %keep;"]
    return lines, Output(at, 1, LANES)


def _shuffle(key: str, guard: str, mask: str) -> Bodies:
    up = ".up." in key
    ends = (0, 0x1800, 0x1C00) if up else (0x1F, 0x181F, 0x1C1F, 0x0F)
    bodies: Bodies = {}
    for end in ends:
        for lane in ("3", "%b"):
            lines = ["<b32:d, a, b>", "<pred:p>", "mov.b32 %d, 77;", "setp.ne.b32 %p, %d, %d;"]
            lines += ["ld.global.b32 %a, [#b32:0#];", "ld.global.b32 %b, [#lane:1#];"]
            source = lane
            if guard:
                # Only from odd lanes: other lanes' values are undefined.
                lines.append("or.b32 %b, %b, 1;" if ".idx" in key else "and.b32 %b, %b, 30;")
                source = lane if lane == "%b" else "3" if ".idx" in key else "2"
            store, output = _keep_word("d")
            lines += [f"{guard}{key} %d|%p, %a, {source}, {end:#x}, {mask};", store]
            bit, other = _keep_bit("p", 4 * LANES)
            bodies[f"{end:#x} {lane.strip('%')}"] = ([*lines, *bit], [output, other])
    return bodies


def _vote(key: str, guard: str, mask: str) -> Bodies:
    opcode = key.replace("sync.pred", "sync.uni.pred")
    bodies: Bodies = {}
    for what, test in {
        "some": "setp.gt.u32 %q, %a, 1;", "all": "setp.lt.u32 %q, %a, 99;",
        "none": "setp.gt.u32 %q, %a, 99;",
    }.items():  # fmt: skip
        lines = ["<b32:a, d>", "<pred:p, q>", "ld.global.b32 %a, [#lane:0#];", test]
        lines += ["mov.b32 %d, 7;", "setp.ne.b32 %p, %d, %d;"]
        if "ballot" in key:
            store, output = _keep_word("d")
            lines += [f"{guard}{opcode} %d, %q, {mask};", store]
        else:
            kept, output = _keep_bit("p", 0)
            lines += [f"{guard}{opcode} %p, %q, {mask};", *kept]
        bodies[what] = (lines, [output])
    return bodies


def _match(key: str, guard: str, mask: str) -> Bodies:
    wide = key.endswith("64")
    pair = "|%p" if ".all." in key else ""
    bodies: Bodies = {}
    for what, keep in (("few", 3), ("one", 0), ("many", 31)):
        lines = ["<b32:a, d>", "<b64:w>", "<pred:p>", "ld.global.b32 %a, [#b32:0#];"]
        lines += [f"and.b32 %a, %a, {keep};", "mov.b32 %d, 7;", "setp.ne.b32 %p, %d, %d;"]
        lines += ["mov.b64 %w, {%a, %a};"]
        lines.append(f"{guard}{key} %d{pair}, {'%w' if wide else '%a'}, {mask};")
        store, output = _keep_word("d")
        kept, other = _keep_bit("p", 4 * LANES)
        bodies[what] = ([*lines, store, *kept], [output, other])
    return bodies


def _redux(key: str, guard: str, mask: str) -> Bodies:
    kind = key.rpartition(".")[2]
    register = "f32" if kind == "f32" else "b32"
    lines = [
        f"<{register}:a, d>",
        f"ld.global{'~' if kind == 'f32' else '.'}{register} %a, [#{kind}:0#];",
    ]
    lines += [
        f"mov{'~' if kind == 'f32' else '.'}{register} %d, %a;",
        f"{guard}{key} %d, %a, {mask};",
    ]
    lines.append(f"st.global{'~' if kind == 'f32' else '.'}{register} [@4+0@], %d;")
    return {"": (lines, [Output(0, 4, LANES, "nan.f32" if kind == "f32" else "bits")])}


def _elect(key: str, guard: str, mask: str) -> Bodies:
    lines = ["<b32:d, n>", "<pred:p, q>", "mov.b32 %d, 99;", "setp.ne.b32 %p, %d, %d;"]
    lines += [f"{guard}{key} %d|%p, {mask};", "vote.sync.ballot.b32 %n, %p, 0xffffffff;"]
    lines += [
        "popc.b32 %n, %n;",
        "st.global.b32 [@4+0@], %n;",
        f"st.global.b32 [@4+{4 * LANES}@], %d;",
    ]
    # The number of elected lanes is guaranteed; which lane it is, is not.
    return {"": (lines, [Output(0, 4, LANES), Output(4 * LANES, 4, LANES, "skip")])}


def _simple(key: str, guard: str, mask: str) -> tuple[list[str], list[Output]]:
    store, output = _keep_word("d")
    if key == "bar.warp.sync":
        return ["<b32:d>", f"{guard}{key} {mask};", "mov.u32 %d, %laneid;", store], [output]
    lines = ["<b32:d>", "mov.b32 %d, 5;"]
    if guard:
        lines += ["@!%odd bra SKIP;", f"{key} %d;", "SKIP:"]
    else:
        lines.append(f"{key} %d;")
    return [*lines, store], [output]
