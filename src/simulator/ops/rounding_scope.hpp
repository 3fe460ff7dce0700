// SPDX-License-Identifier: Apache-2.0
//
// Runs a handler with a processor rounding mode other than to nearest.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

#if defined(__x86_64__)
enum class Rounding : unsigned { rn = 0, rm = 0x2000, rp = 0x4000, rz = 0x6000 };

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) noexcept : before_(_mm_getcsr()) {
    _mm_setcsr((before_ & ~0x6000u) | static_cast<unsigned>(rounding));
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
  ~RoundingScope() { _mm_setcsr(before_); }

 private:
  unsigned before_;
};
#else
enum class Rounding : int {
  rn = FE_TONEAREST,
  rm = FE_DOWNWARD,
  rp = FE_UPWARD,
  rz = FE_TOWARDZERO
};

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) noexcept : before_(std::fegetround()) {
    std::fesetround(static_cast<int>(rounding));
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
  ~RoundingScope() { std::fesetround(before_); }

 private:
  int before_;
};
#endif

/// A pointer that is opaque to the compiler: what it points to is not inlined, so that no
/// arithmetic moves out of a RoundingScope.
template <class F>
[[gnu::always_inline]] inline F* opaque(F* function) noexcept {
  asm volatile("" : "+r"(function)::"memory");
  return function;
}

template <Rounding R, Handler Run>
void rounded(Warp& warp, const Instruction& in) {
  const RoundingScope scope(R);
  opaque(Run)(warp, in);
}

}  // namespace
}  // namespace cudacore::simulator
