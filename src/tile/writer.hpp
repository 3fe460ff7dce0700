// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tile/error.hpp"

namespace cudacore::tile {

/// A path as a literal of C++, as #line takes it.
[[nodiscard]] std::string quoted_path(const std::string& path);

/// Indented lines of C++, with #line where the compiler would otherwise report another line of the
/// user's source than the current location.
class Writer {
 public:
  explicit Writer(const std::vector<std::string>& files) : files_(files) {}

  /// Sets where the lines from now on come from; line 0 keeps the current place.
  void locate(const Location& location);
  void line(const std::string& text);
  void open(const std::string& text);         ///< prints `text {`
  void close(const std::string& text = "}");  ///< ends what open() began
  void open_again() { ++depth_; }             ///< after close("} else {")
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] int depth() const { return depth_; }

 private:
  const std::vector<std::string>& files_;
  std::string text_;
  int depth_ = 1;
  Location wanted_;
  int reported_file_ = -1;
  int reported_line_ = 0;
};

}  // namespace cudacore::tile
