# SPDX-License-Identifier: Apache-2.0
"""Options for making executable graphs and for printing graphs."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cudacore._options import Options, optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore._core import Stream


def _to_stream(value: object, what: str) -> object:
    # A stream of torch has no more than `cuda_stream` in some versions.
    if not any(hasattr(value, name) for name in ("__cuda_stream__", "cuda_stream")):
        text = f"{what} must be a Stream, have __cuda_stream__, or be None"
        raise TypeError(f"{text}, not {type(value).__name__}")
    return value


@dataclass
class GraphCompleteOptions(Options, checks={"upload_stream": optional(_to_stream)}):
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


@dataclass
class GraphDebugPrintOptions(Options):
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
        return sum(getattr(self, field.name) << i for i, field in enumerate(fields(self)))
