// SPDX-License-Identifier: Apache-2.0
#include "cudacore/multicast.hpp"

#include <stdexcept>
#include <string>

#include "cudacore/error.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"

namespace cudacore {

std::size_t multicast_granularity(Device device, unsigned devices, bool is_recommended) {
  constexpr std::size_t any_size = std::size_t{1} << 21U;
  if (devices == 0) throw std::invalid_argument("multicast_granularity: there are no devices");
  if (device.attribute(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) == 0) {
    throw NotSupportedError("multicast_granularity: " + error::describe_device(device.id()) +
                            " can't do this: its property multicast_supported is false");
  }
  const driver::DriverApi& api = driver::api();
  if (api.cuMulticastGetGranularity == nullptr) {
    driver::throw_missing_symbol("cuMulticastGetGranularity", 12010);
  }
  CUmulticastObjectProp properties{};
  properties.numDevices = devices;
  properties.size = any_size;
  std::size_t granularity = 0;
  error::check(api.cuMulticastGetGranularity(&granularity, &properties,
                                             is_recommended ? CU_MULTICAST_GRANULARITY_RECOMMENDED
                                                            : CU_MULTICAST_GRANULARITY_MINIMUM),
               "cuMulticastGetGranularity", [&] { return std::to_string(devices) + " devices"; });
  return granularity;
}

}  // namespace cudacore
