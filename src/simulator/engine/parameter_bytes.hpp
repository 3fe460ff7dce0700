// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a launch, as the kernel reads them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace cudacore::simulator {

/// Provides the largest alignment that a parameter may require: its generic address is the host's
/// address.
template <class T>
struct ParameterAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{128};

  ParameterAllocator() = default;
  template <class Other>
  explicit ParameterAllocator(const ParameterAllocator<Other>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T* values, std::size_t) noexcept { ::operator delete(values, alignment); }
  friend bool operator==(const ParameterAllocator&, const ParameterAllocator&) noexcept {
    return true;
  }
};

using ParameterBytes = std::vector<std::byte, ParameterAllocator<std::byte>>;

}  // namespace cudacore::simulator
