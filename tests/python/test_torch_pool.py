# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's allocator calls, with a mutex in the place of PyTorch's own."""

from collections.abc import Callable
from pathlib import Path

import cudacore
import pytest
from cudacore import Buffer, CachingMemoryResource, DeviceMemoryResource, MemoryResource, allocators
from harness import build_library, run, run_cleanly

#: PyTorch's caching allocator locks such a mutex around calls, and so does a thread that frees a
#: tensor, with the GIL held.
MUTEX = """
#include <pthread.h>
#include <stddef.h>
typedef void* allocate_function(long, int, void*);
typedef void release_function(void*, long, int, void*);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void* allocate(allocate_function* function, long size) {
  pthread_mutex_lock(&mutex);
  void* pointer = function(size, 0, NULL);
  pthread_mutex_unlock(&mutex);
  return pointer;
}
void release(release_function* function, void* pointer, long size) {
  pthread_mutex_lock(&mutex);
  function(pointer, size, 0, NULL);
  pthread_mutex_unlock(&mutex);
}
"""
PRELUDE = """
import ctypes, faulthandler, sys, threading
faulthandler.dump_traceback_later(60, exit=True)
sys.setswitchinterval(1e-6)
from cudacore import *
from cudacore import _core

ours = ctypes.CDLL(_core.__file__)
give_back = ctypes.cast(ours.cudacore_torch_free, ctypes.c_void_p)

def allocator_of(resource):
    slot = _core._torch_slot([resource], True)
    return ctypes.cast(ours[f"cudacore_torch_allocate_{slot}"], ctypes.c_void_p)

def use(library, allocator, count):
    library.allocate.restype = ctypes.c_void_p
    for _ in range(count):
        pointer = library.allocate(allocator, ctypes.c_long(1 << 20))
        assert pointer
        library.release(give_back, ctypes.c_void_p(pointer), ctypes.c_long(1 << 20))

with_gil, without_gil = ctypes.PyDLL(sys.argv[1]), ctypes.CDLL(sys.argv[1])
"""


@pytest.fixture(scope="module")
def mutex(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(tmp_path_factory.mktemp("mutex") / "libmutex.so", MUTEX)


@pytest.mark.parametrize(
    "resource",
    ["DeviceMemoryResource(0)", "ManagedMemoryResource()", "SynchronousMemoryResource(0)"],
)
def test_native_resources_leave_the_gil_where_it_is(mutex: Path, resource: str) -> None:
    """Threads call with and without the GIL, and all lock the mutex."""
    said = run_cleanly(
        PRELUDE
        + f"""
allocator = allocator_of({resource})
threads = [
    threading.Thread(target=use, args=(library, allocator, 500))
    for library in (with_gil, with_gil, without_gil)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done", unraisable_errors())
""",
        str(mutex),
    )
    assert said == "done 0\n"


class Own(MemoryResource):
    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def allocate(self, size: int, *, stream: object = None) -> Buffer:
        raise NotImplementedError

    def deallocate(self, ptr: object, size: int, *, stream: object = None) -> None:
        raise NotImplementedError


class Pool(DeviceMemoryResource):
    """Python code may override any of its methods."""


@pytest.mark.parametrize(("make", "name"), [
    (Own, "Own"),
    (lambda: Pool(0), "Pool"),
    (lambda: CachingMemoryResource(Own()), "Own"),
    (lambda: CachingMemoryResource(CachingMemoryResource(Pool(0))), "Pool"),
])  # fmt: skip
def test_pools_refuse_resources_that_are_written_in_python(
    make: Callable[[], MemoryResource], name: str
) -> None:
    resource = make()
    with pytest.raises(TypeError, match=f"torch_pool: .*{name} is written in Python, which could"):
        cudacore._core._torch_slot([DeviceMemoryResource(0), resource], True)
    assert cudacore._core._torch_slot([resource], False) >= 0


@pytest.mark.simulator_only(reason="a driver may crash on a stream that is gone")
def test_memory_waits_for_every_stream_that_is_left() -> None:
    result = run(
        """
import ctypes, threading
from cudacore import *
from cudacore import _core

ours = ctypes.CDLL(_core.__file__)
V = ctypes.c_void_p
device = Device()
device.set_current()
gate = LegacyPinnedMemoryResource().allocate(8)
memoryview(gate)[:] = bytes(8)
cache = CachingMemoryResource(DeviceMemoryResource(device, {}))
slot = _core._torch_slot([cache], False)
take = getattr(ours, f"cudacore_torch_allocate_{slot}")
take.restype = V
first, gone, other = (device.create_stream() for _ in range(3))
pointer = take(ctypes.c_ssize_t(1 << 20), 0, V(first.handle))
for user in (gone, other):
    ours.cudacore_torch_record_stream(V(pointer), V(user.handle))
other.wait_value(gate, 1)
gone.close()
opened = threading.Event()

def open_gate():
    opened.set()
    memoryview(gate)[:4] = bytes([1, 0, 0, 0])

threading.Timer(0.2, open_gate).start()
ours.cudacore_torch_free(V(pointer), ctypes.c_ssize_t(1 << 20), 0, V(first.handle))
print(opened.is_set(), unraisable_errors())
"""
    )
    assert result.stdout.split() == ["True", "1"], result.stderr
    assert "PyTorch's allocator" in result.stderr


def test_rmm_may_allocate_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Callback:
        def __init__(self, allocate: object, deallocate: object) -> None:
            self.allocate, self.deallocate = allocate, deallocate

    class Library:
        CallbackMemoryResource = Callback

    monkeypatch.setattr("cudacore.allocators._rmm._import", lambda _: Library)
    resource = allocators.rmm_resource(DeviceMemoryResource(0))
    stream = cudacore.Device().default_stream
    pointers = [resource.allocate(size, stream) for size in (0, 0, 100)]
    assert pointers[:2] == [0, 0]
    for pointer, size in zip(pointers, (0, 0, 100), strict=True):
        resource.deallocate(pointer, size, stream)
