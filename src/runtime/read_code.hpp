// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "cudacore/object_code.hpp"
#include "error/describe.hpp"

namespace cudacore {

/// Calls `read`, which reads untrusted bytes and doesn't know their name. If it rejects them, adds
/// the name to the message: `damaged cubin "axpy": it has no ...`.
/// @throw std::invalid_argument
template <class Read>
decltype(auto) read_code(CodeType type, const std::string& name, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const std::invalid_argument& error) {
    std::string_view what = error.what();
    const std::string kind(to_string(type));
    std::string start = kind;
    if (const std::string damaged = "damaged " + kind; what.starts_with(damaged + ": ")) {
      what.remove_prefix(damaged.size() + 2);
      start = damaged;
    }
    throw std::invalid_argument(error::with_name(start, name) + ": " + std::string(what));
  }
}

}  // namespace cudacore
