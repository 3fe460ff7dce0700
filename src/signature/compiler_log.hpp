// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::compile {

/// The first error that a compiler's log tells of, or the undefined name that it follows from, and
/// how many others there are.
struct FirstError {
  std::string file;      ///< empty where the error is at no place in the source
  std::size_t line = 0;  ///< from 1; 0 where there is none
  std::string text;      ///< the whole line of the log
  std::string excerpt;   ///< the source line and the caret below it, where the log shows them
  std::size_t more = 0;  ///< further errors
};

/// Reads a log of NVRTC, ptxas or nvJitLink; text is empty where it tells of no error.
[[nodiscard]] FirstError first_error(std::string_view log);

/// The name in `error: identifier "name" is undefined`; empty in any other line.
[[nodiscard]] std::string_view undefined_identifier(std::string_view line);

/// The lines of a text, without their ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// The text with every mangled symbol in it made readable.
[[nodiscard]] std::string demangle_all(std::string_view text);

}  // namespace cudacore::compile
