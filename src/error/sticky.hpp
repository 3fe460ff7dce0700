// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "driver/driver_api.hpp"
#include "error/context_box.hpp"

// Sticky errors. Each ends CUDA for the whole process: contexts of other devices, new contexts and
// a reset primary context fail with the same code.

namespace cudacore::handle {

struct ContextBox;

/// Whether a code tells that nothing of this process can use CUDA any more.
[[nodiscard]] bool is_sticky(CUresult result) noexcept;

/// Marks one context as lost, where it is not yet, as `function` has ended it; no error names what
/// was launched there.
void mark_ended(ContextBox& context, const char* function);

/// Marks every context that this process has met as lost, and asks the driver for new ones from now
/// on: `function` has ended them.
void forget_contexts(const char* function);
/// The same of those alone that have ended: other threads may have met some since.
void forget_ended_contexts(const char* function);
/// Whether forget_contexts() was told of a context: nothing that it owned is left.
[[nodiscard]] bool is_forgotten(const ContextBox& context) noexcept;

/// What is known of a sticky error.
struct Loss {
  CUresult result;
  const char* function;     ///< which reported it
  std::string_view logged;  ///< what the driver said of it
  std::string_view story;   ///< the whole message, for whoever raises it first
};

/// Marks every context as lost, those to come too, and returns true; false where a sticky error was
/// recorded before.
bool record_loss(const Loss& loss);
/// Marks a new context as lost where a sticky error was recorded.
void share_loss(ContextBox& context);
/// Forgets the sticky error, where the driver has started afresh: contexts to come are sound. Only
/// the simulated device can, and that of tests.
void forget_loss();

/// What the first to raise a sticky error says.
struct Story {
  std::string message;
  std::string function;
};
/// The message, once, if so far only a deleter has seen the error.
[[nodiscard]] std::optional<Story> take_untold_story();

/// "suspects, launched since the last successful synchronization, newest last: a, b"; empty where
/// there are none.
[[nodiscard]] std::string suspects();

/// While one lives, what this thread raises reaches nobody: it is called by a deleter.
class Unheard {
 public:
  Unheard() noexcept;
  ~Unheard();
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;

  [[nodiscard]] static bool here() noexcept;
};

}  // namespace cudacore::handle
