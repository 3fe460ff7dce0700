// SPDX-License-Identifier: Apache-2.0
//
// Keeps the tests from the user's own program cache: what they compile, they compile.
#include <cstdlib>

namespace {

[[maybe_unused]] const int is_off = ::setenv("CUDACORE_CACHE", "0", 1);

}  // namespace
