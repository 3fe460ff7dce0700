# SPDX-License-Identifier: Apache-2.0
"""Calls that may block release the GIL, so a host callback never stalls its own stream."""

from cudacore import Device
from harness import run

# No thread takes the GIL automatically: a callback runs only if a call releases it.
PRELUDE = """
import faulthandler, os, sys
faulthandler.dump_traceback_later(100, exit=True)
sys.setswitchinterval(1000)
from cudacore import *

SOURCE = r'''
__device__ int variable = 7;
__global__ void fine(int* p) { *p = 1; }
__global__ void lazy(int* p) { *p = 2; }
'''
device = Device()
device.set_current()
stream, other = device.create_stream(), device.create_stream()
config = LaunchConfig(grid=1, block=1)
code = Program(SOURCE, "c++").compile()
kernel = code.get_kernel("fine")
buffer, second = (device.allocate(64, stream=stream) for _ in range(2))
event, timing = device.create_event(), device.create_event({"timing_enabled": True})
plain = SynchronousMemoryResource(device)
locked = LegacyPinnedMemoryResource()
pool = DeviceMemoryResource(device, {"max_size": 1 << 24})
fresh = [Program(SOURCE, "c++").compile() for _ in range(6)]
kernel[1, 1, stream](buffer)
stream.sync()
kept = []

def owned(resource):
    # Memory that is given back by hand: the buffer never ends.
    kept.append(resource.allocate(64, stream=stream))
    return kept[-1].handle

def behind_a_callback(name, call, times=1):
    print(name, flush=True)
    ran = []
    stream.add_callback(ran.append, name)
    for _ in range(times):
        call()
    stream.sync()
    assert ran == [name]
"""

QUEUED = {
    "record": "stream.record(event)",
    "record of a new event": "stream.record()",
    "wait for an event": "stream.wait(event)",
    "wait for a stream": "stream.wait(other)",
    "add_callback": "stream.add_callback(int)",
    "copy_from": "buffer.copy_from(bytes(64), stream=stream)",
    "copy_from a buffer": "buffer.copy_from(second, stream=stream)",
    "copy_to a buffer": "buffer.copy_to(second, stream=stream)",
    "copy_to(None)": "buffer.copy_to(stream=stream)",
    "fill": "buffer.fill(0, stream=stream)",
    "allocate": "device.allocate(64, stream=stream)",
    "launch": "launch(stream, config, kernel, buffer)",
    "kernel[...]": "kernel[1, 1, stream](buffer)",
}

ONCE = {
    "copy_to": "buffer.copy_to(bytearray(64), stream=stream)",
    "close of pinned memory": "locked.allocate(64, stream=stream).close()",
    "end of pinned memory": "locked.allocate(64, stream=stream) and None",
    "deallocate of pinned memory": "locked.deallocate(owned(locked), 64, stream=stream)",
    "close of device memory": "plain.allocate(64, stream=stream).close()",
    "deallocate of device memory": "plain.deallocate(owned(plain), 64, stream=stream)",
    "deallocate to a pool": "pool.deallocate(owned(pool), 64, stream=stream)",
    "trim": "pool.trim()",
    "stream.sync": "stream.sync()",
    "event.sync": "stream.record(event).sync()",
    "device.sync": "device.sync()",
    "context.sync": "device.context.sync()",
    "mem_info": "device.mem_info",
    "create_stream": "device.create_stream().close()",
    "end of a stream": "device.create_stream() and None",
    "a pool": "DeviceMemoryResource(device, {}) and None",
    "get_kernel": "fresh.pop().get_kernel('lazy') and None",
    "handle": "fresh.pop().handle",
    "get_global": "fresh.pop().get_global('variable') and None",
    "attributes": "fresh.pop().get_kernel('lazy').attributes.num_regs",
    "set of attributes": "setattr(fresh.pop().get_kernel('lazy').attributes,"
    " 'max_dynamic_shared_size_bytes', 1024)",
    "occupancy": "kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0)",
    "block size": "fresh.pop().get_kernel('lazy').occupancy.max_potential_block_size(0, 0)",
    "block size by a function": "kernel.occupancy.max_potential_block_size(lambda block: 0, 0)",
    "shared memory": "kernel.occupancy.available_dynamic_shared_memory_per_block(1, 32)",
    "compile": "Program('__global__ void k() {}', 'c++').compile()",
}


def finishes(body: str) -> None:
    result = run(PRELUDE + body + "\nprint('done', flush=True)\nos._exit(0)\n")
    assert result.returncode == 0, result.stdout[-100:] + result.stderr[-3000:]
    assert result.stdout.endswith("done\n")


def test_full_queue_behind_a_callback(device: Device) -> None:
    # A queue has room for a thousand or so entries.
    finishes(
        "\n".join(
            f"behind_a_callback({name!r}, lambda: {call}, 3000)" for name, call in QUEUED.items()
        )
    )


def test_what_waits_for_a_callback(device: Device) -> None:
    finishes(
        "\n".join(f"behind_a_callback({name!r}, lambda: {call})" for name, call in ONCE.items())
    )
