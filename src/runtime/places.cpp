// SPDX-License-Identifier: Apache-2.0
#include "cudacore/places.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "driver/nvfatbin_api.hpp"
#include "driver/nvjitlink_api.hpp"
#include "driver/nvrtc_api.hpp"

namespace cudacore::system {
namespace {

driver::LibraryPlaces places_of(std::string_view library) {
  for (const driver::LibraryPlaces& places :
       {driver::nvrtc_places(), driver::nvjitlink_places(), driver::nvfatbin_places()}) {
    if (places.title == library) return places;
  }
  throw std::invalid_argument("there is no library \"" + std::string(library) +
                              "\": name NVRTC, nvJitLink or nvFatbin");
}

}  // namespace

std::vector<Place> library_places(std::string_view library) {
  constexpr std::array kinds{"loaded", "wheel", "conda", "loader", "toolkit"};
  std::vector<Place> places;
  for (const driver::LibraryPlace& place : driver::search_order(places_of(library))) {
    if (place.name.empty()) continue;
    places.push_back({kinds.at(static_cast<std::size_t>(place.kind)), place.name});
  }
  return places;
}

std::vector<Headers> header_places() {
  const driver::NvrtcApi& api = driver::nvrtc();
  std::vector<Headers> found;
  for (const int major : {api.major, 25 - api.major}) {  // 12 beside 13, and 13 beside 12
    for (const driver::HeaderFolder& place : driver::find_header_folders(api.path, major)) {
      const bool is_known = std::any_of(found.begin(), found.end(), [&](const Headers& one) {
        return one.folder == place.folder;
      });
      if (is_known) continue;
      found.push_back({{place.version / 1000, place.version % 1000 / 10}, place.folder});
    }
  }
  return found;
}

}  // namespace cudacore::system
