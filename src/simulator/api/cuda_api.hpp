// SPDX-License-Identifier: Apache-2.0
//
// <cuda.h> as an implementation needs it: every version of every function has its own symbol,
// without macros that rename it, and is visible outside of the library.
#pragma once

#pragma GCC visibility push(default)
// NVIDIA's own switch: declares old versions and _ptsz/_ptds variants, and undefines the renames.
#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier)
#include <cuda.h>
#pragma GCC visibility pop
