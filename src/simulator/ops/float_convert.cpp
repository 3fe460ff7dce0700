// SPDX-License-Identifier: Apache-2.0
//
// cvt between floating-point numbers and integers.
#include "simulator/ops/families.hpp"
#include "simulator/ops/float_convert_rows.hpp"

namespace cudacore::simulator {
namespace {

// The names of types, and the letters of their rows.
struct Name {
  const char* type;
  char letter;
};
template <class T>
constexpr Name name_of_whole() noexcept {
  constexpr bool is_signed = Limits<T>::is_signed;
  switch (sizeof(T)) {
    case 1:
      return {is_signed ? ".s8" : ".u8", 'b'};
    case 2:
      return {is_signed ? ".s16" : ".u16", 'h'};
    case 4:
      return {is_signed ? ".s32" : ".u32", 'w'};
    default:
      return {is_signed ? ".s64" : ".u64", 'x'};
  }
}
constexpr Name f16_name{".f16", 'h'};
constexpr Name bf16_name{".bf16", 'h'};
constexpr Name f32_name{".f32", 'w'};
constexpr Name f64_name{".f64", 'x'};

void add_cvt(FormTable& table, const char* rounding, const char* ftz, const char* sat, Name to,
             Name from, Handler run) {
  const char signature[] = {to.letter, from.letter, '\0'};
  table.add({"cvt", rounding, ftz, sat, to.type, from.type}, signature, run);
}

template <class S, class T, Integral How>
constexpr Handler whole_handler() noexcept {
  if constexpr (!S::whole && sizeof(typename S::Row) == 4 && sizeof(T) == 4) {
    return Lanes<direct_to_whole<T, How, S::ftz>>::run;
  } else {
    return float_to_whole<T, S, How>;
  }
}

template <class S, class T, Integral How>
void add_to_whole_rounded(FormTable& table, const char* rounding, const char* ftz, Name from) {
  constexpr Handler run = whole_handler<S, T, How>();
  // Results are clamped both with and without .sat.
  add_cvt(table, rounding, ftz, "", name_of_whole<T>(), from, run);
  if constexpr (!is_bf16<S>) add_cvt(table, rounding, ftz, ".sat", name_of_whole<T>(), from, run);
}
template <class S, class T>
void add_to_whole(FormTable& table, const char* ftz, Name from) {
  add_to_whole_rounded<S, T, Integral::rni>(table, ".rni", ftz, from);
  add_to_whole_rounded<S, T, Integral::rzi>(table, ".rzi", ftz, from);
  add_to_whole_rounded<S, T, Integral::rmi>(table, ".rmi", ftz, from);
  add_to_whole_rounded<S, T, Integral::rpi>(table, ".rpi", ftz, from);
}
template <class S>
void add_to_wholes(FormTable& table, const char* ftz, Name from) {
  add_to_whole<S, std::uint8_t>(table, ftz, from);
  add_to_whole<S, std::uint16_t>(table, ftz, from);
  add_to_whole<S, std::uint32_t>(table, ftz, from);
  add_to_whole<S, std::uint64_t>(table, ftz, from);
  add_to_whole<S, std::int8_t>(table, ftz, from);
  add_to_whole<S, std::int16_t>(table, ftz, from);
  add_to_whole<S, std::int32_t>(table, ftz, from);
  add_to_whole<S, std::int64_t>(table, ftz, from);
}

template <class D, class T, Direction Way, bool Sat>
constexpr Handler cast_handler() noexcept {
  if constexpr (Sat || Way == Direction::nearest) {
    return Lanes<direct_cast<D, T, Sat>>::run;
  } else {
    return rounded<rounding_of(Way), Lanes<direct_cast<D, T, Sat>>::run>;
  }
}
template <class T, Direction Way, bool Sat>
void add_of_whole_rounded(FormTable& table, const char* rounding, const char* sat) {
  constexpr Name from = name_of_whole<T>();
  add_cvt(table, rounding, "", sat, f16_name, from, whole_to_half<Half<F16>, T, Way, Sat>);
  // Conversions from or to bf16 have no .sat.
  if constexpr (!Sat) {
    add_cvt(table, rounding, "", "", bf16_name, from, whole_to_half<Half<Bf16>, T, Way, false>);
  }
  add_cvt(table, rounding, "", sat, f32_name, from, cast_handler<float, T, Way, Sat>());
  add_cvt(table, rounding, ".ftz", sat, f32_name, from, cast_handler<float, T, Way, Sat>());
  add_cvt(table, rounding, "", sat, f64_name, from, cast_handler<double, T, Way, Sat>());
}
template <class T, Direction Way>
void add_of_whole_either(FormTable& table, const char* rounding) {
  add_of_whole_rounded<T, Way, false>(table, rounding, "");
  add_of_whole_rounded<T, Way, true>(table, rounding, ".sat");
}
template <class T>
void add_of_whole(FormTable& table) {
  add_of_whole_either<T, Direction::nearest>(table, ".rn");
  add_of_whole_either<T, Direction::zero>(table, ".rz");
  add_of_whole_either<T, Direction::down>(table, ".rm");
  add_of_whole_either<T, Direction::up>(table, ".rp");
}

// Between floating-point types.
template <class D, class S, bool Sat>
void add_narrowing(FormTable& table, const char* ftz, const char* sat, Name to, Name from,
                   Handler nearest) {
  add_cvt(table, ".rn", ftz, sat, to, from, nearest);
  add_cvt(table, ".rz", ftz, sat, to, from,
          float_to_float<D, S, Direction::zero, Integral::none, Sat>);
  add_cvt(table, ".rm", ftz, sat, to, from,
          float_to_float<D, S, Direction::down, Integral::none, Sat>);
  add_cvt(table, ".rp", ftz, sat, to, from,
          float_to_float<D, S, Direction::up, Integral::none, Sat>);
}
template <class D, class S>
void add_narrowing(FormTable& table, const char* ftz, Name to, Name from, Handler nearest) {
  add_narrowing<D, S, false>(table, ftz, "", to, from, nearest);
  if constexpr (!is_bf16<D> && !is_bf16<S>) {
    add_narrowing<D, S, true>(table, ftz, ".sat", to, from,
                              float_to_float<D, S, Direction::nearest, Integral::none, true>);
  }
}
/// Through double precision.
template <class D, class S>
constexpr Handler general = float_to_float<D, S, Direction::nearest, Integral::none, false>;

template <class D, class S>
void add_widening(FormTable& table, const char* ftz, Name to, Name from, Handler run) {
  add_cvt(table, "", ftz, "", to, from, run);
  if constexpr (!is_bf16<S>) {
    add_cvt(table, "", ftz, ".sat", to, from,
            float_to_float<D, S, Direction::nearest, Integral::none, true>);
  }
}

template <class S, Integral How, bool Sat>
constexpr Handler integral_handler() noexcept {
  constexpr bool plain = How == Integral::none && !Sat;
  if constexpr (sizeof(typename S::Row) == 8 && plain) {
    return Lanes<direct_move<std::uint64_t>>::run;
  } else if constexpr (sizeof(typename S::Row) == 4) {
    if constexpr (plain && !S::ftz) return Lanes<direct_move<std::uint32_t>>::run;
    return Lanes<direct_integral<How, S::ftz, Sat>>::run;
  } else {
    return float_to_float<S, S, Direction::nearest, How, Sat>;
  }
}
template <class S, Integral How>
void add_same_rounded(FormTable& table, const char* rounding, const char* ftz, Name name) {
  add_cvt(table, rounding, ftz, "", name, name, integral_handler<S, How, false>());
  if constexpr (!is_bf16<S>) {
    add_cvt(table, rounding, ftz, ".sat", name, name, integral_handler<S, How, true>());
  }
}
template <class S>
void add_same(FormTable& table, const char* ftz, Name name) {
  add_same_rounded<S, Integral::none>(table, "", ftz, name);
  add_same_rounded<S, Integral::rni>(table, ".rni", ftz, name);
  add_same_rounded<S, Integral::rzi>(table, ".rzi", ftz, name);
  add_same_rounded<S, Integral::rmi>(table, ".rmi", ftz, name);
  add_same_rounded<S, Integral::rpi>(table, ".rpi", ftz, name);
}

/// Conversions from or to single precision, which therefore have .ftz.
template <bool Ftz>
void add_of_singles(FormTable& table, const char* ftz) {
  using F32 = Single<Ftz>;
  add_same<F32>(table, ftz, f32_name);
  add_to_wholes<F32>(table, ftz, f32_name);
  add_narrowing<F32, Double>(table, ftz, f32_name, f64_name, Lanes<direct_narrow<Ftz>>::run);
  // f16 has no values that .ftz would flush.
  add_narrowing<Half<F16>, Single<false>>(table, ftz, f16_name, f32_name,
                                          Lanes<direct_to_half<F16, false>>::run);
  add_narrowing<Half<Bf16>, F32>(table, ftz, bf16_name, f32_name,
                                 Lanes<direct_to_half<Bf16, Ftz>>::run);
  add_widening<Double, F32>(table, ftz, f64_name, f32_name, Lanes<direct_widen<Ftz>>::run);
  add_widening<F32, Half<F16>>(table, ftz, f32_name, f16_name, Lanes<direct_of_f16>::run);
  add_cvt(table, "", ftz, "", f32_name, bf16_name, Lanes<direct_of_bf16<Ftz>>::run);
}

}  // namespace

template <>
void add_float_convert<this_isa>(FormTable& table) {
  const FormTable::Family family(table, {.converts = true});
  add_of_singles<false>(table, "");
  add_of_singles<true>(table, ".ftz");
  add_same<Double>(table, "", f64_name);
  add_same<Half<F16>>(table, "", f16_name);
  add_same<Half<Bf16>>(table, "", bf16_name);
  add_to_wholes<Double>(table, "", f64_name);
  add_to_wholes<Half<F16>>(table, "", f16_name);
  add_to_wholes<Half<Bf16>>(table, "", bf16_name);
  add_narrowing<Half<F16>, Double>(table, "", f16_name, f64_name, general<Half<F16>, Double>);
  add_narrowing<Half<Bf16>, Double>(table, "", bf16_name, f64_name, general<Half<Bf16>, Double>);
  add_narrowing<Half<F16>, Half<Bf16>>(table, "", f16_name, bf16_name,
                                       general<Half<F16>, Half<Bf16>>);
  add_narrowing<Half<Bf16>, Half<F16>>(table, "", bf16_name, f16_name,
                                       general<Half<Bf16>, Half<F16>>);
  add_widening<Double, Half<F16>>(table, "", f64_name, f16_name, general<Double, Half<F16>>);
  add_widening<Double, Half<Bf16>>(table, "", f64_name, bf16_name, general<Double, Half<Bf16>>);
  add_of_whole<std::uint8_t>(table);
  add_of_whole<std::uint16_t>(table);
  add_of_whole<std::uint32_t>(table);
  add_of_whole<std::uint64_t>(table);
  add_of_whole<std::int8_t>(table);
  add_of_whole<std::int16_t>(table);
  add_of_whole<std::int32_t>(table);
  add_of_whole<std::int64_t>(table);
}

}  // namespace cudacore::simulator
