// SPDX-License-Identifier: Apache-2.0
//
// What integer instructions do, lane by lane and as PTX's manual says, except where GPUs agree on
// something else: bit by bit, with integers that never overflow. Slow on purpose.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::simulator::testing {

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

struct IntegerType {
  bool is_signed = false;
  unsigned bits = 32;

  [[nodiscard]] SignedWide min() const { return is_signed ? -(SignedWide{1} << (bits - 1)) : 0; }
  [[nodiscard]] SignedWide max() const {
    return (SignedWide{1} << (is_signed ? bits - 1 : bits)) - 1;
  }
  [[nodiscard]] SignedWide clamp(SignedWide value) const {
    return value < min() ? min() : value > max() ? max() : value;
  }
  /// Bits as a number.
  [[nodiscard]] SignedWide value(Wide raw) const {
    if (bits < 128) raw &= (Wide{1} << bits) - 1;
    const bool negative = is_signed && ((raw >> (bits - 1)) & 1) != 0;
    return static_cast<SignedWide>(raw) - (negative ? SignedWide{1} << bits : 0);
  }
};

/// "u16", "s8", "b64", "f32"; a float counts as its bits.
inline std::optional<IntegerType> integer_type(std::string_view name) {
  if (name.size() < 2 || name.size() > 4 ||
      std::string_view("usbf").find(name[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  unsigned bits = 0;
  for (const char digit : name.substr(1)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    bits = bits * 10 + static_cast<unsigned>(digit - '0');
  }
  return IntegerType{name[0] == 's', bits};
}

/// An opcode's parts: "mad", "lo", "s32".
struct Opcode {
  explicit Opcode(std::string_view text) {
    std::size_t from = 0;
    while (from <= text.size()) {
      const std::size_t to = std::min(text.find('.', from), text.size());
      parts.emplace_back(text.substr(from, to - from));
      from = to + 1;
    }
    for (const std::string& part : parts) {
      if (const auto type = integer_type(part)) types.push_back(*type);
    }
  }
  [[nodiscard]] bool has(std::string_view part) const {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }
  [[nodiscard]] const std::string& name() const { return parts.front(); }

  std::vector<std::string> parts;
  std::vector<IntegerType> types;
};

struct Outcome {
  std::vector<Wide> results;
  bool carry = false;
};

inline bool bit(Wide value, unsigned i) { return ((value >> i) & 1) != 0; }

/// min, max, add, sub, ... of two numbers.
inline std::optional<SignedWide> elementary(std::string_view name, SignedWide a, SignedWide b) {
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "min") return std::min(a, b);
  if (name == "max") return std::max(a, b);
  if (name == "absdiff") return a < b ? b - a : a - b;
  if (name == "avrg") return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
  return std::nullopt;
}

inline bool compares(std::string_view comparison, SignedWide a, SignedWide b) {
  if (comparison == "eq") return a == b;
  if (comparison == "ne") return a != b;
  if (comparison == "lt" || comparison == "lo") return a < b;
  if (comparison == "le" || comparison == "ls") return a <= b;
  if (comparison == "gt" || comparison == "hi") return a > b;
  return a >= b;
}
inline bool combines(const Opcode& opcode, bool holds, bool with) {
  if (opcode.has("and")) return holds && with;
  if (opcode.has("or")) return holds || with;
  if (opcode.has("xor")) return holds != with;
  return holds;
}

/// Sums and products. The caller truncates results to the destination.
inline std::optional<Outcome> arithmetic(const Opcode& opcode, const std::vector<Wide>& in,
                                         bool carry) {
  const std::string& name = opcode.name();
  const IntegerType type = opcode.types.empty() ? IntegerType{} : opcode.types.back();
  const auto v = [&](std::size_t i) { return type.value(in.at(i)); };
  const auto one = [](SignedWide value) { return Outcome{{static_cast<Wide>(value)}, false}; };
  const IntegerType raw{false, type.bits};
  const auto cut = [&](SignedWide value) { return raw.value(static_cast<Wide>(value)); };
  if (name == "addc" || (name == "add" && opcode.has("cc"))) {
    const SignedWide sum = raw.value(in[0]) + raw.value(in[1]) + (name == "addc" && carry ? 1 : 0);
    return Outcome{{static_cast<Wide>(sum)}, opcode.has("cc") ? sum > raw.max() : carry};
  }
  if (name == "subc" || (name == "sub" && opcode.has("cc"))) {
    const SignedWide rest =
        raw.value(in[0]) - raw.value(in[1]) - (name == "subc" && !carry ? 1 : 0);
    return Outcome{{static_cast<Wide>(rest)}, opcode.has("cc") ? rest >= 0 : carry};
  }
  if (name == "mad" || name == "madc" || name == "mul") {
    const SignedWide product =
        type.is_signed ? v(0) * v(1) : static_cast<SignedWide>(in[0] * in[1]);
    SignedWide part = product;
    if (opcode.has("hi")) {
      part = type.is_signed ? product >> type.bits
                            : static_cast<SignedWide>((in[0] * in[1]) >> type.bits);
    }
    if (name == "mul") return one(part);
    if (opcode.has("sat")) return one(type.clamp(part + v(2)));
    if (opcode.has("wide")) {
      return one(part + IntegerType{type.is_signed, type.bits * 2}.value(in[2]));
    }
    const SignedWide sum = cut(part) + raw.value(in[2]) + (name == "madc" && carry ? 1 : 0);
    return Outcome{{static_cast<Wide>(sum)}, opcode.has("cc") ? sum > raw.max() : carry};
  }
  if (name == "mul24" || name == "mad24") {
    const IntegerType narrow{type.is_signed, 24};
    const SignedWide product = narrow.value(in[0]) * narrow.value(in[1]);
    const SignedWide part = IntegerType{type.is_signed, 32}.value(
        static_cast<Wide>(opcode.has("hi") ? product >> 16 : product));
    if (name == "mul24") return one(part);
    return one(opcode.has("sat") ? type.clamp(part + v(2)) : part + v(2));
  }
  if (name == "clmad") {
    Wide product = 0;
    for (unsigned i = 0; i < 64; ++i) product ^= bit(in[1], i) ? in[0] << i : 0;
    return one(static_cast<SignedWide>((opcode.has("hi") ? product >> 64 : product) ^ in[2]));
  }
  if (name == "sad") return one(v(2) + *elementary("absdiff", v(0), v(1)));
  if (name == "div") return one(v(1) == 0 ? -1 : v(0) / v(1));
  if (name == "rem") return one(v(1) == 0 ? -1 : v(0) % v(1));
  if (name == "abs") return one(v(0) < 0 ? -v(0) : v(0));
  // Packed types, as in "s8x4", and plain ones.
  for (const std::string& part : opcode.parts) {
    const std::size_t x = part.find('x');
    IntegerType element = type;
    unsigned count = 1;
    if (x != std::string::npos && integer_type(part.substr(0, x))) {
      element = *integer_type(part.substr(0, x));
      count = static_cast<unsigned>(part[x + 1] - '0');
    } else if (!integer_type(part)) {
      continue;
    }
    Wide result = 0;
    for (unsigned i = 0; i < count; ++i) {
      const SignedWide a = element.value(in[0] >> (i * element.bits));
      std::optional<SignedWide> value;
      if (name == "neg") {
        value = -a;
      } else if (in.size() > 1) {
        value = elementary(name, a, element.value(in[1] >> (i * element.bits)));
      }
      if (!value) return std::nullopt;
      if (opcode.has("sat")) value = element.clamp(*value);
      if (opcode.has("relu")) value = std::max(*value, SignedWide{0});
      result |= static_cast<Wide>(IntegerType{false, element.bits}.value(static_cast<Wide>(*value)))
                << (i * element.bits);
    }
    return Outcome{{result}, false};
  }
  return std::nullopt;
}

inline Wide permuted_bytes(const Opcode& opcode, const std::vector<Wide>& in) {
  const auto byte = [&](unsigned i) {
    return static_cast<unsigned>(((in[1] << 32 | in[0]) >> (8 * i)) & 0xff);
  };
  const auto c = static_cast<unsigned>(in[2]);
  const unsigned n = c & 3;
  Wide result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned value = 0;
    if (opcode.has("f4e")) {
      value = byte(n + i);
    } else if (opcode.has("b4e")) {
      value = byte((n + 8 - i) % 8);
    } else if (opcode.has("rc8")) {
      value = byte(n);
    } else if (opcode.has("ecl")) {
      value = byte(std::max(n, i));
    } else if (opcode.has("ecr")) {
      value = byte(std::min(n, i));
    } else if (opcode.has("rc16")) {
      value = byte((n & 1) * 2 + (i & 1));
    } else {
      const unsigned select = c >> (4 * i) & 15;
      value = byte(select & 7);
      if (select >= 8) value = value >= 128 ? 255 : 0;
    }
    result |= Wide{value} << (8 * i);
  }
  return result;
}

/// Logic, shifts, fields and counts.
inline std::optional<Outcome> bits(const Opcode& opcode, const std::vector<Wide>& in) {
  const std::string& name = opcode.name();
  const IntegerType type = opcode.types.empty() ? IntegerType{} : opcode.types.back();
  const auto one = [](Wide value) { return Outcome{{value}, false}; };
  const unsigned width = opcode.has("pred") ? 1 : type.bits;
  const auto low = [](Wide value, unsigned count) { return static_cast<unsigned>(value) & count; };
  if (name == "and") return one(in[0] & in[1]);
  if (name == "or") return one(in[0] | in[1]);
  if (name == "xor") return one(in[0] ^ in[1]);
  if (name == "not") return one(~in[0]);
  if (name == "cnot") return one(in[0] == 0 ? 1 : 0);
  if (name == "shl") return one(in[1] < width ? in[0] << in[1] : 0);
  if (name == "shr") {
    const auto amount = static_cast<unsigned>(std::min(in[1], Wide{width}));
    return one(static_cast<Wide>(type.value(in[0]) >> amount));
  }
  if (name == "lop3") {
    const bool paired = opcode.parts.size() > 2;
    Wide result = 0;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned index = (bit(in[0], i) ? 4 : 0) + (bit(in[1], i) ? 2 : 0) + bit(in[2], i);
      result |= Wide{bit(in[3], index)} << i;
    }
    if (!paired) return one(result);
    return Outcome{{result, Wide{combines(opcode, result != 0, in[4] != 0)}}, false};
  }
  if (name == "shf") {
    const Wide both = in[1] << 32 | in[0];
    const auto n =
        static_cast<unsigned>(opcode.has("wrap") ? in[2] % 32 : std::min(in[2], Wide{32}));
    return one(opcode.has("l") ? (both << n) >> 32 : both >> n);
  }
  if (name == "popc" || name == "clz") {
    unsigned ones = 0;
    unsigned zeros = width;
    for (unsigned i = 0; i < width; ++i) {
      ones += bit(in[0], i);
      if (bit(in[0], i)) zeros = width - 1 - i;
    }
    return one(name == "popc" ? ones : zeros);
  }
  if (name == "bfind") {
    const Wide value =
        static_cast<Wide>(type.value(in[0]) < 0 ? ~type.value(in[0]) : type.value(in[0]));
    Wide found = ~Wide{0};
    for (unsigned i = 0; i < width; ++i) {
      if (bit(value, i)) found = opcode.has("shiftamt") ? width - 1 - i : i;
    }
    return one(found);
  }
  if (name == "brev") {
    Wide result = 0;
    for (unsigned i = 0; i < width; ++i) result |= Wide{bit(in[0], i)} << (width - 1 - i);
    return one(result);
  }
  if (name == "fns") {
    const auto n = static_cast<std::int32_t>(in[2]);
    if (in[1] > 31) return one(~Wide{0});
    if (n == 0) return one(bit(in[0], static_cast<unsigned>(in[1])) ? in[1] : ~Wide{0});
    std::int64_t count = n < 0 ? -std::int64_t{n} : n;
    for (int at = static_cast<int>(in[1]); at >= 0 && at < 32; at += n < 0 ? -1 : 1) {
      if (bit(in[0], static_cast<unsigned>(at)) && --count == 0) return one(static_cast<Wide>(at));
    }
    return one(~Wide{0});
  }
  // A field's position and length: for 64-bit fields, more than the low eight bits count on a GPU.
  const Wide field_number = width == 64 ? 0xffffffff : 0xff;
  if (name == "bfe") {
    const Wide at = in[1] & field_number;
    const Wide length = in[2] & field_number;
    const Wide last = std::min(at + length - 1, Wide{width - 1});
    const bool sign = type.is_signed && length != 0 && bit(in[0], static_cast<unsigned>(last));
    Wide result = 0;
    for (unsigned i = 0; i < width; ++i) {
      const bool inside = i < length && at + i < width;
      result |= Wide{inside ? bit(in[0], static_cast<unsigned>(at) + i) : sign} << i;
    }
    return one(result);
  }
  if (name == "bfi") {
    if ((in[2] & field_number) >= width) return one(in[1]);
    const auto at = static_cast<unsigned>(in[2] & field_number);
    const Wide length = in[3] & field_number;
    Wide result = in[1];
    for (unsigned i = 0; i < length && at + i < width; ++i) {
      result &= ~(Wide{1} << (at + i));
      result |= Wide{bit(in[0], i)} << (at + i);
    }
    return one(result);
  }
  if (name == "bmsk") {
    const bool clamp = opcode.has("clamp");
    if (clamp && in[0] >= 32) return one(0);
    const unsigned at = low(in[0], 31);
    const unsigned length = clamp && in[1] >= 32 ? 32 : low(in[1], 31);
    Wide result = 0;
    for (unsigned i = at; i < 32 && i < at + length; ++i) result |= Wide{1} << i;
    return one(result);
  }
  if (name == "szext") {
    if (opcode.has("clamp") && in[1] >= 32) return one(in[0]);
    const unsigned length = low(in[1], 31);
    if (length == 0) return one(0);
    return one(static_cast<Wide>(IntegerType{type.is_signed, length}.value(in[0])));
  }
  if (name == "prmt") return one(permuted_bytes(opcode, in));
  if (name == "dp4a" || name == "dp2a") {
    const unsigned count = name == "dp4a" ? 4 : 2;
    const unsigned first = opcode.has("hi") ? 2 : 0;
    SignedWide sum = static_cast<SignedWide>(in[2]);
    for (unsigned i = 0; i < count; ++i) {
      const IntegerType a{opcode.types[0].is_signed, 32 / count};
      const IntegerType b{opcode.types[1].is_signed, 8};
      sum += a.value(in[0] >> (a.bits * i)) * b.value(in[1] >> (8 * (first + i)));
    }
    return one(static_cast<Wide>(sum));
  }
  return std::nullopt;
}

/// Comparisons, selections, conversions and moves of whole registers.
inline std::optional<Outcome> choices(const Opcode& opcode, const std::vector<Wide>& in) {
  const std::string& name = opcode.name();
  const auto one = [](Wide value) { return Outcome{{value}, false}; };
  if (name == "setp" || name == "set") {
    const IntegerType type = opcode.types.back();
    const bool holds = compares(opcode.parts[1], type.value(in[0]), type.value(in[1]));
    const bool with = in.size() > 2 && in[2] != 0;
    const bool result = combines(opcode, holds, with);
    if (name == "setp") return Outcome{{Wide{result}, Wide{combines(opcode, !holds, with)}}, false};
    if (opcode.has("f32")) return one(result ? 0x3f800000 : 0);
    return one(result ? ~Wide{0} : 0);
  }
  if (name == "selp") return one(in[2] != 0 ? in[0] : in[1]);
  if (name == "slct") {
    if (opcode.parts.back() == "s32") return one(bit(in[2], 31) ? in[1] : in[0]);
    const auto raw = static_cast<std::uint32_t>(in[2]);
    const bool negative = (raw >> 31) != 0;
    const std::uint32_t exponent = raw >> 23 & 255;
    const std::uint32_t fraction = raw & 0x7fffff;
    const bool nan = exponent == 255 && fraction != 0;
    const bool zero = exponent == 0 && (fraction == 0 || opcode.has("ftz"));
    return one(!nan && (zero || !negative) ? in[0] : in[1]);
  }
  if (name == "cvt" && opcode.has("pack")) {
    const IntegerType to = opcode.types[0];
    const IntegerType word{true, 32};
    const auto field = [&](Wide raw) {
      return static_cast<Wide>(to.clamp(word.value(raw))) & ((Wide{1} << to.bits) - 1);
    };
    const Wide above = in.size() > 2 ? in[2] << (2 * to.bits) : 0;
    return one(above | field(in[0]) << to.bits | field(in[1]));
  }
  if (name == "cvt") {
    const SignedWide value = opcode.types[1].value(in[0]);
    return one(static_cast<Wide>(opcode.has("sat") ? opcode.types[0].clamp(value) : value));
  }
  if (name == "mov") return one(in[0]);
  return std::nullopt;
}

}  // namespace cudacore::simulator::testing
