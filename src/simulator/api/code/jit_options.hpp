// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

/// The options of a load or a link, and the caller's memory for its results. Nothing is compiled,
/// so options that only control a compiler are accepted and have no effect.
class JitOptions {
 public:
  JitOptions() = default;

  /// INVALID_VALUE for an option that doesn't exist; NOT_SUPPORTED for one that would change what
  /// the program does.
  CUresult read(unsigned count, const CUjit_option* options, void** values);

  /// Adds a line to the error log, as much of it as fits.
  void add_error(std::string_view message) noexcept;
  /// Writes the sizes of the logs, and the time taken, to the options' values.
  void finish() noexcept;

 private:
  struct LogBuffer {
    char* text = nullptr;
    std::size_t capacity = 0;
    std::size_t used = 0;
    void** size_value = nullptr;

    void add(std::string_view message) noexcept;
    void finish() const noexcept;
  };

  CUresult read_option(CUjit_option option, void** value);

  LogBuffer info_;
  LogBuffer error_;
  void** wall_time_ = nullptr;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace cudacore::simulator
