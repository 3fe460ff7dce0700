// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace cudacore::tile {

/// A place in a user's Python source; line 0 where there is none.
struct Location {
  int file = -1;  ///< index in Kernel::files
  int line = 0;
  int column = 0;
  int text_line = 0;  ///< line of the text that speaks of it
  bool operator==(const Location&) const = default;
};

/// What is wrong with a kernel, and where in the user's source.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string path = {}, int at_line = 0,
                 int at_column = 0, int of_text = 0)
      : std::runtime_error(message),
        file(std::move(path)),
        line(at_line),
        column(at_column),
        text_line(of_text) {}
  std::string file;
  int line;
  int column;
  int text_line;  ///< line of the text; 0 where it is about none
};

}  // namespace cudacore::tile
