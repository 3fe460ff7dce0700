// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::compile {

/// The header that could not be opened, empty where the log tells of none. NVRTC says "cannot"
/// where there were folders to search, else "could not".
[[nodiscard]] std::string_view missing_header(std::string_view log);

/// What was compiled, for the message of an error.
struct CompiledSource {
  std::string name;                                   ///< what NVRTC calls the source
  std::string_view text;                              ///< the source
  const std::map<std::string, std::string>* headers;  ///< in-memory headers, by name
  std::span<const std::string> flags;                 ///< the command line
};

/// The message for a log: the first error, the source line it points at, the count of further
/// errors, and advice where the cure is known.
[[nodiscard]] std::string explain_log(std::string_view log, const CompiledSource& source);

/// Raises what a failed nvrtcCompileProgram stands for: CompileError, NotSupportedError for a flag
/// that this NVRTC does not know, OutOfMemoryError.
[[noreturn]] void throw_compile_error(int result, const std::string& log,
                                      const CompiledSource& source);

}  // namespace cudacore::compile
