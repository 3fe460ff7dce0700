// SPDX-License-Identifier: Apache-2.0
#include "simulator/ops/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "simulator/ops/isa_families.hpp"
#include "simulator/ops/matrix_forms.hpp"
#include "simulator/ops/textures.hpp"

namespace cudacore::simulator {
namespace {

void add_families(FormTable& table, Isa isa) {
  with_isa(isa, [&table]<Isa I>() {
    add_integer_families<I>(table);
    add_float_arithmetic<I>(table);
    add_half_arithmetic<I>(table);
    add_float_approximate<I>(table);
    add_float_compare<I>(table);
    add_float_convert<I>(table);
    add_small_float_convert<I>(table);
    add_mma<I>(table);
    add_wmma<I>(table);
    add_load_store<I>(table);
  });
  add_integer_simd(table);
  add_float_rounded(table);
  add_float_set(table);
  add_frame_access(table);
  add_atomics(table);
  add_address_forms(table);
  add_async_copies(table);
  add_mbarriers(table);
  add_matrix(table);
  add_control(table);
  add_barriers(table);
  add_warp_exchange(table);
  add_textures(table);
  add_surfaces(table);
  add_special_registers(table);
  add_device_runtime(table);
}

/// The best ISA of this processor.
Isa processor_isa() noexcept {
#if defined(__x86_64__) && !defined(CUDACORE_SIMULATOR_BASELINE_ONLY)
  static const Isa isa = [] {
    __builtin_cpu_init();
    // Processors with BMI2 and FMA also have F16C and LZCNT, which not every compiler can query.
    const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                      __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0 &&
                      __builtin_cpu_supports("popcnt") != 0;
    const bool avx512 =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
        __builtin_cpu_supports("avx512cd") != 0;
    return avx2 && avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::baseline;
  }();
  return isa;
#else
  return Isa::baseline;
#endif
}

constexpr std::array isas{Isa::baseline, Isa::avx2, Isa::avx512};

}  // namespace

Isa best_isa() {
  const Isa isa = processor_isa();
  const char* wish = std::getenv("CUDACORE_SIMULATOR_ISA");
  if (wish == nullptr) return isa;
  for (const Isa candidate : isas) {
    if (name_of(candidate) == wish) return std::min(candidate, isa);
  }
  throw std::invalid_argument("CUDACORE_SIMULATOR_ISA is \"" + std::string(wish) +
                              "\"; it must be baseline, avx2 or avx512");
}

std::string_view name_of(Isa isa) noexcept {
  switch (isa) {
    case Isa::baseline:
      return "baseline";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "unknown";
}

const FormTable* form_table(Isa isa) {
  if (isa > processor_isa()) return nullptr;
  struct Tables {
    std::array<FormTable, isas.size()> of;
    std::array<std::once_flag, isas.size()> made;
  };
  // Never destroyed: workers may still run at exit.
  static Tables& tables = *std::make_unique<Tables>().release();
  const auto index = static_cast<std::size_t>(isa);
  std::call_once(tables.made[index], [&] { add_families(tables.of[index], isa); });
  return &tables.of[index];
}

const FormTable& best_forms() { return *form_table(best_isa()); }

}  // namespace cudacore::simulator
