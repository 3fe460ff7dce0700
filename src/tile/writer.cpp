// SPDX-License-Identifier: Apache-2.0
#include "tile/writer.hpp"

namespace cudacore::tile {

std::string quoted_path(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + '"';
}

void Writer::locate(const Location& location) {
  if (location.line > 0) wanted_ = location;
}

void Writer::line(const std::string& text) {
  if (wanted_.line > 0) {
    const bool known = wanted_.file >= 0 && wanted_.file < static_cast<int>(files_.size());
    if (known && (reported_file_ != wanted_.file || reported_line_ != wanted_.line)) {
      text_ += "#line " + std::to_string(wanted_.line);
      if (reported_file_ != wanted_.file)
        text_ += ' ' + quoted_path(files_[static_cast<std::size_t>(wanted_.file)]);
      text_ += '\n';
      reported_file_ = wanted_.file;
      reported_line_ = wanted_.line;
    }
  }
  text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  text_ += text + '\n';
  ++reported_line_;
}

void Writer::open(const std::string& text) {
  line(text.empty() ? "{" : text + " {");
  ++depth_;
}

void Writer::close(const std::string& text) {
  --depth_;
  line(text);
}

}  // namespace cudacore::tile
