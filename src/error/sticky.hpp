// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "error/context_box.hpp"

// Sticky errors. Each of them ends CUDA for the whole process: contexts of other devices, new
// contexts and a reset primary context fail with the same code.

namespace cudacore::error {

/// Whether a code means that this process cannot use CUDA any more.
[[nodiscard]] bool is_sticky(CUresult result) noexcept;

/// Marks one context as lost, unless it already is, because `function` has destroyed it; errors
/// don't name what was launched there.
void mark_ended(ContextBox& context, const char* function);

/// What is known about a sticky error.
struct Loss {
  CUresult result;
  const char* function;      ///< the function that reported it
  std::string_view logged;   ///< what the driver's log says about it
  std::string_view message;  ///< the complete message, for the first call that throws it
};

/// Marks every context as lost, including future ones, and returns true; returns false if a sticky
/// error was recorded before.
bool record_loss(const Loss& loss);
/// Marks a new context as lost if a sticky error was recorded.
void share_loss(ContextBox& context);
/// Forgets the sticky error after the driver has started afresh: future contexts will work. Only
/// the simulated device, and the one for tests, can do this.
void forget_loss();

/// The message of the first call that throws a sticky error.
struct LossReport {
  std::string message;
  std::string function;
};
/// The message, once, if only a deleter has noticed the error so far.
[[nodiscard]] std::optional<LossReport> take_unreported_loss();

/// "suspects, launched since the last successful synchronization, newest last: a, b"; empty if
/// there are none.
[[nodiscard]] std::string suspects();

/// While such an object lives, exceptions of this thread reach no caller, because a deleter is
/// running.
class NobodyCatchesScope : driver::NotCopied {
 public:
  NobodyCatchesScope() noexcept;
  ~NobodyCatchesScope();

  [[nodiscard]] static bool here() noexcept;
};

}  // namespace cudacore::error
