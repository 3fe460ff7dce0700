// SPDX-License-Identifier: Apache-2.0
//
// How the selectors of video instructions ("%r1.b0", "%r2.h10", "-%r3") stand in Instruction::imm2.
// Zero means that none is written.
//
// Scalar ones (vadd, vset, vmad ...): four bits for each operand, the first lowest: 1 to 4 for .b0
// to .b3, 5 and 6 for .h0 and .h1, and 8 more where the operand is negated.
// SIMD ones (vadd2, vadd4 ...): what differs from no selector at all: in bits 0 to 3 the elements
// that the destination's mask leaves out, from bit 4 the selector of a and from bit 16 that of b,
// three bits for each element, exclusive-ored with what they are where not written.
#pragma once

#include <cstdint>
#include <string_view>

namespace cudacore::simulator {

/// Elements of a SIMD video instruction: 2, 4; else 0.
[[nodiscard]] constexpr unsigned video_elements(std::string_view mnemonic) noexcept {
  if (mnemonic.empty() || mnemonic[0] != 'v') return 0;
  return mnemonic.back() == '2' ? 2 : mnemonic.back() == '4' ? 4 : 0;
}

/// What an operand's selector ("b0", "h1", "h10", "b3210", or nothing) and sign add to imm2, by
/// exclusive or; a negative number where the selector is wrong there.
[[nodiscard]] constexpr std::int64_t video_selector(std::string_view mnemonic, unsigned operand,
                                                    std::string_view selector,
                                                    bool negated = false) noexcept {
  const unsigned elements = video_elements(mnemonic);
  if (operand > 3) return -1;
  if (elements == 0) {
    std::int64_t code = 0;
    if (!selector.empty()) {
      if (selector.size() != 2) return -1;
      const bool byte = selector[0] == 'b';
      const int index = selector[1] - '0';
      if ((!byte && selector[0] != 'h') || index < 0 || index > (byte ? 3 : 1)) return -1;
      code = byte ? 1 + index : 5 + index;
    }
    return (code | (negated ? 8 : 0)) << (4 * operand);
  }
  if (negated) return -1;
  if (selector.empty()) return 0;
  if (operand > 2 || selector[0] != (elements == 2 ? 'h' : 'b')) return -1;
  const std::string_view digits = selector.substr(1);
  if (digits.empty() || digits.size() > elements) return -1;
  const unsigned choices = operand == 0 ? elements : 2 * elements;
  for (const char digit : digits) {
    if (digit < '0' || static_cast<unsigned>(digit - '0') >= choices) return -1;
  }
  if (operand == 0) {
    unsigned kept = 0;
    for (const char digit : digits) kept |= 1u << (digit - '0');
    return kept ^ ((1u << elements) - 1);
  }
  if (digits.size() != elements) return -1;
  std::int64_t code = 0;
  for (unsigned i = 0; i < elements; ++i) {
    const auto chosen = static_cast<unsigned>(digits[elements - 1 - i] - '0');
    const unsigned usual = operand == 1 ? i : elements + i;
    code |= std::int64_t{chosen ^ usual} << (3 * i);
  }
  return code << (operand == 1 ? 4 : 16);
}

}  // namespace cudacore::simulator
