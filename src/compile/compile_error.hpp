// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace cudacore::compile {

/// The header that could not be opened; empty if the log doesn't mention one. NVRTC says "cannot"
/// if there were folders to search, otherwise "could not".
[[nodiscard]] std::string_view missing_header(std::string_view log);

/// What was compiled, for the message of an error.
struct CompiledSource {
  std::string name;                                   ///< NVRTC's name for the source
  std::string_view text;                              ///< the source
  const std::map<std::string, std::string>* headers;  ///< in-memory headers, by name
  std::span<const std::string> flags;                 ///< the command line
};

/// The message for a log: the first error, the source line it refers to, the number of further
/// errors, and advice if the solution is known.
[[nodiscard]] std::string explain_log(std::string_view log, const CompiledSource& source);

/// Throws the exception for a failed nvrtcCompileProgram: CompileError, NotSupportedError for a
/// flag that this NVRTC doesn't know, OutOfMemoryError.
[[noreturn]] void throw_compile_error(int result, const std::string& log,
                                      const CompiledSource& source);

}  // namespace cudacore::compile
