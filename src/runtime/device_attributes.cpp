// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <array>

#include "cudacore/device.hpp"

namespace cudacore {
namespace {

constexpr std::array attributes{
#define CUDACORE_DEVICE_ATTRIBUTE(name, attribute, is_bool) \
  DeviceAttribute{#name, attribute, is_bool},
#include "runtime/device_attributes.def"
#undef CUDACORE_DEVICE_ATTRIBUTE
};

}  // namespace

std::span<const DeviceAttribute> device_attributes() noexcept { return attributes; }

}  // namespace cudacore
