// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tile/kernel.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {

/// The name of a lambda, defined before the kernel, that reads or writes an element in the order
/// and scope of the operation's attributes.
[[nodiscard]] std::string load_function(Printer& printer, const Operation& operation,
                                        Element element);
[[nodiscard]] std::string store_function(Printer& printer, const Operation& operation,
                                         Element element);

/// The same of an atomic operation. It gives the old value, or nothing if the operation does not.
[[nodiscard]] std::string atomic_function(Printer& printer, const Operation& operation,
                                          Element element);

}  // namespace cudacore::tile
