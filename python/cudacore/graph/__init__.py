# SPDX-License-Identifier: Apache-2.0
"""Graphs: work that is described once, and launched as a whole as often as needed.

A `GraphDefinition` has nodes, which launch kernels, copy and fill memory, record and wait for
events, and call Python. Each runs once the nodes that it was made from have run.
`GraphDefinition.instantiate` makes a `Graph`, which is launched on a stream by one call.

Called, the module itself records functions: ``@cudacore.graph`` makes an ordinary function that
launches kernels one that is replayed as a graph.
"""

import sys
import types

from cudacore import _later
from cudacore._core import Graph, GraphBuilder, GraphCondition
from cudacore.graph._call_names import named
from cudacore.graph._conditional_nodes import (
    ConditionalNode,
    IfElseNode,
    IfNode,
    SwitchNode,
    WhileNode,
)
from cudacore.graph._definition import GraphDefinition
from cudacore.graph._executable import ExecutableNode
from cudacore.graph._memory_nodes import AllocNode, FreeNode
from cudacore.graph._nodes import GraphNode, GraphNodeType
from cudacore.graph._options import GraphCompleteOptions, GraphDebugPrintOptions
from cudacore.graph._recorded_function import RecordedFunction, Recording, record
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

TYPE_CHECKING = False

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableNode",
    "FreeNode",
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphDebugPrintOptions",
    "GraphDefinition",
    "GraphNode",
    "GraphNodeType",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "RecordedFunction",
    "Recording",
    "SwitchNode",
    "WhileNode",
    "record",
]


for _name in __all__:  # help and messages say where they are imported from
    if globals()[_name].__module__.startswith(f"{__name__}._"):
        globals()[_name].__module__ = __name__


class _CallableModule(types.ModuleType):
    """The module, which can be called."""

    @named("cudacore.graph")
    def __call__(self, function: object = None, /, *, max_recordings: int = 32) -> object:
        """Record a function, as `record` does, which type checkers know."""
        return record(function, max_recordings=max_recordings)  # type: ignore[call-overload]


sys.modules[__name__].__class__ = _CallableModule


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:
    __getattr__ = _later.loader(__name__, {})
