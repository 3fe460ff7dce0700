// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cudacore/error.hpp"

namespace cudacore::compile {

/// How a field of ProgramOptions or LinkerOptions becomes a flag; the option tables explain each
/// rule.
enum class FlagRule { none, plain, boolean, digit, value, each, level, macro, raw, unsupported };

/// Whether a field was set; for the rules plain and unsupported, a bool that is false counts as
/// unset.
template <FlagRule rule, typename T>
[[nodiscard]] bool asks_for_something(const T& field) {
  if constexpr (std::is_same_v<T, std::optional<bool>>) {
    constexpr bool false_is_unset =
        rule == FlagRule::plain || rule == FlagRule::unsupported || rule == FlagRule::none;
    return field.has_value() && (*field || !false_is_unset);
  } else if constexpr (requires { field.has_value(); }) {
    return field.has_value();
  } else {
    return !field.empty();
  }
}

[[nodiscard]] inline std::string flag_text(const std::string& value) { return value; }
[[nodiscard]] inline std::string flag_text(int value) { return std::to_string(value); }
[[nodiscard]] inline std::string flag_text(
    const std::pair<std::string, std::optional<std::string>>& macro) {
  return macro.second ? macro.first + "=" + *macro.second : macro.first;
}

/// Appends what a field becomes on the command line of `tool`.
/// @throw NotSupportedError if the field is set and the tool has no flag for it.
template <FlagRule rule, typename T>
void append_flag(std::vector<std::string>& flags, std::string_view tool, std::string_view name,
                 std::string_view flag, const T& field) {
  if (!asks_for_something<rule>(field)) return;
  const std::string text(flag);
  if constexpr (rule == FlagRule::plain) {
    flags.push_back(text);
  } else if constexpr (rule == FlagRule::boolean) {
    flags.push_back(text + (*field ? "=true" : "=false"));
  } else if constexpr (rule == FlagRule::digit) {
    flags.push_back(text + (*field ? "=1" : "=0"));
  } else if constexpr (rule == FlagRule::value) {
    flags.push_back(text + "=" + flag_text(*field));
  } else if constexpr (rule == FlagRule::level) {
    flags.push_back(text + flag_text(*field));
  } else if constexpr (rule == FlagRule::each || rule == FlagRule::macro) {
    for (const auto& value : field) flags.push_back(text + "=" + flag_text(value));
  } else if constexpr (rule == FlagRule::raw) {
    flags.insert(flags.end(), field.begin(), field.end());
  } else if constexpr (rule == FlagRule::unsupported) {
    throw NotSupportedError(std::string(tool) + " has no flag for the option " + std::string(name) +
                            "; leave it out");
  }
}

/// The flags as a compiler takes them, which are valid as long as `flags`.
[[nodiscard]] inline std::vector<const char*> c_strings(std::span<const std::string> flags) {
  std::vector<const char*> strings;
  strings.reserve(flags.size());
  for (const std::string& flag : flags) strings.push_back(flag.c_str());
  return strings;
}

}  // namespace cudacore::compile
