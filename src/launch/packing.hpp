// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "cudacore/signature.hpp"
#include "signature/view_layout.hpp"

namespace cudacore::launching {

/// The argument that a parameter nearly always gets, which launchers pack without further thought.
enum class FastPath : std::uint8_t {
  integer,  ///< a plain integer within the slot's range
  float32,  ///< a plain floating-point number
  float64,  ///< the same
  pointer,  ///< a buffer, or an address within the slot's range
};

/// One step of a kernel's packing plan: what the parameter accepts, and where its bytes go in the
/// buffer that a launch fills.
struct Slot {
  ParamKind kind = ParamKind::opaque;
  FastPath fast_path = FastPath::integer;
  std::uint16_t view = 0;  ///< the number of its layout in the plan's views, from 1; 0 for others
  std::uint32_t size = 0;
  std::uint32_t offset = 0;  ///< aligned for the type, at least 8 bytes apart; not the driver's
  /// The range of plain integers whose low bytes can be stored without further checks; empty by
  /// default.
  std::int64_t lowest = 1;
  std::int64_t highest = 0;
};

/// The plan's step for a parameter, except for its offset.
[[nodiscard]] Slot make_slot(const Param& param) noexcept;

/// A parameter of which nothing else is known.
[[nodiscard]] inline Param make_param(ParamKind kind, std::size_t size) {
  Param param;
  param.kind = kind;
  param.size = size;
  return param;
}

/// How a launch lays out its arguments: one slot for each parameter, and the room for all.
struct PackingPlan {
  std::vector<Slot> slots;
  std::size_t bytes = 0;                     ///< a multiple of 16
  std::vector<signature::ViewLayout> views;  ///< of the parameters that are array views

  PackingPlan() = default;
  explicit PackingPlan(std::span<const Param> params);
};

/// The result of trying to pack a number. Destinations have room for at least 8 bytes.
enum class PackResult : std::uint8_t { ok, overflow, mismatch };

/// Whether an integer is within the range of which a slot stores the low bytes; stores it then.
[[nodiscard]] inline bool pack_within_range(const Slot& slot, std::int64_t value,
                                            unsigned char* destination) noexcept {
  if (value < slot.lowest || value > slot.highest) return false;
  std::memcpy(destination, &value, sizeof(value));
  return true;
}
/// Rounds to a float, which a finite value must not be too large for.
[[nodiscard]] inline PackResult pack_float32(double value, unsigned char* destination) noexcept {
  const auto rounded = static_cast<float>(value);
  if (std::isinf(rounded) && !std::isinf(value)) return PackResult::overflow;
  std::memcpy(destination, &rounded, sizeof(rounded));
  return PackResult::ok;
}

/// Converts a plain integer to the type that a slot declares, with a range check. `negative` says
/// how to read `bits`: as the two's complement of a negative number, or as an unsigned number.
[[nodiscard]] PackResult pack_integer(const Slot& slot, std::uint64_t bits, bool negative,
                                      unsigned char* destination) noexcept;
/// Converts a plain floating-point number; for float, half and bfloat16 it is rounded to nearest
/// even.
[[nodiscard]] PackResult pack_real(const Slot& slot, double value,
                                   unsigned char* destination) noexcept;
[[nodiscard]] PackResult pack_boolean(const Slot& slot, bool value,
                                      unsigned char* destination) noexcept;
[[nodiscard]] PackResult pack_complex(const Slot& slot, double real, double imaginary,
                                      unsigned char* destination) noexcept;
/// Stores a value that has exactly the given kind and size, as NumPy, ctypes and C++ values have.
[[nodiscard]] PackResult pack_exact(const Slot& slot, ParamKind kind, std::size_t size,
                                    const void* value, unsigned char* destination) noexcept;
/// An address.
[[nodiscard]] PackResult pack_pointer(const Slot& slot, std::uint64_t address,
                                      unsigned char* destination) noexcept;
/// The bytes of a struct.
[[nodiscard]] PackResult pack_bytes(const Slot& slot, const void* bytes, std::size_t size,
                                    unsigned char* destination) noexcept;

/// IEEE binary16 and bfloat16 bits of a double, rounded once, to nearest even.
[[nodiscard]] std::uint16_t to_float16(double value) noexcept;
[[nodiscard]] std::uint16_t to_bfloat16(double value) noexcept;

}  // namespace cudacore::launching
