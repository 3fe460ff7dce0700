# SPDX-License-Identifier: Apache-2.0
"""Items for special registers, in a launch of two clusters of two blocks."""

from collections.abc import Iterator

from .items import Item, Output

LANES = 40
BLOCKS = 4

#: Those whose value depends only on the launch.
_SAME = (
    "tid", "ntid", "ctaid", "nctaid", "laneid", "lanemask_", "clusterid", "nclusterid",
    "cluster_", "is_explicit_cluster", "warpid", "dynamic_smem_size",
)  # fmt: skip


def knows(mnemonic: str, key: str) -> bool:
    return mnemonic == "special"


def items_of(key: str, signature: str) -> Iterator[Item]:
    name = key.removeprefix("special.%")
    mode = "bits" if name.startswith(_SAME) else "skip"
    width = 8 if signature == "x" else 4
    bits = 8 * width
    lines = [f"<b{bits}:v>", "<b32:block>", "<b64:at>"]
    if signature == "p":
        lines += ["<pred:p>", f"mov.pred %p, %{name};", "selp.b32 %v, 1, 0, %p;"]
    else:
        lines.append(f"mov.{'u' if bits == 32 else 'b'}{bits} %v, %{name};")
    lines += [
        "mov.u32 %block, %ctaid.x;",
        f"add.u64 %at, @{width},0@;",
        f"mad.wide.u32 %at, %block, {LANES * width}, %at;",
        f"st.global.b{bits} [%at], %v;",
    ]
    outputs = [Output(0, width, LANES * BLOCKS, mode)]
    yield Item(
        f"{key} {signature}", [(key, signature)], "\n".join(lines), outputs, LANES,
        group="registers", grid=BLOCKS, cluster=2,
    )  # fmt: skip
