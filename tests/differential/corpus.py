# SPDX-License-Identifier: Apache-2.0
"""All kernels of the corpus, made from the simulator's forms and from the programs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

from . import arithmetic, asynchronous, control, exchange, matrix, memory, registers
from .excluded import NEWER, why_excluded
from .forms import Form
from .items import Item, Kernel, kernels_of

#: Each family knows some mnemonics, and makes items for their forms.
_FAMILIES: tuple[ModuleType, ...] = (
    arithmetic, memory, exchange, registers, control, asynchronous, matrix,
)  # fmt: skip


#: The groups that results are stored by.
GROUPS = (
    "approximate", "async", "atom", "barriers", "calls", "cluster", "control", "cvt", "exchange",
    "float", "half", "integer", "load", "mbarrier", "mma", "mov", "param", "red", "registers",
    "select", "set", "setp", "store", "tiles", "video", "wmma",
)  # fmt: skip


@dataclass
class Corpus:
    items: list[Item] = field(default_factory=list)
    #: Forms that no GPU here can run, and why.
    excluded: dict[Form, str] = field(default_factory=dict)
    #: Forms that nothing covers: there must be none.
    unknown: list[Form] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.families: dict[str, list[Item]] = {}

    def add(self, item: Item) -> None:
        self.items.append(item)
        self.families.setdefault(item.group, []).append(item)

    def kernels(self, family: str) -> list[Kernel]:
        return kernels_of(self.families[family])


def newer_kernels(corpus: Corpus) -> list[Kernel]:
    """Return kernels for forms that only newer GPUs run; they read and write like the others."""
    items: list[Item] = []
    for (key, signature), reason in corpus.excluded.items():
        mnemonic = key.partition(".")[0]
        for family in (arithmetic, exchange):
            if reason == NEWER and family.knows(mnemonic, key):
                items += family.items_of(key, signature)
    return kernels_of(items)


def make(forms: Sequence[Form]) -> Corpus:
    corpus = Corpus()
    for key, signature in forms:
        reason = why_excluded(key, signature)
        if reason:
            corpus.excluded[key, signature] = reason
            continue
        mnemonic = key.partition(".")[0]
        family = next((f for f in _FAMILIES if f.knows(mnemonic, key)), None)
        made = list(family.items_of(key, signature)) if family is not None else []
        if not made:
            corpus.unknown.append((key, signature))
        for item in made:
            corpus.add(item)
    return corpus
