// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/blocking.hpp"

// For the files that fill the function tables, which alone are compiled with CUDACORE_CHECK_GIL:
// all files that include this must be.

namespace cudacore::driver {

#ifdef CUDACORE_CHECK_GIL

/// Ends the process, naming the function, if the calling thread must not block.
void require_may_block(const char* function) noexcept;

template <auto Entry>
struct Checked;

template <typename Table, typename Result, typename... Args, Result (*Table::*Entry)(Args...)>
struct Checked<Entry> {
  static inline Result (*function)(Args...) = nullptr;
  static inline const char* name = nullptr;

  static Result call(Args... args) {
    require_may_block(name);
    return function(args...);
  }
};

/// Replaces one function of a table by one that checks each call, if it may block.
template <auto Entry, typename Table>
void check_blocking(Table& table, const char* name, Wait wait) {
  if (wait == Wait::quick || table.*Entry == nullptr) return;
  Checked<Entry>::function = table.*Entry;
  Checked<Entry>::name = name;
  table.*Entry = &Checked<Entry>::call;
}

#else

/// Only builds that check the GIL do this.
template <auto, typename Table>
void check_blocking(Table& /*table*/, const char* /*name*/, Wait /*wait*/) {}

#endif

}  // namespace cudacore::driver
