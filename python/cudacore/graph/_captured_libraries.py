# SPDX-License-Identifier: Apache-2.0
"""PyTorch, CuPy and others, while a function that uses them is recorded."""

from __future__ import annotations

import collections
import contextlib
import sys
import threading
from typing import ClassVar

from cudacore._other_library import cupy_stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cudacore import _core


class _TorchPool:
    """A pool of PyTorch, which ends while no recording allocates from one.

    PyTorch ends the process if a pool ends while any thread allocates from another.
    """

    #: How many recordings allocate. The lock is held while pools end, so that none begins then.
    _users = 0
    _lock = threading.RLock()
    _retired: ClassVar[collections.deque[Any]] = collections.deque()

    def __init__(self, cuda: Any) -> None:
        self._pool = cuda.MemPool()

    def __del__(self) -> None:
        pools = type(self)
        pools._retired.append(self.__dict__.pop("_pool", None))
        # Never waited for: a finalizer may run anywhere.
        if pools._lock.acquire(blocking=False):
            try:
                pools._end_retired()
            finally:
                pools._lock.release()

    @classmethod
    def _end_retired(cls) -> None:
        while cls._users == 0 and cls._retired:
            cls._retired.popleft()

    @contextlib.contextmanager
    def used(self, cuda: Any) -> Iterator[None]:
        """Let PyTorch allocate from it, in this thread."""
        with self._lock:
            _TorchPool._users += 1
        try:
            with cuda.use_mem_pool(self._pool):
                yield
        finally:
            with self._lock:
                _TorchPool._users -= 1
                self._end_retired()


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
        self._torch_pool = None if self._torch is None else _TorchPool(self._torch.cuda)
        self._cupy_pool: Any = None if self._cupy is None else self._cupy.cuda.MemoryPool()

    @contextlib.contextmanager
    def follow(self, stream: _core.Stream) -> Iterator[None]:
        """Make a stream their current one."""
        with contextlib.ExitStack() as stack:
            if self._torch_pool is not None:
                cuda = self._torch.cuda
                own = cuda.ExternalStream(int(stream.handle), stream.device.device_id)
                stack.enter_context(cuda.stream(own))
                stack.enter_context(self._torch_pool.used(cuda))
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
