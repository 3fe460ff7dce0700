// SPDX-License-Identifier: Apache-2.0
//
// The values that decide which bodies of a graph's conditional nodes run. Kernels set them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace cudacore::simulator {

/// The value behind a conditional handle. The handle is valid as long as the condition lives.
class Condition {
 public:
  /// @throws std::bad_alloc
  static std::shared_ptr<Condition> create();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition();

  const std::uint64_t handle;  ///< never reused
  std::atomic<std::uint32_t> value{0};

 private:
  explicit Condition(std::uint64_t its_handle) noexcept : handle(its_handle) {}
};

/// Sets the value behind a handle; returns false if no condition has it.
bool set_condition(std::uint64_t handle, std::uint32_t value) noexcept;

}  // namespace cudacore::simulator
