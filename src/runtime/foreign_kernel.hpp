// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cudacore {

/// Clears what a kernel of another library never reads of its last argument, so that two captures
/// of the same call have the same bytes. Does nothing for kernels that nothing is known about.
void clear_unread(std::string_view kernel, std::span<std::uint64_t> last_argument) noexcept;

}  // namespace cudacore
