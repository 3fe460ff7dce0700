# SPDX-License-Identifier: Apache-2.0
"""cuda::std, cuda::ptx, cooperative groups and wmma."""

import struct
from collections.abc import Iterator
from itertools import accumulate

from .program_runs import Module, Run, module

#: Scopes of cuda::atomic_ref; the threads of a block do the same in each.
_SCOPES = ("thread_scope_block", "thread_scope_device", "thread_scope_system")
_ATOMS = (("int", "s32"), ("unsigned", "u32"), ("long long", "s64"), ("u64", "u64"),
          ("short", "s16"), ("unsigned char", "u8"))  # fmt: skip


def _ints(data: bytes) -> list[int]:
    return [value for (value,) in struct.iter_unpack("<i", data)]


def _int_bytes(*numbers: int) -> bytes:
    return b"".join((number % 2**32).to_bytes(4, "little") for number in numbers)


def _atomic() -> Iterator[Run]:
    for kind, code in _ATOMS:
        for scope in _SCOPES:
            yield Run(
                f"fetch<{kind}, cuda::{scope}>", (f"{code}*256",), (f"{code}*16",),
                grid=1 if scope == "thread_scope_block" else 2,
            )  # fmt: skip
        yield Run(f"orders<{kind}>", (f"{code}*16",), (f"{code}*16",), 32)
    for kind, code in (("float", "f32"), ("double", "f64")):
        yield Run(
            f"add_floats<{kind}>", (f"eighths.{code}*128",), (f"{code}*4",),
            reference=None,
        )  # fmt: skip
    yield Run(
        "structs", ("u32*128",), ("u32*4",),
        reference=lambda i: [_int_bytes(sum(_ints(i[0])), 128, 0, 0)],
    )  # fmt: skip
    yield Run(
        "flags", ("u32*128",), ("u32*8",),
        reference=lambda i: [_int_bytes(sum(_ints(i[0])), 0, 10, 20, 30, 0, 0, 0)],
    )  # fmt: skip


def _reversed(data: bytes) -> bytes:
    return _int_bytes(*reversed(_ints(data)))


def _sync() -> Iterator[Run]:
    one = ("s32*128",)
    yield Run(
        "barrier_phases", one, one,
        reference=lambda i: [_int_bytes(*accumulate(_ints(i[0])))],
    )  # fmt: skip
    yield Run(
        "barrier_drop", one, one,
        reference=lambda i: [
            _int_bytes(42, *(sum(_ints(i[0])) if t % 3 else 0 for t in range(1, 128)))
        ],
    )  # fmt: skip
    yield Run("barrier_completion", one, one)
    yield Run("barrier_device", one, one, reference=lambda i: [_reversed(i[0])])
    yield Run(
        "barrier_parity", one, one,
        reference=lambda i: [_int_bytes(*(_ints(i[0])[t ^ 37] for t in range(128)))],
    )  # fmt: skip
    yield Run("latch", one, one)
    yield Run(
        "semaphore", one, ("s32*4",),
        reference=lambda i: [_int_bytes(3, sum(_ints(i[0])), 0, 0)],
    )  # fmt: skip
    for stages in (1, 2, 4):
        yield Run(f"pipeline<{stages}>", ("s32*1024",), one)
    yield Run("pipeline_thread", ("s32*1024",), one)
    yield Run("pipeline_roles", ("s32*256",), one)
    for kind, code in (("unsigned char", "u8"), ("int", "s32"), ("double", "f64")):
        yield Run(f"copy_by_barrier<{kind}>", (f"{code}*256",), (f"{code}*512",))


def _types() -> Iterator[Run]:
    one = ("s32*128",)
    for name, rows in (
        ("optionals", 4), ("variants", 4), ("tuples", 4), ("containers", 6), ("bitsets", 2),
        ("chrono", 4), ("mdspans", 4),
    ):  # fmt: skip
        yield Run(name, one, (f"s32*{128 * rows}",))
    for kind, code in (("int", "s32"), ("unsigned char", "u8"), ("float", "f32"),
                       ("double", "f64"), ("long long", "s64")):  # fmt: skip
        yield Run(f"limits<{kind}>", one, (f"{code}*8",), 1)


def _algorithms() -> Iterator[Run]:
    for kind, code in (("unsigned", "u32"), ("unsigned long long", "u64"),
                       ("unsigned short", "u16"), ("unsigned char", "u8")):  # fmt: skip
        yield Run(f"bits<{kind}>", (f"{code}*128",), ("s32*1024",))
    yield Run("algorithms", ("s32*128",), ("s32*1280",))
    for kind, code, bound in (("float", "f32", 1e-6), ("double", "f64", 2e-15)):
        yield Run(
            f"complex_arithmetic<{kind}>", (f"tame.{code}*512",),
            (f"{code}*1280~{bound}~{bound}",),
        )  # fmt: skip
        yield Run(
            f"complex_functions<{kind}>", (f"tame.{code}*512",),
            (f"{code}*2304~{bound * 50}~{bound * 10}",),
        )  # fmt: skip
        yield Run(
            f"complex_arithmetic<{kind}>", (f"{code}*512",), (f"{code}*1280~{bound}~{bound}",),
        )  # fmt: skip
    yield Run("memory", ("random.u8*512",), (f"u8*{128 * 26}",))


def _groups(*, clusters: bool) -> Iterator[Run]:
    one = ("s32*128",)
    for size in (1, 2, 4, 8, 16, 32):
        yield Run(f"tile<{size}>", one, (f"s32*{128 * 13}",))
    for size in (64, 128):
        yield Run(f"big_tile<{size}>", ("s32*256",), ("s32*1024",), 256)
    for kind, code in (("unsigned", "u32"), ("long long", "s64"), ("float", "eighths.f32"),
                       ("double", "eighths.f64")):  # fmt: skip
        plain = code.rpartition(".")[2]
        yield Run(f"reduce_types<{kind}>", (f"{code}*128",), (f"{plain}*384",))
    yield Run("coalesced", one, ("s32*1024",))
    yield Run("partitions", one, ("s32*644",))
    yield Run("block", one, ("s32*512",), (8, 4, 4))
    yield Run("grid", ("s32*256",), ("s32*512",), 64, 4, cooperative=True)
    if clusters:
        for size in (1, 2, 4):
            yield Run("cluster", ("s32*256",), ("s32*512",), 64, 4, cluster=size)


def _ptx() -> Iterator[Run]:
    one = ("s32*128",)
    yield Run("mbarrier", one, ("s32*512",))
    yield Run("bulk", ("s32*256",), ("s32*512",))
    yield Run("barrier_tx", one, one)
    yield Run("registers", one, ("u32*1024",), (16, 4))
    yield Run("warp_intrinsics", one, ("s32*2304",))


def _matrices() -> Iterator[Run]:
    layouts = [(a, b) for a in ("row_major", "col_major") for b in ("row_major", "col_major")]
    shapes = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
    types = (("half", "ints.f16", "float", "ints.f32", "float"),
             ("half", "ints.f16", "half", "ints.f16", "half"),
             ("half", "ints.f16", "half", "ints.f16", "float"),
             ("half", "ints.f16", "float", "ints.f32", "half"),
             ("__nv_bfloat16", "ints.bf16", "float", "ints.f32", "float"),
             ("s8", "s8", "int", "s32", "int"),
             ("u8", "u8", "int", "s32", "int"))  # fmt: skip
    plain = {"float": "f32", "half": "f16", "int": "s32"}
    for kind, values, add, add_values, result in types:
        mixed = kind == "half" and add != result
        for m, n, k in shapes:
            for a, b in layouts[:1] if mixed else layouts:
                yield Run(
                    f"multiply<{kind}, {add}, {result}, {m}, {n}, {k}, {a}, {b}>",
                    (f"{values}*{m * k + k * n}", f"{add_values}*{m * n}"),
                    (f"{plain[result]}*{2 * m * n}",), 32,
                )  # fmt: skip
    for a, b in layouts:
        yield Run(f"multiply_tf32<{a}, {b}>", ("ints.f32*256", "ints.f32*256"), ("f32*256",), 32)
        yield Run(f"multiply_double<{a}, {b}>", ("tame.f64*64", "tame.f64*64"), ("f64*64",), 32)
    for kind in ("experimental::precision::s4", "experimental::precision::u4"):
        yield Run(f"multiply_small<{kind}>", ("random.u32*64", "s32*64"), ("s32*64",), 32)
    for op in (1, 2):
        yield Run(f"multiply_bits<{op}>", ("random.u32*64", "s32*64"), ("s32*64",), 32)


def modules() -> Iterator[Module]:
    yield module("std_atomic", list(_atomic()), subject="cuda::atomic, atomic_ref, atomic_flag")
    yield module(
        "std_sync", list(_sync()),
        subject="cuda::barrier, latch, semaphore, pipeline, memcpy_async",
    )  # fmt: skip
    yield module("std_sync_sm_75", list(_sync()), file="std_sync", arch="sm_75",
                 subject="the same for sm_75, which has no mbarrier")  # fmt: skip
    yield module(
        "std_types", list(_types()), options=(("device_as_default_execution_space", True),),
        subject="cuda::std: optional, expected, variant, tuple, array, span, inplace_vector, "
        "bitset, chrono, mdspan, string_view, numeric_limits",
    )  # fmt: skip
    yield module(
        "std_algorithms", list(_algorithms()), subject="cuda::std: bit, algorithm, complex, cstring"
    )
    yield module("groups", list(_groups(clusters=True)), subject="cooperative groups")
    yield module("groups_sm_75", list(_groups(clusters=False)), file="groups", arch="sm_75",
                 subject="cooperative groups, for sm_75")  # fmt: skip
    yield module("ptx_wrappers", list(_ptx()), subject="cuda::ptx, warp intrinsics")
    yield module("matrices", list(_matrices()), subject="wmma: mma.h")
