# SPDX-License-Identifier: Apache-2.0
"""CUB's block and warp primitives, with each algorithm, for several types."""

import struct
from collections.abc import Iterator
from itertools import accumulate

from .program_runs import Module, Run, module

#: C++ type: the kind of its values, whose sums are exact, and its struct format.
_TYPES = {
    "int": ("s32", "i"), "u8": ("u8", "B"), "u64": ("u64", "Q"), "float": ("eighths.f32", "f"),
    "double": ("eighths.f64", "d"), "__half": ("eighths.f16", "e"), "Pair": ("pair", "if"),
}  # fmt: skip
_BITS = {"int": 32, "u8": 8, "u64": 64}

Value = tuple[float, ...]


def _unpack(kind: str, data: bytes) -> list[Value]:
    return list(struct.iter_unpack("<" + _TYPES[kind][1], data))


def _pack(kind: str, numbers: list[Value]) -> bytes:
    return b"".join(struct.pack("<" + _TYPES[kind][1], *number) for number in numbers)


def _add(kind: str, a: Value, b: Value) -> Value:
    if kind == "Pair":
        return (a[0] + b[0], a[1] + b[1])
    total = a[0] + b[0]
    if kind in _BITS:
        bits = _BITS[kind]
        total = int(total) % 2**bits
        if kind == "int" and total >= 2**31:
            total -= 2**32
    return (total,)


def _sum(kind: str, numbers: list[Value]) -> Value:
    return list(accumulate(numbers, lambda a, b: _add(kind, a, b)))[-1]


def _plain(kind: str) -> str:
    return _TYPES[kind][0].rpartition(".")[2]


def _reduce() -> Iterator[Run]:
    algorithms = ("RAKING", "RAKING_COMMUTATIVE_ONLY", "WARP_REDUCTIONS")
    shapes: dict[str, list[tuple[int, ...]]] = {
        "int": [(128,), (96, 2, 1), (61,)], "float": [(128,), (8, 4, 5)], "Pair": [(128,)],
        "u8": [(256,)], "u64": [(64,)], "double": [(128,)], "__half": [(128,)],
    }  # fmt: skip
    for kind, blocks in shapes.items():
        for block in blocks:
            count = 1
            for extent in block:
                count *= extent

            def reference(inputs: list[bytes], kind: str = kind, threads: int = count) -> list:
                items = _unpack(kind, inputs[0])
                first = items[::4]
                some = _sum(kind, first[: threads - 37])
                few = max(items[1::4][:3])
                return [_pack(kind, [_sum(kind, items), max(first), some, few])]

            for algorithm in algorithms:
                shape = ", ".join(map(str, block))
                yield Run(
                    f"reduce<{kind}, cub::BLOCK_REDUCE_{algorithm}, {shape}>",
                    (f"{_TYPES[kind][0]}*{count * 4}",), (f"{_plain(kind)}*4",), block,
                    reference=reference,
                )  # fmt: skip


def _scan() -> Iterator[Run]:
    def reference(kind: str, threads: int, inputs: list[bytes]) -> list[bytes | None]:
        items = _unpack(kind, inputs[0])
        sums = list(accumulate(items, lambda a, b: _add(kind, a, b)))
        most = list(accumulate(items, max))
        zero = tuple(0 for _ in items[0])
        # The first result of an exclusive scan is its initial value, which is each thread's own
        # first item.
        exclusive = [items[0], *most[:-1]]
        out = [zero, *sums[:-1], *sums, *most, *exclusive]
        total = sums[-1]
        for part in range(2):
            for item in items[part::4]:
                out.append(total)
                total = _add(kind, total, item)
        return [_pack(kind, out)]

    for kind, threads in (
        ("int", 128), ("float", 128), ("double", 64), ("u8", 96), ("u64", 128), ("__half", 64),
        ("Pair", 128),
    ):  # fmt: skip
        for algorithm in ("RAKING", "RAKING_MEMOIZE", "WARP_SCANS"):
            yield Run(
                f"scan<{kind}, cub::BLOCK_SCAN_{algorithm}, {threads}>",
                (f"{_TYPES[kind][0]}*{threads * 4}",),
                (f"{_plain(kind)}*{threads * 18}",), threads,
                reference=lambda inputs, kind=kind, threads=threads: (
                    reference(kind, threads, inputs)
                ),
            )  # fmt: skip


def _sorted(kind: str, data: bytes, *, down: bool = False) -> bytes:
    return _pack(kind, sorted(_unpack(kind, data), reverse=down))


def _sort() -> Iterator[Run]:
    for kind, threads, each in (
        ("int", 128, 4), ("u8", 64, 7), ("u64", 128, 3), ("float", 256, 2), ("double", 32, 5),
        ("__half", 128, 4),
    ):  # fmt: skip
        count = threads * each
        source = _TYPES[kind][0]
        # To Python, zeros of both signs are equal, but not to a radix sort.
        yield Run(
            f"radix_sort<{kind}, {threads}, {each}>", (f"{source}*{count}",),
            (f"{_plain(kind)}*{2 * count}",), threads,
            reference=lambda i, kind=kind: [
                _sorted(kind, i[0]) + _sorted(kind, i[0], down=True)
            ],
        )  # fmt: skip
        yield Run(
            f"radix_sort_pairs<{kind}, {threads}, {each}>", (f"{source}*{count}",),
            (f"{_plain(kind)}*{count}", f"u32*{count}"), threads,
            reference=lambda i, kind=kind: [_sorted(kind, i[0]), None],
        )  # fmt: skip
    for kind, source in (("float", "f32"), ("double", "f64"), ("__half", "f16")):
        # With NaNs, infinities and subnormals.
        yield Run(f"radix_sort<{kind}, 64, 4>", (f"{source}*256",), (f"{source}*512",), 64)
    for begin, end in ((0, 8), (5, 23), (31, 32)):
        mask = (1 << end) - (1 << begin)
        yield Run(
            f"radix_sort_bits<{begin}, {end}>", ("u32*192",), ("u32*192",), 64,
            reference=lambda i, mask=mask: [
                struct.pack(
                    "<192I",
                    *sorted(struct.unpack("<192I", i[0]), key=lambda value: value & mask),
                )
            ],
        )  # fmt: skip
    yield Run(
        "radix_sort_struct", ("pair*256",), ("pair*256",),
        reference=lambda i: [_sorted("Pair", i[0])],
    )  # fmt: skip
    for kind, threads, each in (("int", 128, 4), ("Pair", 64, 3), ("__half", 256, 1),
                                ("double", 128, 2), ("u8", 64, 8)):  # fmt: skip
        count = threads * each
        source = _TYPES[kind][0]
        yield Run(
            f"merge_sort<{kind}, {threads}, {each}>", (f"{source}*{count}",),
            (f"{_plain(kind)}*{2 * count}", f"u32*{count}"), threads,
            reference=lambda i, kind=kind, count=count: [_merged(kind, i[0], count), None],
        )  # fmt: skip


def _merged(kind: str, data: bytes, count: int) -> bytes:
    part = count - 19
    items = _unpack(kind, data)
    partly = [*sorted(items[:part]), *([(0,) * len(items[0])] * 19)]
    return _pack(kind, [*sorted(items), *partly])


def _load_store() -> Iterator[Run]:
    pairs = [
        ("DIRECT", "DIRECT"), ("STRIPED", "STRIPED"), ("VECTORIZE", "VECTORIZE"),
        ("TRANSPOSE", "TRANSPOSE"), ("WARP_TRANSPOSE", "WARP_TRANSPOSE"),
        ("WARP_TRANSPOSE_TIMESLICED", "WARP_TRANSPOSE_TIMESLICED"), ("VECTORIZE", "TRANSPOSE"),
    ]  # fmt: skip
    for kind, threads, each in (
        ("int", 128, 4), ("u8", 64, 8), ("u64", 64, 2), ("float", 96, 5), ("double", 32, 4),
        ("__half", 128, 2), ("Pair", 64, 3),
    ):  # fmt: skip
        for loading, storing in pairs:
            count = threads * each
            yield Run(
                f"load_store<{kind}, cub::BLOCK_LOAD_{loading}, cub::BLOCK_STORE_{storing},"
                f" {threads}, {each}>",
                (f"{_TYPES[kind][0]}*{2 * count}",), (f"{_plain(kind)}*{2 * count}",), threads,
            )  # fmt: skip


def _exchange() -> Iterator[Run]:
    for kind, threads, each in (
        ("int", 128, 4), ("u8", 64, 3), ("u64", 64, 2), ("double", 96, 5), ("Pair", 64, 4),
        ("__half", 32, 8),
    ):  # fmt: skip
        for sliced in ("false", "true"):
            count = threads * each
            yield Run(
                f"exchange<{kind}, {threads}, {each}, {sliced}>", (f"{_TYPES[kind][0]}*{count}",),
                (f"{_plain(kind)}*{7 * count}",), threads,
            )  # fmt: skip
        yield Run(
            f"shuffle<{kind}, {threads}>", (f"{_TYPES[kind][0]}*{threads + 2}",),
            (f"{_plain(kind)}*{8 * threads}",), threads,
        )  # fmt: skip


def _counts(items: bytes) -> list[bytes | None]:
    counts = [0] * 256
    for item in items:
        counts[item] += 1
        counts[item // 3] += 1
    return [struct.pack("<256I", *counts)]


def _rank() -> Iterator[Run]:
    for algorithm in ("ATOMIC", "SORT"):
        yield Run(
            f"histogram<cub::BLOCK_HISTO_{algorithm}, 128, 5>", ("random.u8*640",), ("u32*256",),
            reference=lambda i: _counts(i[0]),
        )  # fmt: skip
    for kind, threads, each in (("int", 128, 4), ("Pair", 64, 3), ("u8", 96, 1), ("double", 64, 2)):
        yield Run(
            f"discontinuity<{kind}, {threads}, {each}>", (f"{_TYPES[kind][0]}*16",),
            (f"u8*{3 * threads * each}",), threads,
        )  # fmt: skip
    for kind in ("int", "u8", "u64", "float", "double", "__half"):
        yield Run(
            f"difference<{kind}, 64, 4>", (f"{_TYPES[kind][0]}*256",), (f"{_plain(kind)}*768",), 64
        )
    for down in ("false", "true"):
        yield Run(f"radix_rank<128, 4, 5, {down}>", ("u32*512",), ("u32*512",))
        yield Run(f"radix_rank_match<128, 4, 5, {down}>", ("u32*512",), ("u32*512",))
    for kind in ("int", "u8", "double"):
        yield Run(
            f"run_length_decode<{kind}, 64>", (f"{_TYPES[kind][0]}*128",),
            (f"{_plain(kind)}*896", "u32*896"), 64,
        )  # fmt: skip


def _warp() -> Iterator[Run]:
    for kind, width in (
        ("int", 32), ("int", 8), ("float", 32), ("double", 16), ("u64", 4),
        ("u8", 32), ("__half", 32), ("Pair", 32), ("Pair", 2),
    ):  # fmt: skip
        source, plain = _TYPES[kind][0], _plain(kind)
        yield Run(f"reduce<{kind}, {width}>", (f"{source}*128",), (f"{plain}*656",))
        yield Run(f"scan<{kind}, {width}>", (f"{source}*128",), (f"{plain}*768",))
    for kind, width, each in (("int", 32, 4), ("double", 16, 2), ("Pair", 8, 4), ("u8", 32, 2)):
        source, plain = _TYPES[kind][0], _plain(kind)
        for algorithm in ("SMEM", "SHUFFLE"):
            if algorithm == "SMEM" or width == each:
                yield Run(
                    f"exchange<{kind}, {width}, {each}, cub::WARP_EXCHANGE_{algorithm}>",
                    (f"{source}*{128 * each}",), (f"{plain}*{256 * each}",),
                )  # fmt: skip
        yield Run(
            f"merge_sort<{kind}, {width}, {each}>", (f"{source}*{128 * each}",),
            (f"{plain}*{128 * each}",),
            reference=lambda i, kind=kind, tile=width * each: [_tiles(kind, i[0], tile)],
        )  # fmt: skip
        for way in ("DIRECT", "STRIPED", "VECTORIZE", "TRANSPOSE"):
            yield Run(
                f"load_store<{kind}, {width}, {each}, cub::WARP_LOAD_{way},"
                f" cub::WARP_STORE_{way}>",
                (f"{source}*{128 * each}",), (f"{plain}*{256 * each}",),
            )  # fmt: skip
    yield Run("exchange<int, 4, 4, cub::WARP_EXCHANGE_SHUFFLE>", ("s32*512",), ("s32*1024",))


def _tiles(kind: str, data: bytes, tile: int) -> bytes:
    items = _unpack(kind, data)
    starts = range(0, len(items), tile)
    return _pack(kind, [item for at in starts for item in sorted(items[at : at + tile])])


def modules() -> Iterator[Module]:
    yield module("cub_block_reduce", list(_reduce()), subject="CUB BlockReduce")
    yield module("cub_block_scan", list(_scan()), subject="CUB BlockScan")
    yield module("cub_block_sort", list(_sort()), subject="CUB BlockRadixSort, BlockMergeSort")
    yield module("cub_block_io", list(_load_store()), subject="CUB BlockLoad, BlockStore")
    yield module("cub_block_exchange", list(_exchange()), subject="CUB BlockExchange, BlockShuffle")
    yield module(
        "cub_block_rank", list(_rank()),
        subject="CUB BlockHistogram, BlockDiscontinuity, BlockAdjacentDifference, BlockRadixRank, "
        "BlockRunLengthDecode",
    )  # fmt: skip
    yield module(
        "cub_warp", list(_warp()),
        subject="CUB WarpReduce, WarpScan, WarpExchange, WarpMergeSort, WarpLoad, WarpStore",
    )  # fmt: skip
    yield module(
        "cub_block_sort_sm_75", list(_sort()), file="cub_block_sort", arch="sm_75",
        subject="CUB BlockRadixSort, BlockMergeSort, for sm_75",
    )  # fmt: skip
    yield module(
        "cub_warp_sm_75", list(_warp()), file="cub_warp", arch="sm_75",
        subject="CUB warp primitives, for sm_75",
    )  # fmt: skip
