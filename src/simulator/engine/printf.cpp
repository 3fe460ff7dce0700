// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/printf.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "simulator/engine/memory_access.hpp"

namespace cudacore::simulator {
namespace {

/// Larger widths and precisions are cut to this, because they come from the kernel.
constexpr int widest = 1 << 16;

/// A conversion, from "%" to its letter.
struct Conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  unsigned bytes = 4;  ///< for an integer
  char letter = 0;     ///< 0: the text is not a conversion
};

class Formatter {
 public:
  Formatter(LaneReader& reader, std::string_view format, std::uint64_t arguments,
            std::string& output)
      : reader_(reader), format_(format), next_(arguments), output_(output) {}

  std::optional<int> run() {
    while (at_ < format_.size()) {
      const std::size_t percent = std::min(format_.find('%', at_), format_.size());
      output_.append(format_.substr(at_, percent - at_));
      at_ = percent;
      if (at_ == format_.size()) break;
      const std::size_t begin = at_;
      Conversion conversion;
      if (!parse(conversion)) return std::nullopt;
      if (conversion.letter == 0) {
        output_.append(format_.substr(begin, at_ - begin));
      } else if (!convert(conversion)) {
        return std::nullopt;
      }
    }
    return count_;
  }

 private:
  template <class T>
  bool take(T& value) {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (!reader_.read(next_, &value, sizeof(T))) return false;
    next_ += sizeof(T);
    ++count_;
    return true;
  }

  [[nodiscard]] char peek() const noexcept { return at_ < format_.size() ? format_[at_] : '\0'; }

  /// Digits or a '*'; returns false after a fault.
  bool number(int& value) {
    if (peek() == '*') {
      ++at_;
      std::int32_t given = 0;
      if (!take(given)) return false;
      value = std::clamp(given, -widest, widest);
      return true;
    }
    while (peek() >= '0' && peek() <= '9') {
      value = std::min(std::max(value, 0) * 10 + (peek() - '0'), widest);
      ++at_;
    }
    return true;
  }

  /// Leaves the letter 0 if the text is not a conversion; returns false after a fault.
  bool parse(Conversion& conversion) {
    ++at_;
    while (peek() != '\0' && std::strchr("-+ #0", peek()) != nullptr) {
      if (conversion.flags.find(peek()) == std::string::npos) conversion.flags += peek();
      ++at_;
    }
    if (!number(conversion.width)) return false;
    if (conversion.width < -1) {
      conversion.flags += '-';
      conversion.width = -conversion.width;
    }
    if (peek() == '.') {
      ++at_;
      conversion.precision = 0;
      if (!number(conversion.precision)) return false;
    }
    while (peek() != '\0' && std::strchr("hlLqjzt", peek()) != nullptr) {
      if (peek() == 'h') {
        conversion.bytes = conversion.bytes == 2 ? 1 : 2;
      } else {
        conversion.bytes = 8;
      }
      ++at_;
    }
    const char letter = peek();
    if (letter != '\0') {
      ++at_;
      if (std::strchr("diuoxXcspeEfFgGaA%n", letter) != nullptr) conversion.letter = letter;
    }
    return true;
  }

  template <class T>
  void print(const Conversion& conversion, const char* length, char letter, T value) {
    std::string spec = "%" + conversion.flags;
    if (conversion.width >= 0) spec += std::to_string(conversion.width);
    if (conversion.precision >= 0) spec += "." + std::to_string(conversion.precision);
    spec += length;
    spec += letter;
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size <= 0) return;
    const std::size_t begin = output_.size();
    output_.resize(begin + static_cast<std::size_t>(size) + 1);
    std::snprintf(output_.data() + begin, static_cast<std::size_t>(size) + 1, spec.c_str(), value);
    output_.pop_back();
  }

  bool convert_integer(const Conversion& conversion) {
    const bool is_signed = conversion.letter == 'd' || conversion.letter == 'i';
    if (conversion.bytes == 8) {
      std::int64_t value = 0;
      if (!take(value)) return false;
      print(conversion, "ll", conversion.letter, static_cast<long long>(value));
      return true;
    }
    std::int32_t value = 0;  // Shorter ones are promoted.
    if (!take(value)) return false;
    if (conversion.bytes == 2) value = is_signed ? std::int16_t(value) : std::uint16_t(value);
    if (conversion.bytes == 1) value = is_signed ? std::int8_t(value) : std::uint8_t(value);
    print(conversion, "", conversion.letter, value);
    return true;
  }

  bool convert_text(const Conversion& conversion) {
    std::uint64_t address = 0;
    if (!take(address)) return false;
    std::string text = "(null)";
    const std::size_t most = conversion.precision >= 0
                                 ? static_cast<std::size_t>(conversion.precision)
                                 : std::size_t{1} << 20;
    if (address != 0 && !reader_.read_text(address, text, most)) return false;
    print(conversion, "", 's', text.c_str());
    return true;
  }

  bool convert(const Conversion& conversion) {
    switch (conversion.letter) {
      case '%':
        output_ += '%';
        return true;
      case 's':
        return convert_text(conversion);
      case 'c': {
        std::int32_t value = 0;
        if (!take(value)) return false;
        print(conversion, "", 'c', value);
        return true;
      }
      case 'p':
      case 'n': {  // A kernel has no use for what %n would write, and no GPU writes it.
        std::uint64_t value = 0;
        if (!take(value)) return false;
        if (conversion.letter == 'p') print(conversion, "", 'p', reinterpret_cast<void*>(value));
        return true;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        double value = 0;
        if (!take(value)) return false;
        print(conversion, "", conversion.letter, value);
        return true;
      }
      default:
        return convert_integer(conversion);
    }
  }

  LaneReader& reader_;
  std::string_view format_;
  std::size_t at_ = 0;
  std::uint64_t next_;
  std::string& output_;
  int count_ = 0;
};

}  // namespace

bool LaneReader::read(std::uint64_t address, void* to, std::size_t size) {
  const std::byte* const from =
      resolve(warp_, instruction_, Space::generic, address, size, Access::read, lane_, 1);
  if (from == nullptr) return false;
  std::memcpy(to, from, size);
  return true;
}

bool LaneReader::read_text(std::uint64_t address, std::string& text, std::size_t most) {
  text.clear();
  while (text.size() < most) {
    char letter = 0;
    if (!read(address++, &letter, 1)) return false;
    if (letter == '\0') break;
    text += letter;
  }
  return true;
}

std::optional<int> format_text(LaneReader& reader, const std::string& format,
                               std::uint64_t arguments, std::string& output) {
  return Formatter(reader, format, arguments, output).run();
}

}  // namespace cudacore::simulator
