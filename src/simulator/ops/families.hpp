// SPDX-License-Identifier: Apache-2.0
//
// The families of forms. Each is a file that is compiled once per ISA, and specializes its function
// for this_isa. Handlers and their helpers have internal linkage (in an unnamed namespace), so that
// code for one ISA never runs for another.
#pragma once

#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {

#if defined(__AVX512F__)
inline constexpr Isa this_isa = Isa::avx512;
#elif defined(__AVX2__)
inline constexpr Isa this_isa = Isa::avx2;
#else
inline constexpr Isa this_isa = Isa::baseline;
#endif

// Integers and bits.
template <Isa>
void add_integer_arithmetic(FormTable& table);
template <Isa>
void add_integer_bits(FormTable& table);
template <Isa>
void add_integer_compare(FormTable& table);
template <Isa>
void add_integer_convert(FormTable& table);
template <Isa>
void add_moves(FormTable& table);
// Floating-point numbers.
template <Isa>
void add_float_arithmetic(FormTable& table);
template <Isa>
void add_half_arithmetic(FormTable& table);
template <Isa>
void add_float_approximate(FormTable& table);
template <Isa>
void add_float_compare(FormTable& table);
template <Isa>
void add_float_convert(FormTable& table);
template <Isa>
void add_small_float_convert(FormTable& table);
// Memory.
template <Isa>
void add_load_store(FormTable& table);

// Compiled once.
void add_integer_simd(FormTable& table);
void add_float_rounded(FormTable& table);
void add_float_set(FormTable& table);
void add_frame_access(FormTable& table);  ///< parameters of device functions
void add_atomics(FormTable& table);
void add_address_forms(FormTable& table);  ///< cvta, isspacep, mapa, prefetch, fences, alloca ...
void add_async_copies(FormTable& table);
void add_mbarriers(FormTable& table);
void add_matrix(FormTable& table);
void add_control(FormTable& table);  ///< branches, calls, exits
void add_barriers(FormTable& table);
void add_warp_exchange(FormTable& table);      ///< shfl, vote, match, redux, elect
void add_special_registers(FormTable& table);  ///< "special.%tid.x", added by the decoder
void add_device_runtime(FormTable& table);     ///< "call.vprintf" and others that no module defines

}  // namespace cudacore::simulator
