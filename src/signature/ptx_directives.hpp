// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace cudacore::signature {

/// A directive at the top level of a PTX module that declares or defines a kernel, a function or a
/// variable. Its views are parts of the module's text.
struct PtxDirective {
  std::string_view linkage;  ///< ".visible", ".extern", ".weak", ".common"; empty if none
  std::string_view space;    ///< ".entry", ".func", ".global", ".const", ".shared"
  std::string_view symbol;
  std::string_view head;  ///< the text up to the symbol
  bool has_body = false;

  [[nodiscard]] bool is_function() const noexcept { return space == ".entry" || space == ".func"; }
  /// Whether it is more than a declaration.
  [[nodiscard]] bool is_definition() const noexcept {
    return linkage != ".extern" && (has_body || !is_function());
  }
};

/// The directives of a module that name a symbol, in order. Text that cannot be read is skipped.
[[nodiscard]] std::vector<PtxDirective> directives_in_ptx(std::string_view ptx);

}  // namespace cudacore::signature
