# SPDX-License-Identifier: Apache-2.0
"""Options for making executable graphs and for printing graphs."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cudacore._options import to_bool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore._core import Stream


@dataclass
class GraphCompleteOptions:
    """How an executable graph is made.

    Attributes
    ----------
    auto_free_on_launch : bool
        Free what an earlier launch allocated and did not free.
    upload_stream : Stream or None
        Upload the graph to the device at once, on this stream.
    device_launch : bool
        Let kernels launch the graph; not together with ``auto_free_on_launch``.
    use_node_priority : bool
        Run each kernel with its own priority, not with that of the stream.
    """

    auto_free_on_launch: bool = False
    upload_stream: Stream | None = None
    device_launch: bool = False
    use_node_priority: bool = False

    def _check(self) -> GraphCompleteOptions:
        for field in ("auto_free_on_launch", "device_launch", "use_node_priority"):
            to_bool(getattr(self, field), f"GraphCompleteOptions.{field}")
        return self


@dataclass
class GraphDebugPrintOptions:
    """What ``debug_dot_print`` writes about each node (CUgraphDebugDot_flags).

    Attributes
    ----------
    verbose : bool
        Everything.
    runtime_types : bool
    kernel_node_params : bool
    memcpy_node_params : bool
    memset_node_params : bool
    host_node_params : bool
    event_node_params : bool
    ext_semas_signal_node_params : bool
    ext_semas_wait_node_params : bool
    kernel_node_attributes : bool
    handles : bool
    mem_alloc_node_params : bool
    mem_free_node_params : bool
    batch_mem_op_node_params : bool
    extra_topo_info : bool
    conditional_node_params : bool
    """

    # In the order of the driver's flags.
    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False

    def _flags(self) -> int:
        return sum(
            to_bool(getattr(self, field.name), f"GraphDebugPrintOptions.{field.name}") << i
            for i, field in enumerate(fields(self))
        )
