// SPDX-License-Identifier: Apache-2.0
//
// What video instructions do, with selectors on their operands. GPUs have no scalar ones: the
// assembler replaces them by sequences, which don't always do what PTX's manual says.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/video_selectors.hpp"
#include "simulator/integer_ops_reference.hpp"

namespace cudacore::simulator::testing {

/// Elements of a register that a video instruction works on.
inline unsigned video_elements(std::string_view mnemonic) {
  const char last = mnemonic.back();
  return last == '2' || last == '4' ? static_cast<unsigned>(last - '0') : 1;
}

/// The selectors of a video instruction as they are written, for operands d, a, b, c.
struct VideoSelectors {
  std::array<std::string, 4> text;
  std::array<bool, 4> negated{};

  /// Nothing if a selector doesn't belong to the instruction.
  [[nodiscard]] std::optional<std::uint32_t> modifiers(std::string_view mnemonic) const {
    std::array<ptx::Operand, 4> operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      operands[i].kind = ptx::Operand::Kind::reg;
      operands[i].name = text[i];
      operands[i].negated = negated[i];
    }
    return video_modifiers(video_elements(mnemonic), operands);
  }
};

/// Selectors that a form may have.
inline VideoSelectors random_selectors(const Opcode& opcode, std::string_view signature,
                                       std::mt19937_64& random) {
  VideoSelectors selectors;
  const std::string& name = opcode.name();
  const auto any = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
  if (name[0] != 'v') return selectors;
  const unsigned elements = video_elements(name);
  if (elements == 1) {
    constexpr std::array parts{"", "b0", "b1", "b2", "b3", "h0", "h1"};
    const bool second = opcode.has("add") || opcode.has("min") || opcode.has("max");
    const bool mad = name == "vmad";
    if (!mad && !second && signature.size() == 4) selectors.text[0] = parts[any(7)];
    selectors.text[1] = parts[any(7)];
    selectors.text[2] = parts[any(7)];
    if (mad && !opcode.has("po")) {
      const unsigned which = any(4);
      if (which > 0) selectors.negated[which] = true;
    }
    return selectors;
  }
  const char letter = elements == 2 ? 'h' : 'b';
  for (const unsigned operand : {1u, 2u}) {
    if (any(3) == 0) continue;
    selectors.text[operand] = letter;
    for (unsigned k = 0; k < elements; ++k) {
      selectors.text[operand] += static_cast<char>('0' + any(2 * elements));
    }
  }
  if (any(2) == 0) {
    std::string mask;
    for (unsigned k = elements; k-- > 0;) {
      if (any(2) == 0) mask += static_cast<char>('0' + k);
    }
    if (!mask.empty()) selectors.text[0] = letter + mask;
  }
  return selectors;
}

inline SignedWide video_part(Wide raw, bool is_signed, std::string_view selector) {
  if (selector.empty()) return IntegerType{is_signed, 32}.value(raw);
  const unsigned size = selector[0] == 'b' ? 8 : 16;
  const auto index = static_cast<unsigned>(selector[1] - '0');
  return IntegerType{is_signed, size}.value(raw >> (size * index));
}

inline Outcome video_mad(const Opcode& opcode, const std::vector<Wide>& in,
                         const VideoSelectors& selectors) {
  const IntegerType word{true, 32};
  const auto signed_part = [&](std::size_t i) {
    const SignedWide value =
        video_part(in[i], opcode.types[i + 1].is_signed, selectors.text[i + 1]);
    return word.value(static_cast<Wide>(value));
  };
  const bool minus_product = selectors.negated[1] != selectors.negated[2];
  const bool minus_c = selectors.negated[3];
  const bool is_signed =
      opcode.types[1].is_signed || opcode.types[2].is_signed || minus_product || minus_c;
  const SignedWide product = signed_part(0) * signed_part(1);
  const SignedWide c = word.value(in[2]);
  SignedWide sum = (minus_product ? -product : product) + (minus_c ? -c : c);
  if (opcode.has("po")) sum += 1;
  const unsigned shift = opcode.has("shr7") ? 7 : opcode.has("shr15") ? 15 : 0;
  if (shift != 0) sum = IntegerType{is_signed, 64}.value(static_cast<Wide>(sum)) >> shift;
  if (opcode.has("sat")) sum = IntegerType{is_signed, 32}.clamp(sum);
  return Outcome{{static_cast<Wide>(sum)}, false};
}

/// The result of the operation itself.
inline SignedWide video_value(const Opcode& opcode, std::string_view operation, SignedWide a,
                              SignedWide b) {
  if (operation == "set") return compares(opcode.parts[3], a, b) ? 1 : 0;
  if (operation == "shl" || operation == "shr") {
    const SignedWide n = opcode.has("wrap") ? b % 32 : std::min(b, SignedWide{32});
    return operation == "shl" ? a << n : a >> n;
  }
  return *elementary(operation, a, b);
}

/// .sat of scalar instructions, as implemented by the assembler's sequences.
inline SignedWide video_saturated(std::string_view operation, bool is_signed, unsigned size,
                                  SignedWide value) {
  if (operation == "shl" || operation == "shr") {
    value = IntegerType{true, 34}.value(static_cast<Wide>(value));
    return IntegerType{is_signed, 32}.clamp(value);
  }
  if (size == 32 && is_signed) return IntegerType{true, 32}.clamp(value);
  if (size == 32) return std::max(value, SignedWide{0});
  const SignedWide most = IntegerType{is_signed, size}.max();
  return value < 0 ? most : std::min(value, most);
}

/// The second operation of scalar instructions, as implemented by those sequences.
inline SignedWide video_second(const Opcode& opcode, std::string_view operation, bool is_signed,
                               SignedWide value, Wide c) {
  if (opcode.has("add")) return value + static_cast<SignedWide>(c);
  const bool shift = operation == "shl" || operation == "shr";
  const bool word = operation == "add" || operation == "sub" || (shift && opcode.has("sat"));
  value = IntegerType{true, word ? 32u : 64u}.value(static_cast<Wide>(value));
  value = IntegerType{is_signed, 64}.value(static_cast<Wide>(value));
  const SignedWide third = IntegerType{is_signed, 32}.value(c);
  return opcode.has("min") ? std::min(value, third) : std::max(value, third);
}

inline Outcome video_scalar(const Opcode& opcode, std::string_view operation,
                            const std::vector<Wide>& in, const VideoSelectors& selectors) {
  const std::size_t first = operation == "set" ? 0 : 1;
  const bool d_signed = opcode.types[0].is_signed;
  SignedWide value = video_value(
      opcode, operation, video_part(in[0], opcode.types[first].is_signed, selectors.text[1]),
      video_part(in[1], opcode.types[first + 1].is_signed, selectors.text[2]));
  const std::string& to = selectors.text[0];
  const unsigned size = to.empty() ? 32 : to[0] == 'b' ? 8 : 16;
  if (opcode.has("sat")) value = video_saturated(operation, d_signed, size, value);
  if (opcode.has("add") || opcode.has("min") || opcode.has("max")) {
    value = video_second(opcode, operation, d_signed, value, in[2]);
  }
  if (to.empty()) return Outcome{{static_cast<Wide>(value)}, false};
  const unsigned at = size * static_cast<unsigned>(to[1] - '0');
  const Wide field = ((Wide{1} << size) - 1) << at;
  // A value for .h1 is not moved there.
  const Wide placed = to == "h1" ? static_cast<Wide>(value) : static_cast<Wide>(value) << at;
  return Outcome{{(in[2] & ~field) | (placed & field)}, false};
}

inline std::optional<Outcome> video(const Opcode& opcode, const std::vector<Wide>& in,
                                    const VideoSelectors& selectors) {
  const std::string& name = opcode.name();
  if (name[0] != 'v') return std::nullopt;
  if (name == "vmad") return video_mad(opcode, in, selectors);
  const unsigned elements = video_elements(name);
  const std::string operation = name.substr(1, name.size() - 1 - (elements == 1 ? 0 : 1));
  if (elements == 1) return video_scalar(opcode, operation, in, selectors);
  const bool set = operation == "set";
  const IntegerType a_type = opcode.types[set ? 0 : 1];
  const IntegerType b_type = opcode.types[set ? 1 : 2];
  const bool d_signed = !set && opcode.types[0].is_signed;
  const Wide c = in[2];
  const unsigned size = 32 / elements;
  const auto chosen = [&](unsigned operand, unsigned k) {
    const std::string& text = selectors.text[operand];
    const unsigned index = text.empty() ? (operand == 1 ? k : elements + k)
                                        : static_cast<unsigned>(text[elements - k] - '0');
    const IntegerType type{(operand == 1 ? a_type : b_type).is_signed, size};
    return type.value((in[1] << 32 | in[0]) >> (size * index));
  };
  Wide result = opcode.has("add") ? c : 0;
  for (unsigned k = 0; k < elements; ++k) {
    const std::string& mask = selectors.text[0];
    const bool kept = mask.empty() || mask.find(static_cast<char>('0' + k)) != std::string::npos;
    SignedWide value = video_value(opcode, operation, chosen(1, k), chosen(2, k));
    if (opcode.has("add")) {
      if (kept) result += static_cast<Wide>(value);
      continue;
    }
    if (opcode.has("sat")) value = IntegerType{d_signed, size}.clamp(value);
    const Wide element = kept ? static_cast<Wide>(value) : c >> (size * k);
    result |= (element & ((Wide{1} << size) - 1)) << (size * k);
  }
  return Outcome{{result}, false};
}

}  // namespace cudacore::simulator::testing
