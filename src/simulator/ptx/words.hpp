// SPDX-License-Identifier: Apache-2.0
//
// The words of PTX that stand behind a dot, and the names of predefined registers.
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

/// The directive that a word without its dot names.
[[nodiscard]] Directive directive_of(std::string_view word) noexcept;

/// The fundamental type that a word without its dot names.
[[nodiscard]] std::optional<Type> type_of(std::string_view word) noexcept;

/// The space of a variable, where a directive names one.
[[nodiscard]] std::optional<Space> space_of(Directive directive) noexcept;

/// Whether ".texref" and its like are meant: types with no value of their own.
[[nodiscard]] bool is_opaque_type(std::string_view word) noexcept;

/// Whether a name with its '%', but no component, is a predefined register.
[[nodiscard]] bool is_special_register(std::string_view name) noexcept;

/// Whether that register has components x, y, z and w.
[[nodiscard]] bool is_special_vector(std::string_view name) noexcept;

}  // namespace cudacore::simulator::ptx
