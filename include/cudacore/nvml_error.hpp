// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/error.hpp"

namespace cudacore {

/// NVML, the driver's library for managing devices, refused a call. code() is its nvmlReturn_t.
class NvmlError : public Error {
 public:
  using Error::Error;
};

}  // namespace cudacore
