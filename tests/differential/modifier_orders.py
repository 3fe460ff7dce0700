# SPDX-License-Identifier: Apache-2.0
"""The orders in which an assembler accepts the modifiers of each instruction.

    python -m differential.modifier_orders

run from tests/, tries them with ptxas, which must be on the path, and stores the results. The tests
try the same with the simulated device.
"""

import itertools
import lzma
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .corpus import make
from .forms import forms
from .items import Item, text_of

FILE = Path(__file__).parent / "golden" / "modifier_orders.xz"

#: Interchangeable words: one instruction for each combination is tried.
_CLASSES = (
    "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
    "add min max inc dec exch cas and or xor",
    "cta cluster gpu sys",
    "relaxed acquire release acq_rel",
    "global shared shared::cta shared::cluster local const",
    "v2 v4 v8",
    "rn rz rm rp rni rzi rmi rpi rna",
    "x1 x2 x4",
    "row col",
)
_CLASS_OF = {word: words for words in _CLASSES for word in words.split()}
_TYPE = re.compile(r"(pred|(b|u|s|f|bf|tf|e|ue)\d(.*\d)?)$")
#: For these, the words distinguish instructions.
_NAMED = ("mul", "mad", "madc", "mul24", "mad24", "dp2a", "clmad", "cp")
_MOST_ORDERS = 30
_ALL_ORDERS_UP_TO = 4
_BATCH = 60

#: Modifiers that make no difference to the simulated device, and which its forms don't have.
_HINTED = (
    Item(
        "ld hinted",
        [("ld.global.v4.f32", "4wm")],
        "<f32:a, b, c, d>\nld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%a, %b, %c, %d}, [%in];",
        [],
    ),
    Item(
        "ld policy",
        [("ld.global.b32", "wm")],
        "<b64:p>\n<b32:a>\nmov.b64 %p, 0;\n"
        "ld.global.L1::evict_last.L2::cache_hint.b32 %a, [%in], %p;",
        [],
    ),
    Item("st cached", [("st.global.b32", "mw")], "st.weak.global.wb.b32 [%out], %thread;", []),
)


@dataclass(frozen=True, eq=False)
class Spelling:
    """An instruction of an item, and another order of its modifiers."""

    item: Item
    opcode: str
    written: str


def _class_of(word: str, mnemonic: str) -> str:
    if _TYPE.match(word):
        return "type"
    if re.match(r"m\d+n\d+", word):
        return "shape"
    return word if mnemonic in _NAMED else _CLASS_OF.get(word, word)


def _shape(opcode: str) -> tuple[str, tuple[tuple[str, int], ...]]:
    mnemonic, *words = opcode.split(".")
    return mnemonic, tuple(sorted(Counter(_class_of(word, mnemonic) for word in words).items()))


def _opcodes(item: Item) -> Iterator[str]:
    mnemonic = item.forms[0][0].partition(".")[0]
    for line in item.text.splitlines():
        opcode = re.sub(r"^@!?%\w+ ", "", line.strip()).split(" ", 1)[0].rstrip(";")
        if opcode.startswith(mnemonic + ".") and "~" not in opcode:
            yield opcode


def _orders(opcode: str) -> Iterable[str]:
    mnemonic, *words = opcode.split(".")
    count = len(words)
    indices: list[tuple[int, ...]]
    if count <= _ALL_ORDERS_UP_TO:
        indices = list(itertools.permutations(range(count)))
    else:  # Each word moved to each place.
        moved: dict[tuple[int, ...], None] = {}
        for taken, put in itertools.permutations(range(count), 2):
            order = [i for i in range(count) if i != taken]
            order.insert(put, taken)
            moved[tuple(order)] = None
        indices = list(moved)
        if len(indices) > _MOST_ORDERS:
            indices = random.Random(opcode).sample(indices, _MOST_ORDERS)
    types = [word for word in words if _TYPE.match(word)]
    for order in indices:
        now = [words[i] for i in order]
        # With its types in another order, it would be a different instruction.
        if now != words and [word for word in now if _TYPE.match(word)] == types:
            yield ".".join([mnemonic, *now])


def spellings(items: Iterable[Item]) -> list[Spelling]:
    """Return the spellings to try, for one instruction of each shape."""
    seen: set[object] = set()
    found: dict[tuple[str, str], Spelling] = {}
    for item in items:
        for opcode in _opcodes(item):
            shape = _shape(opcode)
            if shape in seen:
                continue
            seen.add(shape)
            for written in (opcode, *_orders(opcode)):
                found.setdefault((opcode, written), Spelling(item, opcode, written))
    return list(found.values())


def all_items() -> list[Item]:
    return [*_HINTED, *make(forms()).items]


def module_of(batch: Sequence[Spelling]) -> tuple[str, list[int]]:
    """Return a module with a kernel `run<i>` for each spelling, and the line where each begins."""
    first = batch[0].item
    extra = f", .param .align 32 .b8 extra[{len(first.extra)}]" if first.extra else ""
    lines = [".version 8.8", f".target {first.target}", ".address_size 64"]
    lines += first.module.splitlines()
    begins = []
    for i, spelling in enumerate(batch):
        begins.append(len(lines) + 1)
        body = text_of(spelling.item, 0, "typed")
        pattern = re.escape(spelling.opcode) + r"(?=[ ;])"
        written = spelling.written
        body = re.sub(pattern, lambda _, written=written: written, body, count=1)
        lines += [
            f".visible .entry run{i}(.param .u64 input, .param .u64 output{extra}) {{",
            ".reg .b64 %in, %out, %lane;",
            ".reg .b32 %thread;",
            *(f".reg .b64 %i{width}, %o{width};" for width in (1, 2, 4, 8, 16, 32)),
            "{",
            *body.splitlines(),
            "}",
            "ret;",
            "}",
        ]
    return "\n".join([*lines, ""]), begins


def batches(all_of: Iterable[Spelling], size: int = _BATCH) -> Iterator[list[Spelling]]:
    """Yield groups of spellings that may share a module."""
    groups: dict[tuple[str, str, int], list[Spelling]] = {}
    for spelling in all_of:
        item = spelling.item
        groups.setdefault((item.target, item.module, len(item.extra)), []).append(spelling)
    for group in groups.values():
        for at in range(0, len(group), size):
            yield group[at : at + size]


def load() -> dict[tuple[str, str], tuple[str, bool]]:
    """Return what was recorded: by opcode and spelling, the item and whether ptxas accepts it."""
    recorded: dict[tuple[str, str], tuple[str, bool]] = {}
    for line in lzma.decompress(FILE.read_bytes()).decode().splitlines():
        name, opcode, written, taken = line.split("\t")
        recorded[opcode, written] = (name, taken == "1")
    return recorded


def _refused(ptxas: str, batch: list[Spelling], folder: str) -> set[int]:
    """Return which of a batch ptxas rejects; all of them if it rejects the batch and names none."""
    text, begins = module_of(batch)
    path = Path(folder) / "module.ptx"
    path.write_text(text)
    command = [ptxas, f"-arch={batch[0].item.target}", "-O0", "-o", "/dev/null", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return set()
    lines = [int(line) for line in re.findall(r"line (\d+); (?:error|fatal)", run.stderr)]
    refused = {max(i for i, begin in enumerate(begins) if begin <= line) for line in lines}
    return refused or set(range(len(batch)))


def _ask(ptxas: str, batch: list[Spelling], folder: str) -> Iterator[tuple[Spelling, bool]]:
    refused = _refused(ptxas, batch, folder)
    if len(refused) == len(batch) > 1:
        for spelling in batch:
            yield from _ask(ptxas, [spelling], folder)
        return
    for i in refused:
        yield batch[i], False
    rest = [spelling for i, spelling in enumerate(batch) if i not in refused]
    if refused and rest:  # A later stage may reject what an earlier one accepted.
        yield from _ask(ptxas, rest, folder)
    else:
        for spelling in rest:
            yield spelling, True


def main() -> int:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        print("ptxas is not on the path")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        answers = dict(
            answer
            for batch in batches(spellings(all_items()))
            for answer in _ask(ptxas, batch, folder)
        )
    # If ptxas doesn't know an instruction in the manual's order, it says nothing about other
    # orders.
    known = {s.opcode for s, taken in answers.items() if taken and s.written == s.opcode}
    lines = [
        "\t".join((s.item.name, s.opcode, s.written, str(int(taken))))
        for s, taken in sorted(answers.items(), key=lambda each: (each[0].opcode, each[0].written))
        if s.opcode in known
    ]
    FILE.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    taken = sum(line.endswith("1") for line in lines)
    print(f"{len(lines)} spellings of {len(known)} instructions, {taken} taken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
