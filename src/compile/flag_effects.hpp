// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::compile {

/// What an NVRTC command line makes the result depend on besides its own text.
struct FlagEffects {
  std::vector<std::string> folders;       ///< that includes are searched in, in order
  std::vector<std::string> pre_includes;  ///< headers included before the source
  std::vector<std::string> macros;        ///< "NAME" or "NAME=VALUE"
  bool shows_current_folder = false;      ///< whether debug information contains it
  bool ptxas_may_read_files = false;
  /// Why the result or its log depends on more, or why files are written; empty if that isn't so.
  std::string trouble;
};

[[nodiscard]] FlagEffects effects_of(std::span<const std::string> flags);

/// Why the result or the log may depend on more than the text of a flag of ptxas; empty if they
/// don't.
[[nodiscard]] std::string ptxas_trouble(std::string_view flag);

/// For a compiler's command line: the flag that switches the cache of NVRTC and nvJitLink off, if
/// ptxas may read files, which that cache doesn't notice; otherwise null.
[[nodiscard]] const char* no_cache_flag(std::span<const std::string> flags, int major, int minor);

}  // namespace cudacore::compile
