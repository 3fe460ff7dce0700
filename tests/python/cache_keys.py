# SPDX-License-Identifier: Apache-2.0
"""Keys of program caches for tests."""

from typing import Any

from cudacore import ProgramOptions
from cudacore.utils import make_program_cache_key
from harness import ARCH

SOURCE = 'extern "C" __global__ void fill(int* data, int count) { *data = count; }'


def key(**changes: Any) -> bytes:
    inputs: dict[str, Any] = {
        "code": SOURCE, "code_type": "c++", "options": ProgramOptions(arch=ARCH),
        "target_type": "cubin",
    }  # fmt: skip
    return make_program_cache_key(**(inputs | changes))


def options(**fields: Any) -> ProgramOptions:
    return ProgramOptions(arch=ARCH, **fields)
