// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "cudacore/launch_attributes.hpp"
#include "driver/driver_api.hpp"
#include "error/context_box.hpp"

namespace cudacore::launching {

// Newer than the oldest cuda.h that cudacore is built with.
inline constexpr auto portable_cluster_size_mode = static_cast<CUlaunchAttributeID>(17);
inline constexpr auto shared_memory_mode = static_cast<CUlaunchAttributeID>(18);

/// Launch attributes as given, and as the driver takes them.
struct AttributeBox {
  static constexpr std::size_t most = 12;

  LaunchAttributes given{};
  std::array<CUlaunchAttribute, most> native{};
  unsigned count = 0;  ///< of `native`

  /// @throw ContextLostError if the context of an event is lost.
  void require_usable_events() const;
  /// Remembers that a launch has recorded the events.
  void note_records() const noexcept;
};

/// Refuses a window that is too large for the context's device, or persists where nothing can.
/// `object` begins the message.
/// @throw std::invalid_argument, NotSupportedError
void check_window_on(const AccessPolicyWindow& window, const error::ContextBox& context,
                     std::string_view object);

/// A window of the driver's, as given.
[[nodiscard]] AccessPolicyWindow given_window(const CUaccessPolicyWindow& window) noexcept;
/// The window as the driver takes it.
[[nodiscard]] CUaccessPolicyWindow driver_window(const AccessPolicyWindow& window) noexcept;

}  // namespace cudacore::launching
