// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/not_copied.hpp"

namespace cudacore::bindings {

/// While such an object lives, BlockingScope doesn't release the GIL on this thread. For calls from
/// another library that holds a lock of its own: a thread that got the GIL meanwhile could wait for
/// that lock with the GIL held, and neither thread could go on.
class KeepGil : driver::NotCopied {
 public:
  KeepGil() noexcept;
  ~KeepGil();
};

}  // namespace cudacore::bindings
