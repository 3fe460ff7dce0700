# SPDX-License-Identifier: Apache-2.0
"""What processes share: descriptors of memory and events, and how multiprocessing sends them."""

from __future__ import annotations

from cudacore._ipc._buffers import IPCBufferDescriptor, buffer_from, descriptor_of, reduce_buffer
from cudacore._ipc._events import (
    IPCEventDescriptor,
    descriptor_of_event,
    event_from,
    reduce_event,
)
from cudacore._ipc._handle import IPCAllocationHandle
from cudacore._ipc._pools import (
    device_pool_from,
    handle_of,
    pinned_pool_from,
    reduce_pool,
    register,
    registered,
    uuid_of,
)

__all__ = [
    "IPCAllocationHandle",
    "IPCBufferDescriptor",
    "IPCEventDescriptor",
    "buffer_from",
    "descriptor_of",
    "descriptor_of_event",
    "device_pool_from",
    "event_from",
    "handle_of",
    "pinned_pool_from",
    "reduce_buffer",
    "reduce_event",
    "reduce_pool",
    "register",
    "registered",
    "uuid_of",
]
