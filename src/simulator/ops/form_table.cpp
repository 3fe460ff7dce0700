// SPDX-License-Identifier: Apache-2.0
#include "simulator/ops/form_table.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "simulator/ops/families.hpp"
#include "simulator/ops/matrix_forms.hpp"
#include "simulator/ops/modifier_order.hpp"

namespace cudacore::simulator {
namespace {

/// Allows looking up a string_view in a table of strings.
struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const noexcept {
    return std::hash<std::string_view>{}(key);
  }
};

/// The families that are compiled for each ISA.
template <Isa isa>
void add_lane_families(FormTable& table) {
  add_integer_arithmetic<isa>(table);
  add_integer_bits<isa>(table);
  add_integer_compare<isa>(table);
  add_integer_convert<isa>(table);
  add_moves<isa>(table);
  add_float_arithmetic<isa>(table);
  add_half_arithmetic<isa>(table);
  add_float_approximate<isa>(table);
  add_float_compare<isa>(table);
  add_float_convert<isa>(table);
  add_small_float_convert<isa>(table);
  add_mma<isa>(table);
  add_wmma<isa>(table);
  add_load_store<isa>(table);
}

void add_families(FormTable& table, Isa isa) {
  switch (isa) {
    case Isa::baseline:
      add_lane_families<Isa::baseline>(table);
      break;
#if defined(__x86_64__) && !defined(CUDACORE_SIMULATOR_BASELINE_ONLY)
    case Isa::avx2:
      add_lane_families<Isa::avx2>(table);
      break;
    case Isa::avx512:
      add_lane_families<Isa::avx512>(table);
      break;
#endif
    default:
      throw std::logic_error("no forms for this ISA");
  }
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

struct FormTable::Index {
  std::unordered_map<std::string, std::vector<Form>, KeyHash, std::equal_to<>> forms;
  std::set<std::string, std::less<>> mnemonics;
  /// Keys with their modifiers in canonical order: built on first use, which few programs need.
  std::unordered_map<std::string, std::string_view> orders;
  std::once_flag orders_made;
};

FormTable::FormTable() : index_(std::make_unique<Index>()) {}
FormTable::~FormTable() = default;

void FormTable::add(std::initializer_list<const char*> pieces, const char* signature, Handler run) {
  std::string key;
  for (const char* piece : pieces) key += piece;
  std::vector<Form>& forms = index_->forms[key];
  for (const Form& form : forms) {
    if (form.signature == signature) {
      throw std::logic_error("the form " + key + " " + signature + " is there twice");
    }
  }
  index_->mnemonics.insert(key.substr(0, key.find('.')));
  forms.push_back(Form{key, signature, run});
}

std::span<const Form> FormTable::find(std::string_view key) const noexcept {
  const auto found = index_->forms.find(key);
  if (found == index_->forms.end()) return {};
  return found->second;
}

std::string_view FormTable::in_written_order(std::string_view key) const {
  std::call_once(index_->orders_made, [this] {
    for (const auto& [each, forms] : index_->forms) {
      index_->orders.try_emplace(in_one_order(each), each);
    }
  });
  const auto found = index_->orders.find(in_one_order(key));
  return found != index_->orders.end() ? found->second : key;
}

bool FormTable::knows(std::string_view mnemonic) const noexcept {
  return index_->mnemonics.find(mnemonic) != index_->mnemonics.end();
}

std::vector<const Form*> FormTable::all() const {
  std::vector<const Form*> all;
  for (const auto& [key, forms] : index_->forms) {
    for (const Form& form : forms) all.push_back(&form);
  }
  std::sort(all.begin(), all.end(), [](const Form* a, const Form* b) {
    return a->key != b->key ? a->key < b->key : a->signature < b->signature;
  });
  return all;
}

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

}  // namespace cudacore::simulator
