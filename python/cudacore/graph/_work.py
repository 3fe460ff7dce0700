# SPDX-License-Identifier: Apache-2.0
"""What nodes do, made from what Python gives: for new nodes, and for updates of a part.

Each function takes what a node was made from, or None for a new node, and notes what it makes work
of. A Buffer is replaced by its address and by what keeps its memory, whoever closes it.
"""

from __future__ import annotations

import ctypes
import sys
from operator import index
from typing import NamedTuple, cast

from cudacore._core import Buffer, Kernel, _GraphWork
from cudacore._integers import UINT64, is_int, to_int
from cudacore.typing import GraphConditionalType, GraphMemoryType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from cudacore._core import Device, GraphCondition, LaunchConfig
    from cudacore.graph._definition import GraphDefinition


# The base class of what CFUNCTYPE makes.
_FunctionPointer = ctypes.CFUNCTYPE(None).__mro__[1]


class Operand(NamedTuple):
    """Memory that a node uses."""

    address: int
    keeper: object = None
    """What keeps the memory."""
    room: int | None = None
    """Its size, if that is known."""


class Launch(NamedTuple):
    """What a kernel node was made from; the arguments are None if they are not known."""

    config: Any
    kernel: Any
    args: tuple[Any, ...] | None


class Copy(NamedTuple):
    """What a memcpy node was made from."""

    dst: Operand
    src: Operand
    size: int


class Fill(NamedTuple):
    """What a memset node was made from."""

    dst: Operand
    value: int
    element_size: int
    width: int
    height: int
    pitch: int


class Call(NamedTuple):
    """What a callback node was made from: `fn` is None for a function of ctypes."""

    fn: Callable[..., object] | None
    kept: tuple[object, ...] = ()


def _operand(value: object, owner: object, name: str) -> Operand:
    keeper = _GraphWork.empty()
    if isinstance(value, Buffer):
        if owner is not None:
            msg = f"{name}_owner is for an address; {name} is a Buffer, which is kept anyway"
            raise ValueError(msg)
        kept = keeper.keep_buffer(value)
        if not kept:
            msg = f"{name}: this Buffer is closed"
            raise ValueError(msg)
        return Operand(kept[0], keeper, kept[1])
    try:
        address = int(index(value))  # type: ignore[arg-type]
    except TypeError:
        advice = "; its address is node.dptr" if hasattr(type(value), "dptr") else ""
        if hasattr(value, "__array_interface__"):
            advice = (
                ": use its memory by cudacore.register_host(array), a buffer of a "
                "LegacyPinnedMemoryResource, or a capture of buf.copy_from(array)"
            )
        msg = f"{name} must be a Buffer or an address, not {type(value).__name__}{advice}"
        raise TypeError(msg) from None
    if not 0 <= address < 2**64:
        msg = f"{name} must be an address in 0 .. 2**64 - 1, not {address}"
        raise OverflowError(msg)
    if owner is not None:
        keeper.keep(owner)
    return Operand(address, keeper)


def _require_room(operand: Operand, size: int, name: str) -> None:
    if operand.room is not None and size > operand.room:
        msg = f"{name}: this Buffer has {operand.room} bytes, but the node uses {size} of it"
        raise ValueError(msg)


def branch_count(value: object) -> int:
    """Return how many branches a switch node has."""
    return to_int(value, "count", least=1, most=2**20)


def address(value: object) -> int:
    """Return the address of a Buffer, or an address."""
    return _operand(value, None, "dptr").address


def launch(
    before: Launch | None,
    config: LaunchConfig | Mapping[str, Any] | None,
    kernel: Kernel | None,
    args: tuple[Any, ...] | None,
) -> _GraphWork:
    """Make the work of a kernel node."""
    if before is not None:
        if kernel is not None and args is None:
            msg = "another kernel needs its arguments: give args too"
            raise ValueError(msg)
        if args is not None and not isinstance(args, (tuple, list)):
            msg = f"args must be a tuple of the kernel's arguments, not {type(args).__name__}"
            raise TypeError(msg)
        config = before.config if config is None else config
        kernel = before.kernel if kernel is None else kernel
        args = before.args if args is None else tuple(args)
    if not isinstance(kernel, Kernel):
        tile = sys.modules.get("cudacore.tile")
        kind = type(kernel).__name__
        if tile is not None and isinstance(kernel, tile.kernel):
            kind = "a kernel of cudacore.tile: launch it on a GraphBuilder, by cudacore.tile.launch"
        advice = "; launch(config, kernel, *args) adds a node" if before is None else ""
        raise TypeError(f"kernel must be a Kernel, not {kind}{advice}")
    work = _GraphWork.kernel(config, kernel, args)  # type: ignore[arg-type]
    work.keep_operands(Launch(config, kernel, args))
    return work


def memcpy(
    before: Copy | None,
    dst: object,
    src: object,
    size: object,
    dst_owner: object,
    src_owner: object,
) -> _GraphWork:
    """Make the work of a memcpy node."""
    target = before.dst if before and dst is None else _operand(dst, dst_owner, "dst")
    source = before.src if before and src is None else _operand(src, src_owner, "src")
    length = before.size if before and size is None else to_int(size, "size", UINT64)
    _require_room(target, length, "dst")
    _require_room(source, length, "src")
    work = _GraphWork.copy(target.address, source.address, length)
    work.keep_operands(Copy(target, source, length))
    return work


def _shows_bytes(value: object) -> bool:
    """Return whether a value has bytes of its own, as a NumPy scalar has."""
    try:
        memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _pattern(value: object, element_size: int) -> tuple[int, int]:
    """Return what to fill with, and its size: an int for the given size, or 1, 2 or 4 bytes."""
    if isinstance(value, int) or not _shows_bytes(value):
        if not is_int(value):
            msg = f"value must be an int or bytes, not {type(value).__name__}"
            raise TypeError(msg)
        return to_int(value, "value", (0, (1 << 8 * element_size) - 1)), element_size
    pattern = bytes(memoryview(value))  # type: ignore[arg-type]
    if len(pattern) not in {1, 2, 4}:
        msg = f"value must have 1, 2 or 4 bytes, not {len(pattern)}"
        raise ValueError(msg)
    return int.from_bytes(pattern, "little"), len(pattern)


def memset(
    before: Fill | None,
    dst: object,
    value: object,
    element_size: object,
    width: object,
    height: object,
    pitch: object,
    dst_owner: object,
) -> _GraphWork:
    """Make the work of a memset node."""
    target = before.dst if before and dst is None else _operand(dst, dst_owner, "dst")
    size = to_int(element_size, "element_size", UINT64) if element_size is not None else 1
    if before and element_size is None:
        size = before.element_size
    if size not in {1, 2, 4}:
        msg = f"element_size must be 1, 2 or 4, not {size}"
        raise ValueError(msg)
    number, size = _pattern(before.value if before and value is None else value, size)
    extent = before.width if before and width is None else to_int(width, "width", UINT64)
    rows = before.height if before and height is None else to_int(height, "height", UINT64)
    step = before.pitch if before and pitch is None else to_int(pitch, "pitch", UINT64)
    if rows > 0 and extent > 0:
        _require_room(target, (rows - 1) * step + extent * size, "dst")
    work = _GraphWork.fill(target.address, number, size, extent, rows, step)
    work.keep_operands(Fill(target, number, size, extent, rows, step))
    return work


# By GraphMemoryType of the extension.
MEMORY_TYPES = (GraphMemoryType.DEVICE, GraphMemoryType.HOST, GraphMemoryType.MANAGED)
# By CUgraphConditionalNodeType.
CONDITIONAL_TYPES = (
    GraphConditionalType.IF,
    GraphConditionalType.WHILE,
    GraphConditionalType.SWITCH,
)


def allocation(
    size: object, device: Device | int | None, memory_type: object, peers: object
) -> _GraphWork:
    """Make the work of an allocation."""
    if memory_type not in MEMORY_TYPES:
        msg = f"memory_type must be one of {', '.join(MEMORY_TYPES)}, not {memory_type!r}"
        raise ValueError(msg)
    kind = MEMORY_TYPES.index(GraphMemoryType(memory_type))
    others = [] if peers is None else list(peers)  # type: ignore[call-overload]
    return _GraphWork.allocate(to_int(size, "size", UINT64), device, kind, others)


def conditional(condition: GraphCondition, kind: GraphConditionalType, branches: int) -> _GraphWork:
    """Make the work of a conditional node."""
    return _GraphWork.conditional(condition, CONDITIONAL_TYPES.index(kind), branches)


def child(graph: GraphDefinition) -> _GraphWork:
    """Make the work of a child graph node."""
    definition = getattr(graph, "_definition", None)
    if definition is None:
        msg = f"child must be a GraphDefinition, not {type(graph).__name__}"
        raise TypeError(msg)
    return _GraphWork.child(definition)


def callback(fn: Callable[..., object], user_data: object) -> _GraphWork:
    """Make the work of a host callback node."""
    if isinstance(fn, _FunctionPointer):
        _require_prototype(fn)
        data = 0
        copied = None
        if isinstance(user_data, int):
            data = to_int(user_data, "user_data", UINT64)
        elif user_data is not None:
            content = bytes(memoryview(user_data))  # type: ignore[arg-type]
            copied = ctypes.create_string_buffer(content, len(content))
            data = ctypes.addressof(copied)
        address = ctypes.cast(cast("Any", fn), ctypes.c_void_p).value or 0
        work = _GraphWork.host_function(address, data)
        work.keep_operands(Call(None, (fn, copied)))
        return work
    if not callable(fn):
        msg = f"fn must be callable, not {type(fn).__name__}"
        raise TypeError(msg)
    if user_data is not None:
        msg = "user_data is for ctypes functions; bind it with functools.partial"
        raise ValueError(msg)
    work = _GraphWork.callback(fn)
    work.keep_operands(Call(fn))
    return work


def _require_prototype(fn: Any) -> None:
    if fn.restype is None and fn.argtypes is not None:
        argtypes = list(fn.argtypes)
        if argtypes == [ctypes.c_void_p]:
            return
    msg = "a ctypes callback must be a CFUNCTYPE(None, c_void_p)"
    raise TypeError(msg)
