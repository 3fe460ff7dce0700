// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::signature {

/// The first error in a compiler's log, or the undefined name that caused it, and the number of
/// further errors.
struct FirstError {
  std::string file;      ///< empty if the error has no position in the source
  std::size_t line = 0;  ///< from 1; 0 if there is none
  std::string text;      ///< the complete line of the log
  std::string excerpt;   ///< the source line and the caret below it, if the log has them; at the
                         ///< end of the source, those of the note on it
  std::size_t more = 0;  ///< number of further errors

  /// "\n(and 2 more errors; see .log)"; empty if there are none.
  [[nodiscard]] std::string count_of_more() const;
};

/// Reads a log of NVRTC, ptxas or nvJitLink; text is empty if it contains no error.
[[nodiscard]] FirstError first_error(std::string_view log);

/// The name in `error: identifier "name" is undefined`; empty for any other line.
[[nodiscard]] std::string_view undefined_identifier(std::string_view line);

/// The lines of a text, without their ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// The text with every mangled symbol in it demangled.
[[nodiscard]] std::string demangle_all(std::string_view text);

}  // namespace cudacore::signature
