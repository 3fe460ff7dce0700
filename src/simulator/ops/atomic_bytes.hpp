// SPDX-License-Identifier: Apache-2.0
//
// Atomic reads, writes and exchanges of values of 8 to 128 bits, at host addresses. All have the
// strictest memory order that PTX has for their kind, which costs nothing extra on x86.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "simulator/ops/memory_forms.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: shared by files of forms

/// If the value is `expected`, stores `desired`; otherwise returns false and sets `expected` to the
/// current value.
template <class T>
[[gnu::always_inline]] inline bool compare_exchange(std::byte* host, T& expected, T desired) {
  return __atomic_compare_exchange_n(reinterpret_cast<T*>(host), &expected, desired, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/// The compiler would call a library that may take a lock, which other accesses don't take.
template <>
inline bool compare_exchange(std::byte* host, Wide& expected, Wide desired) {
#if defined(__x86_64__)
  bool equal;
  __asm__ __volatile__("lock cmpxchg16b %1"
                       : "=@cce"(equal), "+m"(*reinterpret_cast<Wide*>(host)), "+a"(expected.low),
                         "+d"(expected.high)
                       : "b"(desired.low), "c"(desired.high)
                       : "memory");
  return equal;
#elif defined(__aarch64__)
  std::uint64_t low;
  std::uint64_t high;
  std::uint32_t failed;
  do {
    __asm__ __volatile__("ldaxp %0, %1, [%2]" : "=&r"(low), "=&r"(high) : "r"(host) : "memory");
    const bool equal = low == expected.low && high == expected.high;
    // Writes back what was read if it differs: only then is the read known to be atomic.
    const Wide next = equal ? desired : Wide{low, high};
    __asm__ __volatile__("stlxp %w0, %1, %2, [%3]"
                         : "=&r"(failed)
                         : "r"(next.low), "r"(next.high), "r"(host)
                         : "memory");
    if (failed == 0 && equal) return true;
  } while (failed != 0);
  expected = {low, high};
  return false;
#else
#error "no 128-bit atomics for this processor"
#endif
}

template <class T>
[[gnu::always_inline]] inline T atomic_load(std::byte* host) {
  if constexpr (std::is_same_v<T, Wide>) {
    Wide value{};
    compare_exchange(host, value, value);
    return value;
  } else {
    return __atomic_load_n(reinterpret_cast<T*>(host), __ATOMIC_ACQUIRE);
  }
}

/// Replaces the value by the result of `change`; returns the old value.
template <class T, class Change>
[[gnu::always_inline]] inline T atomic_change(std::byte* host, Change change) {
  T old = atomic_load<T>(host);
  while (!compare_exchange(host, old, change(old))) {
  }
  return old;
}

template <class T>
[[gnu::always_inline]] inline void atomic_store(std::byte* host, T value) {
  if constexpr (std::is_same_v<T, Wide>) {
    atomic_change<Wide>(host, [&](Wide) { return value; });
  } else {
    __atomic_store_n(reinterpret_cast<T*>(host), value, __ATOMIC_RELEASE);
  }
}

template <class T>
[[gnu::always_inline]] inline T atomic_exchange(std::byte* host, T value) {
  if constexpr (std::is_same_v<T, Wide>) {
    return atomic_change<Wide>(host, [&](Wide) { return value; });
  } else {
    return __atomic_exchange_n(reinterpret_cast<T*>(host), value, __ATOMIC_SEQ_CST);
  }
}

}  // namespace
}  // namespace cudacore::simulator
