// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/directive_text.hpp"

// The macros that a text defines, as far as they matter for the names of headers. Texts are without
// line continuations.

namespace cudacore::compile {

/// `#define NAME ...` in a text.
struct MacroDefinition {
  std::string_view name;
  std::string_view rest;  ///< of the text, from behind the name

  [[nodiscard]] bool has_parameters() const noexcept { return rest.starts_with('('); }
  /// What a macro without parameters is replaced by.
  [[nodiscard]] std::string body() const;
};

/// A text's definitions of some macros.
/// @param names in ascending order
[[nodiscard]] std::vector<MacroDefinition> definitions_in(std::span<const std::string> names,
                                                          std::string_view text);

/// What a macro stands for.
struct MacroMeaning {
  std::optional<HeaderMention> header;  ///< "name" or <name>
  std::string macro;                    ///< another macro; empty if it is something else
};

[[nodiscard]] MacroMeaning meaning_of(const MacroDefinition& definition);

/// Whether NVRTC defines a macro of this name itself, in no text that can be read.
[[nodiscard]] bool is_predefined(std::string_view word) noexcept;
/// Whether a name that no text defines may be such a macro.
[[nodiscard]] bool may_be_predefined(std::string_view word) noexcept;

/// The words in a header's name, or in a part of it, which the preprocessor replaces if they are
/// macros; unset if it may change the name in other ways.
[[nodiscard]] std::optional<std::vector<std::string>> replaceable_words(std::string_view name);

/// The macro whose definition a place belongs to.
struct EnclosingMacro {
  std::string name;
  std::vector<std::string> parameters;

  [[nodiscard]] bool has_parameter(std::string_view word) const noexcept;
};

/// The macro whose definition `place` is in; unset if it is in none.
/// @param allowed how many characters may be read; 0 afterwards if that weren't enough
[[nodiscard]] std::optional<EnclosingMacro> macro_around(std::string_view text, std::size_t place,
                                                         std::size_t& allowed);

}  // namespace cudacore::compile
