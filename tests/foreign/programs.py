# SPDX-License-Identifier: Apache-2.0
"""What the foreign programs for cuda.core share."""

import numpy as np
from cuda.core import LegacyPinnedMemoryResource

SCALE = 'extern "C" __global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }'


def pinned(count, dtype):
    """Pinned memory and a host array that shows it."""
    buffer = LegacyPinnedMemoryResource().allocate(count * np.dtype(dtype).itemsize)
    return buffer, np.from_dlpack(buffer).view(dtype)
