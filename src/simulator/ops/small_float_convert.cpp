// SPDX-License-Identifier: Apache-2.0
//
// cvt to and from formats of 4, 6 and 8 bits and tf32, in pairs and groups of four, and to f16 and
// bf16 with .relu, .satfinite and .rs.
#include "simulator/ops/families.hpp"
#include "simulator/ops/float_encode.hpp"
#include "simulator/ops/half_bits.hpp"

namespace cudacore::simulator {
namespace {

using std::uint16_t;
using std::uint32_t;

enum class Type : std::uint8_t { f16, bf16, e4m3, e5m2, e2m3, e3m2, e2m1, ue5m3, ue8m0, tf32 };

/// The properties of a type.
struct Traits {
  const char* name;
  unsigned bits;  ///< from one value of a pair to the next
  const Format* format;
};

template <Type T>
constexpr Traits traits_of() noexcept {
  switch (T) {
    case Type::f16:
      return {".f16", 16, &f16_format};
    case Type::bf16:
      return {".bf16", 16, &bf16_format};
    case Type::e4m3:
      return {".e4m3", 8, &e4m3_format};
    case Type::e5m2:
      return {".e5m2", 8, &e5m2_format};
    case Type::e2m3:
      return {".e2m3", 8, &e2m3_format};
    case Type::e3m2:
      return {".e3m2", 8, &e3m2_format};
    case Type::e2m1:
      return {".e2m1", 4, &e2m1_format};
    case Type::ue5m3:
      return {".ue5m3", 8, &ue5m3_format};
    case Type::ue8m0:
      return {".ue8m0", 8, nullptr};
    case Type::tf32:
      return {".tf32", 32, &tf32_format};
  }
}

/// ue8m0: the exponent of a magnitude, which is rounded to a power of two.
uint32_t encode_exponent(double value, const Fit& fit) noexcept {
  const auto bits = bits_as<std::uint64_t>(value) & ~(std::uint64_t{1} << 63);
  if (bits > 0x7ff0000000000000) return 0xff;
  const bool between = (bits & 0xfffffffffffff) != 0;
  const int power = static_cast<int>(bits >> 52) - 1023 + 127 +
                    (between && fit.direction == Direction::up ? 1 : 0);
  if (power < 0) return 0;
  if (power > 0xfe) return fit.finite ? 0xfe : 0xff;
  return static_cast<uint32_t>(power);
}
double decode_exponent(uint32_t bits) noexcept {
  if (bits == 0xff) return bits_as<double>(std::uint64_t{0x7fffffffffffffff});
  return bits_as<double>((std::uint64_t{bits} + 1023 - 127) << 52);
}

template <Type T>
uint32_t to_bits(double value, const Fit& fit, uint32_t random = 0) noexcept {
  if constexpr (T == Type::ue8m0) {
    return encode_exponent(value, fit);
  } else if constexpr (T == Type::tf32) {
    return encode(value, tf32_format, fit) << 13;
  } else {
    return encode(value, *traits_of<T>().format, fit, random);
  }
}
template <Type T>
double to_value(uint32_t bits) noexcept {
  if constexpr (T == Type::f16) {
    return F16::widen(static_cast<uint16_t>(bits));
  } else if constexpr (T == Type::bf16) {
    return Bf16::widen(static_cast<uint16_t>(bits));
  } else if constexpr (T == Type::ue8m0) {
    return decode_exponent(bits);
  } else {
    return decode(bits & ((1u << traits_of<T>().bits) - 1), *traits_of<T>().format);
  }
}

/// A row of values with that many bits, read or written as such.
template <unsigned Bits>
struct RowOf;
template <>
struct RowOf<8> {
  using T = std::uint8_t;
  static constexpr char letter = 'b';
};
template <>
struct RowOf<16> {
  using T = uint16_t;
  static constexpr char letter = 'h';
};
template <>
struct RowOf<32> {
  using T = uint32_t;
  static constexpr char letter = 'w';
};

template <Type T, unsigned Count>
using Row = RowOf<traits_of<T>().bits * Count>;

/// Writes F(lane) of the enabled lanes.
template <class T, class F>
[[gnu::always_inline]] inline void write_lanes(Warp& warp, const Instruction& in, F f) noexcept {
  T* to = warp.row<T>(in.op[0]);
  const uint32_t lanes = warp.enabled(in);
  for (unsigned i = 0; i < warp_size; ++i) {
    if ((lanes & lane_bit[i]) != 0) to[i] = static_cast<T>(f(i));
  }
}

/// d, a
template <Type T, Fit How>
void of_single(Warp& warp, const Instruction& in) {
  const float* a = warp.row<float>(in.op[1]);
  write_lanes<typename Row<T, 1>::T>(warp, in, [&](unsigned i) { return to_bits<T>(a[i], How); });
}

/// d, a, b: a becomes the upper value.
template <Type T, Fit How>
void of_singles(Warp& warp, const Instruction& in) {
  const float* a = warp.row<float>(in.op[1]);
  const float* b = warp.row<float>(in.op[2]);
  write_lanes<typename Row<T, 2>::T>(warp, in, [&](unsigned i) {
    return to_bits<T>(a[i], How) << traits_of<T>().bits | to_bits<T>(b[i], How);
  });
}

/// d, a, b, rbits: each value uses its half of the random bits.
template <Type T, Fit How>
void of_singles_at_random(Warp& warp, const Instruction& in) {
  const float* a = warp.row<float>(in.op[1]);
  const float* b = warp.row<float>(in.op[2]);
  const uint32_t* random = warp.row<uint32_t>(in.op[3]);
  constexpr uint32_t mask = (1u << How.random_bits) - 1;
  write_lanes<uint32_t>(warp, in, [&](unsigned i) {
    return to_bits<T>(a[i], How, random[i] >> 16 & mask) << 16 |
           to_bits<T>(b[i], How, random[i] & mask);
  });
}

/// d, {a, b, e, f}, rbits: a becomes the uppermost value; a and b share the upper half of the
/// random bits, e and f the lower one.
template <Type T, Fit How>
void of_four_at_random(Warp& warp, const Instruction& in) {
  const uint32_t* from = in.list + in.op[1];
  const uint32_t* random = warp.row<uint32_t>(in.op[2]);
  write_lanes<typename Row<T, 4>::T>(warp, in, [&](unsigned i) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const uint32_t drawn = k < 2 ? random[i] >> 16 : random[i] & 0xffff;
      result = result << traits_of<T>().bits | to_bits<T>(warp.row<float>(from[k])[i], How, drawn);
    }
    return result;
  });
}

/// d, a: a pair of S becomes a pair of T.
template <Type T, Type S, Fit How>
void of_pair(Warp& warp, const Instruction& in) {
  const auto* a = warp.row<typename Row<S, 2>::T>(in.op[1]);
  constexpr unsigned bits = traits_of<S>().bits;
  write_lanes<typename Row<T, 2>::T>(warp, in, [&](unsigned i) {
    const uint32_t pair = a[i];
    return to_bits<T>(to_value<S>(pair >> bits), How) << traits_of<T>().bits |
           to_bits<T>(to_value<S>(pair & ((1u << bits) - 1)), How);
  });
}

constexpr Fit fit(Direction direction, bool finite, bool relu, unsigned random_bits = 0) noexcept {
  return {direction, finite, relu, random_bits};
}

/// The modifiers of a Fit, in the order of the narrow formats: "relu" comes last.
template <Fit How>
constexpr const char* modifiers() noexcept {
  if (How.finite) return How.relu ? ".satfinite.relu" : ".satfinite";
  return How.relu ? ".relu" : "";
}
template <Fit How>
constexpr const char* rounding() noexcept {
  switch (How.direction) {
    case Direction::nearest:
      return ".rn";
    case Direction::zero:
      return ".rz";
    case Direction::down:
      return ".rm";
    case Direction::up:
      return ".rp";
    case Direction::away:
      return ".rna";
    case Direction::random:
      return ".rs";
  }
}
/// The same, with "relu" first.
template <Fit How>
constexpr const char* modifiers_of_halves() noexcept {
  return How.finite && How.relu ? ".relu.satfinite" : modifiers<How>();
}

// To narrow formats, from f32, f16x2 and bf16x2.
template <Type T, Fit How>
void add_narrow_how(FormTable& table) {
  const char* to = traits_of<T>().name;
  const char pair_of_two[] = {Row<T, 2>::letter, 'w', 'w', '\0'};
  const char pair_of_one[] = {Row<T, 2>::letter, 'w', '\0'};
  table.add({"cvt", rounding<How>(), modifiers<How>(), to, "x2.f32"}, pair_of_two,
            of_singles<T, How>);
  table.add({"cvt", rounding<How>(), modifiers<How>(), to, "x2.bf16x2"}, pair_of_one,
            of_pair<T, Type::bf16, How>);
  if constexpr (T != Type::ue8m0) {
    table.add({"cvt", rounding<How>(), modifiers<How>(), to, "x2.f16x2"}, pair_of_one,
              of_pair<T, Type::f16, How>);
  }
}
template <Type T>
void add_narrow(FormTable& table) {
  add_narrow_how<T, fit(Direction::nearest, true, false)>(table);
  add_narrow_how<T, fit(Direction::nearest, true, true)>(table);
  if constexpr (T != Type::e4m3 && T != Type::e5m2) {
    add_narrow_how<T, fit(Direction::zero, true, false)>(table);
    add_narrow_how<T, fit(Direction::zero, true, true)>(table);
  }
}
/// Formats without a sign.
template <Type T, Direction Way>
void add_unsigned(FormTable& table) {
  add_narrow_how<T, fit(Way, false, false)>(table);
  add_narrow_how<T, fit(Way, true, false)>(table);
}

// From narrow formats.
template <Type S, Type T, Fit How>
void add_widening_how(FormTable& table) {
  const char signature[] = {'w', Row<S, 2>::letter, '\0'};
  table.add({"cvt", rounding<How>(), modifiers<How>(), traits_of<T>().name, "x2",
             traits_of<S>().name, "x2"},
            signature, of_pair<T, S, How>);
}
template <Type S, Type T>
void add_widening(FormTable& table) {
  add_widening_how<S, T, fit(Direction::nearest, false, false)>(table);
  // Values without a sign don't need .relu.
  if constexpr (traits_of<S>().format != nullptr && traits_of<S>().format->sign != 0) {
    add_widening_how<S, T, fit(Direction::nearest, false, true)>(table);
  }
}

template <Type T, Fit How>
void add_four_how(FormTable& table, const char* modifiers_of_it) {
  const char signature[] = {Row<T, 4>::letter, '4', 'w', 'w', '\0'};
  table.add({"cvt.rs", modifiers_of_it, traits_of<T>().name, "x4.f32"}, signature,
            of_four_at_random<T, How>);
}
template <Type T>
void add_four(FormTable& table) {
  add_four_how<T, fit(Direction::random, true, false, 16)>(table, ".satfinite");
  add_four_how<T, fit(Direction::random, true, true, 16)>(table, ".relu.satfinite");
}

/// The conversions that all signed formats have.
template <Type T>
void add_signed(FormTable& table) {
  add_narrow<T>(table);
  add_widening<T, Type::f16>(table);
  add_widening<T, Type::bf16>(table);
  add_four<T>(table);
}

// f16 and bf16 from f32.
template <Type T, Fit How>
void add_half_pair(FormTable& table) {
  table.add({"cvt", rounding<How>(), modifiers_of_halves<How>(), traits_of<T>().name, "x2.f32"},
            "www", of_singles<T, How>);
}
template <Type T, Fit How>
void add_half(FormTable& table) {
  add_half_pair<T, How>(table);
  table.add({"cvt", rounding<How>(), modifiers_of_halves<How>(), traits_of<T>().name, ".f32"}, "hw",
            of_single<T, How>);
}
template <Type T, Fit How>
void add_half_at_random(FormTable& table) {
  table.add({"cvt.rs", modifiers_of_halves<How>(), traits_of<T>().name, "x2.f32"}, "wwww",
            of_singles_at_random<T, How>);
}
template <Type T, unsigned RandomBits>
void add_halves(FormTable& table) {
  add_half_pair<T, fit(Direction::zero, false, false)>(table);
  add_half<T, fit(Direction::nearest, false, true)>(table);
  add_half<T, fit(Direction::nearest, true, false)>(table);
  add_half<T, fit(Direction::nearest, true, true)>(table);
  add_half<T, fit(Direction::zero, false, true)>(table);
  add_half<T, fit(Direction::zero, true, false)>(table);
  add_half<T, fit(Direction::zero, true, true)>(table);
  add_half_at_random<T, fit(Direction::random, false, false, RandomBits)>(table);
  add_half_at_random<T, fit(Direction::random, false, true, RandomBits)>(table);
  add_half_at_random<T, fit(Direction::random, true, false, RandomBits)>(table);
  add_half_at_random<T, fit(Direction::random, true, true, RandomBits)>(table);
}

/// A pair rounded to nearest, which is common in programs: a loop that vectorizes.
template <class Half>
uint32_t nearest_pair(float a, float b) noexcept {
  return static_cast<uint32_t>(Half::narrow(a)) << 16 | Half::narrow(b);
}

/// NaNs are just truncated.
uint32_t away_tf32(uint32_t bits) noexcept {
  const bool finite = (bits & 0x7f800000) != 0x7f800000;
  return (finite ? bits + 0x1000 : bits) & 0xffffe000;
}

template <Fit How>
void add_tf32(FormTable& table) {
  table.add({"cvt", rounding<How>(), modifiers<How>(), ".tf32.f32"}, "ww",
            of_single<Type::tf32, How>);
}

}  // namespace

template <>
void add_small_float_convert<this_isa>(FormTable& table) {
  const FormTable::Family family(table, {.converts = true});
  table.add({"cvt.rn.f16x2.f32"}, "www", Lanes<nearest_pair<F16>>::run);
  table.add({"cvt.rn.bf16x2.f32"}, "www", Lanes<nearest_pair<Bf16>>::run);
  add_halves<Type::f16, 13>(table);
  add_halves<Type::bf16, 16>(table);
  table.add({"cvt.rna.tf32.f32"}, "ww", Lanes<away_tf32>::run);
  add_tf32<fit(Direction::away, true, false)>(table);
  add_tf32<fit(Direction::nearest, false, false)>(table);
  add_tf32<fit(Direction::nearest, false, true)>(table);
  add_tf32<fit(Direction::nearest, true, false)>(table);
  add_tf32<fit(Direction::nearest, true, true)>(table);
  add_tf32<fit(Direction::zero, false, false)>(table);
  add_tf32<fit(Direction::zero, false, true)>(table);
  add_tf32<fit(Direction::zero, true, false)>(table);
  add_tf32<fit(Direction::zero, true, true)>(table);
  add_signed<Type::e4m3>(table);
  add_signed<Type::e5m2>(table);
  add_signed<Type::e2m3>(table);
  add_signed<Type::e3m2>(table);
  add_signed<Type::e2m1>(table);
  add_unsigned<Type::ue5m3, Direction::nearest>(table);
  add_unsigned<Type::ue5m3, Direction::zero>(table);
  add_unsigned<Type::ue5m3, Direction::up>(table);
  add_unsigned<Type::ue8m0, Direction::zero>(table);
  add_unsigned<Type::ue8m0, Direction::up>(table);
  add_widening<Type::ue5m3, Type::f16>(table);
  add_widening<Type::ue5m3, Type::bf16>(table);
  add_widening<Type::ue8m0, Type::bf16>(table);
}

}  // namespace cudacore::simulator
