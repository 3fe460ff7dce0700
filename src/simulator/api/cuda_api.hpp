// SPDX-License-Identifier: Apache-2.0
//
// <cuda.h> as one who implements it sees it: every version of every function by its own symbol,
// with no macro that renames it, and visible from outside the library.
#pragma once

#pragma GCC visibility push(default)
// NVIDIA's own switch: declares old versions and _ptsz/_ptds variants, and undefines the renames.
#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier)
#include <cuda.h>
#pragma GCC visibility pop
