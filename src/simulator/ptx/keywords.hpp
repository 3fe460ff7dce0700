// SPDX-License-Identifier: Apache-2.0
//
// The words of PTX that follow a dot, and the names of predefined registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {

enum class Directive : std::uint8_t {
  unknown,
  abi_preserve,
  abi_preserve_control,
  address_size,
  alias,
  align,
  attribute,
  blocksareclusters,
  branchtargets,
  callprototype,
  calltargets,
  common,
  constant,
  entry,
  explicitcluster,
  external,
  file,
  func,
  global,
  loc,
  local,
  maxclusterrank,
  maxnctapersm,
  maxnreg,
  maxntid,
  minnctapersm,
  noreturn,
  param,
  pragma,
  ptr,
  reg,
  reqnctapercluster,
  reqntid,
  section,
  shared,
  target,
  v2,
  v4,
  v8,
  version,
  visible,
  weak,
};

/// The directive for a word without its dot.
[[nodiscard]] Directive directive_of(std::string_view word) noexcept;

/// The fundamental type for a word without its dot.
[[nodiscard]] std::optional<Type> type_of(std::string_view word) noexcept;

/// The space of a variable, if a directive names one.
[[nodiscard]] std::optional<Space> space_of(Directive directive) noexcept;

/// Whether the word is ".texref" or similar: a type without a value of its own.
[[nodiscard]] bool is_opaque_type(std::string_view word) noexcept;

/// Whether a name with its '%', but without a component, is a predefined register.
[[nodiscard]] bool is_special_register(std::string_view name) noexcept;

/// Whether that register has the components x, y, z and w.
[[nodiscard]] bool is_special_vector(std::string_view name) noexcept;

}  // namespace cudacore::simulator::ptx
