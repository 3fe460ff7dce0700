// SPDX-License-Identifier: Apache-2.0
//
// The names that are visible at a position in a PTX text: nested scopes, and families of registers
// such as "%r<100>".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {

struct Symbol {
  enum class Kind : std::uint8_t {
    global_variable,  ///< Module::variables[index]
    function,         ///< Module::functions[index], which may be a declaration of it
    variable,         ///< Function::variables[index]
    reg,              ///< the first of `width` registers of the function: index
    family,           ///< name<count>: `width` registers for each number
    label,            ///< an instruction of the function: index
    table,            ///< Function::tables[index]
    prototype,        ///< Function::prototypes[index]
  };

  std::string_view name;
  Kind kind = Kind::reg;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint32_t width = 1;
  std::uint32_t depth = 0;  ///< of the scope
  std::uint32_t hash = 0;
  std::uint32_t next = 0;  ///< older symbol of the same bucket, plus 1
  bool shadows = false;    ///< it makes the fast lookup of a family's registers unsafe

  /// Whether it follows the rules for labels: it may be used before it is declared.
  [[nodiscard]] bool is_label() const noexcept {
    return kind == Kind::label || kind == Kind::table || kind == Kind::prototype;
  }
};

/// The registers that a name refers to.
struct RegisterRange {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t index = none;
  std::uint32_t width = 1;
};

class Symbols {
 public:
  static constexpr std::uint32_t deepest = 256;

  Symbols();

  void open_scope();
  void close_scope();
  [[nodiscard]] std::uint32_t depth() const noexcept {
    return static_cast<std::uint32_t>(scopes_.size());
  }

  /// Declares a name in the innermost scope. Fills in its depth and links.
  /// @returns false, without changing anything, if the scope already has that name.
  bool declare(Symbol symbol);
  /// The innermost symbol of that name, except families. Valid until the next declaration.
  [[nodiscard]] const Symbol* find(std::string_view name) const noexcept;
  /// The same, for changing a symbol's index or kind, but not its name.
  [[nodiscard]] Symbol* find(std::string_view name) noexcept;

  /// Registers by name: "%r17" of a family, or a single "%p". A variable or a label of the same
  /// name in an inner scope hides them.
  [[nodiscard]] RegisterRange find_register(std::string_view name) noexcept {
    const char last = name.back();
    if (last >= '0' && last <= '9') {
      const Key key = key_of(name);
      const Recent& recent = recent_[key.slot];
      if (key.prefix == recent.prefix && key.prefix != 0 && key.number < recent.count) {
        return {recent.index + key.number * recent.width, recent.width};
      }
    }
    return find_register_slowly(name);
  }

 private:
  struct Scope {
    std::size_t first_symbol;
    bool forget;  ///< its declarations must not be cached beyond it
  };
  struct Key {
    std::uint64_t prefix = 0;  ///< 0: not in the form that the fast lookup knows
    std::uint32_t number = 0;
    std::uint32_t slot = 0;
  };
  /// A recently used family, by its packed prefix.
  struct Recent {
    std::uint64_t prefix = 0;
    std::uint32_t index = 0;
    std::uint32_t count = 0;
    std::uint32_t width = 1;
  };

  static Key key_of(std::string_view name) noexcept {
    constexpr std::size_t longest_prefix = 8;
    constexpr std::size_t most_digits = 7;
    std::size_t at = name.size();
    std::uint32_t number = 0;
    std::uint32_t scale = 1;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') {
      if (name.size() - at == most_digits) return {};
      --at;
      number += static_cast<std::uint32_t>(name[at] - '0') * scale;
      scale *= 10;
    }
    if (at == 0 || at > longest_prefix || at == name.size()) return {};
    if (name[at] == '0' && name.size() - at > 1) return {};
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < at; ++i) {
      prefix = prefix << 8U | static_cast<unsigned char>(name[i]);
    }
    return {prefix, number, static_cast<std::uint32_t>(prefix * 0x9E3779B97F4A7C15U >> 59U)};
  }

  [[nodiscard]] RegisterRange find_register_slowly(std::string_view name) noexcept;
  struct Member {
    const Symbol* family = nullptr;
    std::uint32_t number = 0;
  };
  [[nodiscard]] Member find_member(std::string_view name) const noexcept;
  [[nodiscard]] bool family_clashes(const Symbol& family) const;
  template <typename Fits>
  [[nodiscard]] const Symbol* find_if(std::string_view name, std::uint32_t hash,
                                      Fits fits) const noexcept;
  void forget_recent() noexcept { recent_ = {}; }
  void rehash();

  std::vector<Symbol> symbols_;
  std::vector<std::uint32_t> buckets_;  ///< newest symbol of each, plus 1
  std::vector<Scope> scopes_;
  std::size_t families_ = 0;   ///< currently declared
  std::size_t numbered_ = 0;   ///< other names currently declared that end in a digit
  std::size_t shadowing_ = 0;  ///< symbols currently declared with `shadows`
  std::array<Recent, 32> recent_{};
};

}  // namespace cudacore::simulator::ptx
