// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

// The names of kernels, which launch histories point at.

namespace cudacore::error {

/// Returns a name that lives until its last user gives it back and it is in no history; equal names
/// share one copy.
[[nodiscard]] const char* intern(const std::string& name);
/// Gives a name back; does nothing for null.
void give_back_name(const char* name) noexcept;
/// How many names there are, for tests.
[[nodiscard]] std::size_t interned_names();

/// Guards the names: held by any thread that reads one from a history.
[[nodiscard]] std::mutex& names_mutex();

}  // namespace cudacore::error
