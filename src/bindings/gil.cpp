// SPDX-License-Identifier: Apache-2.0
#include "bindings/gil.hpp"

#include <unistd.h>

#include "driver/process.hpp"

namespace cudacore::bindings {

void park_thread() noexcept {
  for (;;) {
    ::pause();
  }
}

bool may_take_gil() noexcept {
  return !driver::is_exiting() && !driver::is_forked_child() && Py_IsInitialized() != 0;
}

}  // namespace cudacore::bindings
