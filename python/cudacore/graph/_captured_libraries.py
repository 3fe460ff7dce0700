# SPDX-License-Identifier: Apache-2.0
"""PyTorch, CuPy and others, while a function that uses them is recorded."""

from __future__ import annotations

import contextlib
import sys

from cudacore._other_library import cupy_stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cudacore import _core


class CapturedLibraries:
    """What makes the work of other libraries a part of the capture.

    They work on the captured stream, and what they allocate comes from memory pools of its own:
    otherwise, they would give the memory to other work, while each replay still uses it.
    """

    def __init__(self) -> None:
        self._torch: Any = sys.modules.get("torch")
        if self._torch is not None and not self._torch.cuda.is_initialized():
            self._torch = None
        self._cupy: Any = sys.modules.get("cupy")
        self._torch_pool: Any = None if self._torch is None else self._torch.cuda.MemPool()
        self._cupy_pool: Any = None if self._cupy is None else self._cupy.cuda.MemoryPool()

    @contextlib.contextmanager
    def follow(self, stream: _core.Stream) -> Iterator[None]:
        """Make a stream their current one."""
        with contextlib.ExitStack() as stack:
            if self._torch is not None:
                cuda = self._torch.cuda
                own = cuda.ExternalStream(int(stream.handle), stream.device.device_id)
                stack.enter_context(cuda.stream(own))
                stack.enter_context(cuda.use_mem_pool(self._torch_pool))
            if self._cupy is not None:
                cuda = self._cupy.cuda
                stack.enter_context(cupy_stream(self._cupy, stream, stream.device.device_id))
                stack.enter_context(cuda.using_allocator(self._cupy_pool.malloc))
            yield

    def keep_pools(self, recorder: _core._Recorder) -> None:
        """Keep what they allocated as long as the recording."""
        for pool in (self._torch_pool, self._cupy_pool):
            if pool is not None:
                recorder.keep(pool)


def make_array_stand_in(array: Any, view: Any) -> Any:
    """Make an array of the same library that shows other memory."""
    library = sys.modules.get(type(array).__module__.partition(".")[0])
    from_dlpack = getattr(library, "from_dlpack", None)
    return view if from_dlpack is None else from_dlpack(view)
