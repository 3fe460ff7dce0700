// SPDX-License-Identifier: Apache-2.0
#include "compile/flag_effects.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "signature/cxx_text.hpp"

namespace cudacore::compile {
namespace {

enum class Effect : std::uint8_t {
  none,           ///< the result depends on the flag's text alone
  folder,         ///< a folder to search
  pre_include,    ///< a header
  macro,          ///< a definition
  debug,          ///< the result may contain the current folder
  passed_on,      ///< a flag of ptxas
  only_measures,  ///< the log contains times
  uses_files,     ///< reads or writes files other than headers
};

struct Flag {
  std::string_view name;
  Effect effect = Effect::none;
  bool may_stand_before_value = false;  ///< "-I folder": the value may be a flag of its own
};

constexpr auto known_flags = std::to_array<Flag>({
    {"gpu-architecture", Effect::none, true},
    {"arch", Effect::none, true},
    {"device-c"},
    {"dc"},
    {"device-w"},
    {"dw"},
    {"relocatable-device-code", Effect::none, true},
    {"rdc", Effect::none, true},
    {"extensible-whole-program"},
    {"ewp"},
    {"device-debug", Effect::debug},
    {"G", Effect::debug},
    {"g", Effect::debug},
    {"generate-line-info", Effect::debug},
    {"lineinfo", Effect::debug},
    {"numba-debug", Effect::debug},
    {"dopt", Effect::none, true},
    {"Ofast-compile", Effect::none, true},
    {"Ofc", Effect::none, true},
    {"fast-compile"},
    {"ptxas-options", Effect::passed_on, true},
    {"Xptxas", Effect::passed_on, true},
    {"maxrregcount", Effect::none, true},
    {"ftz", Effect::none, true},
    {"prec-sqrt", Effect::none, true},
    {"prec-div", Effect::none, true},
    {"fmad", Effect::none, true},
    {"use_fast_math"},
    {"extra-device-vectorization"},
    {"modify-stack-limit", Effect::none, true},
    {"dlink-time-opt"},
    {"dlto"},
    {"gen-opt-lto"},
    {"jump-table-density", Effect::none, true},
    {"jtd", Effect::none, true},
    {"device-stack-protector", Effect::none, true},
    {"define-macro", Effect::macro, true},
    {"D", Effect::macro, true},
    {"undefine-macro", Effect::none, true},
    {"U", Effect::none, true},
    {"include-path", Effect::folder, true},
    {"I", Effect::folder, true},
    {"pre-include", Effect::pre_include, true},
    {"include", Effect::pre_include, true},
    {"no-source-include"},
    {"std", Effect::none, true},
    {"builtin-move-forward", Effect::none, true},
    {"builtin-initializer-list", Effect::none, true},
    {"disable-warnings"},
    {"w"},
    {"Wreorder"},
    {"restrict"},
    {"device-as-default-execution-space"},
    {"default-device"},
    {"device-int128"},
    {"device-float128"},
    {"optimization-info", Effect::none, true},
    {"opt-info", Effect::none, true},
    {"display-error-number"},
    {"err-no"},
    {"no-display-error-number"},
    {"no-err-no"},
    {"diag-error", Effect::none, true},
    {"diag-suppress", Effect::none, true},
    {"diag-warn", Effect::none, true},
    {"brief-diagnostics", Effect::none, true},
    {"brief-diag", Effect::none, true},
    {"time", Effect::only_measures, true},
    {"split-compile", Effect::none, true},
    {"fdevice-syntax-only"},
    {"minimal"},
    {"no-cache"},
    {"frandom-seed", Effect::none, true},
    {"fdevice-time-trace", Effect::uses_files, true},
    {"pch", Effect::uses_files},
    {"create-pch", Effect::uses_files, true},
    {"use-pch", Effect::uses_files, true},
    {"pch-dir", Effect::uses_files, true},
    {"pch-verbose", Effect::none, true},
    {"pch-messages", Effect::none, true},
    {"instantiate-templates-in-pch", Effect::none, true},
    {"use-bundled-headers", Effect::uses_files, true},
});

/// Flags of ptxas, without dashes, that neither read nor write files nor measure anything.
constexpr auto ptxas_flags = std::to_array<std::string_view>({
    "v",
    "verbose",
    "w",
    "disable-warnings",
    "Werror",
    "warning-as-error",
    "warn-spills",
    "warn-on-spills",
    "warn-lmem-usage",
    "warn-on-local-memory-usage",
    "warn-double-usage",
    "warn-on-double-precision-use",
    "suppress-double-demote-warning",
    "suppress-stack-size-warning",
    "suppress-async-bulk-multicast-advisory-warning",
    "suppress-sparse-mma-advisory-info",
    "O",
    "O0",
    "O1",
    "O2",
    "O3",
    "O4",
    "opt-level",
    "allow-expensive-optimizations",
    "disable-optimizer-constants",
    "disable-optimizer-consts",
    "optimize-float-atomics",
    "dont-merge-basicblocks",
    "fmad",
    "maxrregcount",
    "func-maxrregcount",
    "device-function-maxrregcount",
    "regUsageLevel",
    "register-usage-level",
    "maxntid",
    "minnctapersm",
    "override-directive-values",
    "dlcm",
    "def-load-cache",
    "dscm",
    "def-store-cache",
    "flcm",
    "force-load-cache",
    "fscm",
    "force-store-cache",
    "pic",
    "position-independent-code",
    "preserve-relocs",
    "ret-end",
    "return-at-end",
    "sp-bound-check",
    "uumn",
    "legacy-bar-warp-wide-behavior",
    "make-errors-visible-at-exit",
    "no-membermask-overlap",
    "jtd",
    "jump-table-density",
    "device-stack-protector",
});

const Flag* find_flag(std::string_view name) noexcept {
  const auto* const found = std::find_if(known_flags.begin(), known_flags.end(),
                                         [name](const Flag& flag) { return flag.name == name; });
  return found == known_flags.end() ? nullptr : found;
}

/// A flag as it is written: its name without dashes, and its value, if it has one.
struct Written {
  const Flag* flag = nullptr;
  std::optional<std::string_view> value;
};

Written read_flag(std::string_view text) noexcept {
  constexpr std::string_view letters_before_value = "DIU";
  const std::string_view bare = text.substr(std::min(text.find_first_not_of('-'), text.size()));
  const std::size_t dashes = text.size() - bare.size();
  if (dashes == 0 || dashes > 2 || bare.empty()) return {};
  if (dashes == 1 && bare.size() > 1 && letters_before_value.find(bare[0]) != std::string::npos) {
    const std::string_view value = bare.substr(bare[1] == '=' ? 2 : 1);
    return {find_flag(bare.substr(0, 1)), value};
  }
  const std::size_t equals = bare.find('=');
  if (equals == std::string_view::npos) return {find_flag(bare), std::nullopt};
  return {find_flag(bare.substr(0, equals)), bare.substr(equals + 1)};
}

/// Whether a definition has a plain name: NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE.
bool is_macro(std::string_view definition) noexcept {
  const std::string_view name = definition.substr(0, definition.find_first_of("=("));
  return !name.empty() && !signature::is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), signature::is_word_char);
}

/// Whether NVRTC uses a path as it is, without trimming or splitting it.
bool is_plain_path(std::string_view path) noexcept {
  return !path.empty() && path.find_first_of(",\"") == std::string_view::npos &&
         !signature::is_space(path.front()) && !signature::is_space(path.back());
}

}  // namespace

std::string ptxas_trouble(std::string_view flag) {
  const std::string_view bare = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  const std::size_t dashes = flag.size() - bare.size();
  const std::size_t equals = std::min(bare.find('='), bare.size());
  const std::string_view value = bare.substr(equals);
  const bool is_known = (dashes == 1 || dashes == 2) &&
                        std::find(ptxas_flags.begin(), ptxas_flags.end(), bare.substr(0, equals)) !=
                            ptxas_flags.end();
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
    return signature::is_word_char(c) || c == '=' || c == ',' || c == '-';
  });
  if (is_known && is_plain) return {};
  return "the cache doesn't know what ptxas does with " + std::string(flag);
}

FlagEffects effects_of(std::span<const std::string> flags) {
  FlagEffects effects;
  const auto trouble = [&effects](std::string why) {
    if (effects.trouble.empty()) effects.trouble = std::move(why);
  };
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& text = flags[i];
    const Written written = read_flag(text);
    if (written.flag == nullptr) {
      trouble("the cache doesn't know what the option " + text + " does");
      continue;
    }
    std::string value(written.value.value_or(""));
    if (!written.value && written.flag->may_stand_before_value && i + 1 < flags.size()) {
      value = flags[++i];
    }
    switch (written.flag->effect) {
      case Effect::none:
        break;
      case Effect::folder:
        if (!is_plain_path(value)) trouble("the path in " + text + " may mean several");
        effects.folders.push_back(std::move(value));
        break;
      case Effect::pre_include:
        if (!is_plain_path(value)) trouble("the path in " + text + " may mean several");
        effects.pre_includes.push_back(std::move(value));
        break;
      case Effect::macro:
        value = signature::trim(value);  // as NVRTC does
        if (!is_macro(value)) trouble("the cache cannot read the macro in " + text);
        effects.macros.push_back(std::move(value));
        break;
      case Effect::debug:
        effects.shows_current_folder = true;
        break;
      case Effect::passed_on:
        if (std::string why = ptxas_trouble(value); !why.empty()) {
          effects.ptxas_may_read_files = true;
          trouble(std::move(why));
        }
        break;
      case Effect::only_measures:
        trouble(text + " measures this compilation");
        break;
      case Effect::uses_files:
        trouble(text + " reads or writes files besides headers");
        break;
    }
  }
  return effects;
}

const char* no_cache_flag(std::span<const std::string> flags, int major, int minor) {
  const bool has_cache = major > 12 || (major == 12 && minor >= 9);
  return has_cache && effects_of(flags).ptxas_may_read_files ? "-no-cache" : nullptr;
}

}  // namespace cudacore::compile
