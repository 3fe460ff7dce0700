# SPDX-License-Identifier: Apache-2.0
"""The methods that add nodes to a graph: those of a definition, and those of a node."""

from __future__ import annotations

from cudacore._core import Event, _GraphWork
from cudacore.graph import _work
from cudacore.graph._call_names import name_methods
from cudacore.typing import GraphConditionalType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from cudacore._core import Buffer, Device, GraphCondition, Kernel, LaunchConfig
    from cudacore.graph._conditional_nodes import IfElseNode, IfNode, SwitchNode, WhileNode
    from cudacore.graph._definition import GraphDefinition
    from cudacore.graph._memory_nodes import AllocNode, FreeNode
    from cudacore.graph._nodes import GraphNode
    from cudacore.graph._work_nodes import (
        ChildGraphNode,
        EmptyNode,
        EventRecordNode,
        EventWaitNode,
        HostCallbackNode,
        KernelNode,
        MemcpyNode,
        MemsetNode,
    )

    _Node = TypeVar("_Node", bound=GraphNode)


def require_event(event: object) -> Event:
    """Refuse what is no Event."""
    if not isinstance(event, Event):
        msg = f"event must be an Event, not {type(event).__name__}"
        raise TypeError(msg)
    return event


class Adding:
    """Adds nodes: after a node, or before all others."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if Adding in cls.__bases__:
            name_methods(cls, Adding)

    # The caller knows which node the work makes.
    def _add(self, work: _GraphWork, *others: GraphNode) -> _Node:  # type: ignore[type-var]
        raise NotImplementedError

    def launch(
        self, config: LaunchConfig | Mapping[str, Any], kernel: Kernel, *args: Any
    ) -> KernelNode:
        """Add a kernel.

        Parameters
        ----------
        config : LaunchConfig or mapping of its fields
        kernel : Kernel
        *args
            As for a launch. Buffers keep their memory, and other objects live, as long as any graph
            uses the node.

        Raises
        ------
        TypeError, OverflowError
            An argument doesn't fit the kernel.
        ValueError
            The shape exceeds a limit of the device, or a Buffer is closed.
        """
        return self._add(_work.launch(None, config, kernel, args))

    def memcpy(
        self,
        dst: Buffer | int,
        src: Buffer | int,
        size: int,
        *,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> MemcpyNode:
        """Add a copy.

        Parameters
        ----------
        dst, src : Buffer or int
            An int is an address of a device or of the host.
        size : int
            Bytes.
        dst_owner, src_owner : object
            What keeps the memory at an address; the graph keeps it.

        Raises
        ------
        ValueError
            A Buffer is closed, or has an owner.
        OverflowError
            The size is negative.
        """
        return self._add(_work.memcpy(None, dst, src, size, dst_owner, src_owner))

    def memset(
        self,
        dst: Buffer | int,
        value: object,
        width: int,
        height: int = 1,
        pitch: int = 0,
        *,
        dst_owner: object = None,
    ) -> MemsetNode:
        """Fill memory.

        Parameters
        ----------
        dst : Buffer or int
            An int is an address.
        value : int or bytes-like
            A byte, 0 to 255, or 1, 2 or 4 bytes, which may be those of a NumPy scalar.
        width : int
            Elements of a row, of the size of `value`.
        height : int
            Rows.
        pitch : int
            Bytes from one row to the next, if there are several.
        dst_owner : object
            What keeps the memory at an address; the graph keeps it.

        Raises
        ------
        ValueError
            The Buffer is closed or has an owner, or the rows overlap.
        OverflowError
            The value doesn't fit a byte, or a count is negative.
        """
        work = _work.memset(None, dst, value, None, width, height, pitch, dst_owner)
        return self._add(work)

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Add a copy of another definition, as it is now, as one node."""
        return self._add(_work.child(child))

    def record(self, event: Event) -> EventRecordNode:
        """Record an event each time the graph reaches this node."""
        return self._add(_GraphWork.record(require_event(event)))

    def wait(self, event: Event) -> EventWaitNode:
        """Wait for an event: for the work that was queued before it was last recorded."""
        return self._add(_GraphWork.wait(require_event(event)))

    def callback(self, fn: Callable[..., object], *, user_data: object = None) -> HostCallbackNode:
        """Call a function on the host, on a thread of the driver.

        It must not call CUDA. An exception that leaves it is reported by `sys.unraisablehook`, with
        the callable as the ``object``, and counted by `unraisable_errors`; the graph goes on.

        Parameters
        ----------
        fn : callable or ctypes function
            A callable takes no arguments. A ``CFUNCTYPE(None, c_void_p)`` gets the data's address.
        user_data : int or bytes-like
            For a ctypes function: an address, or bytes that the graph keeps a copy of.
        """
        return self._add(_work.callback(fn, user_data))

    def allocate(
        self,
        size: int,
        *,
        device: Device | int | None = None,
        memory_type: str = "device",
        peer_access: Sequence[Device | int] | None = None,
    ) -> AllocNode:
        """Allocate memory, which nodes after this one may use until a node frees it.

        Parameters
        ----------
        size : int
            Bytes.
        device : Device or int
            The current device, unless it is given.
        memory_type : {"device", "host", "managed"}
        peer_access : sequence of Device or int
            Other devices that may access the memory.

        Raises
        ------
        ValueError
            The size is 0, or there is no such type or device.
        """
        return self._add(_work.allocation(size, device, memory_type, peer_access))

    def deallocate(self, dptr: int) -> FreeNode:
        """Free memory that a node allocated.

        Parameters
        ----------
        dptr : int
            `AllocNode.dptr` of a node of this graph, or of one that is launched before.
        """
        return self._add(_GraphWork.deallocate(_work.address(dptr)))

    def if_then(self, condition: GraphCondition) -> IfNode:
        """Run a branch if a condition is not 0.

        Parameters
        ----------
        condition : GraphCondition
            From `GraphDefinition.create_condition` of this graph. One node reads it.
        """
        return self._add(_work.conditional(condition, GraphConditionalType.IF, 1))

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Run one branch if a condition is not 0, and another if it is; see `if_then`."""
        return self._add(_work.conditional(condition, GraphConditionalType.IF, 2))

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Repeat a branch as long as a condition is not 0; see `if_then`."""
        return self._add(_work.conditional(condition, GraphConditionalType.WHILE, 1))

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Run the branch with the condition's number, if there is one; see `if_then`.

        Parameters
        ----------
        condition : GraphCondition
        count : int
            How many branches there are.
        """
        branches = _work.branch_count(count)
        return self._add(_work.conditional(condition, GraphConditionalType.SWITCH, branches))

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Add an empty node that runs after all the given nodes, and after this one, if any."""
        return self._add(_GraphWork.empty(), *nodes)
