# SPDX-License-Identifier: Apache-2.0
"""Work on many buffers by one call of the driver."""

from cudacore._core import (
    CopyOptions,
    copy_batch,
    discard_batch,
    discard_prefetch_batch,
    prefetch_batch,
)
from cudacore._public import public
from cudacore.typing import _StrEnum

__all__ = [
    "CopyOptions",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "prefetch_batch",
]


@public("cudacore.utils")
class MemcpySrcAccessOrder(_StrEnum):
    """When a copy may read its source."""

    STREAM = "stream"
    DURING_API_CALL = "during_api_call"
    ANY = "any"


@public("cudacore.utils")
class MemcpyOverlapMode(_StrEnum):
    """Whether a copy should overlap with kernels."""

    DEFAULT = "default"
    PREFER_OVERLAP_WITH_COMPUTE = "prefer_overlap_with_compute"


# Functions say so themselves.
for _function in (copy_batch, discard_batch, discard_prefetch_batch, prefetch_batch):
    _function.__module__ = "cudacore.utils"
del _function
