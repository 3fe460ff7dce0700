// SPDX-License-Identifier: Apache-2.0
#include "tile/generate.hpp"

#include "tile/assign_layouts.hpp"
#include "tile/conversions.hpp"
#include "tile/divisors.hpp"
#include "tile/lowering.hpp"
#include "tile/parse.hpp"
#include "tile/pointer_root.hpp"
#include "tile/printer.hpp"
#include "tile/registers.hpp"
#include "tile/shared_memory.hpp"
#include "tile/verify.hpp"

namespace cudacore::tile {
namespace {

// Bytes of shared memory that a block may have when its kernel asks for them.
std::int64_t shared_limit(int architecture) {
  constexpr std::int64_t kibibyte = 1024;
  switch (architecture) {
    case 75:
      return 64 * kibibyte;
    case 80:
    case 87:
      return 163 * kibibyte;
    case 86:
    case 89:
    case 120:
    case 121:
      return 99 * kibibyte;
    default:
      return architecture >= 90 ? 227 * kibibyte : 48 * kibibyte;
  }
}

}  // namespace

Generated generate(std::string_view text, const Options& options) {
  const std::unique_ptr<Kernel> kernel = parse(text);
  for (const auto& [key, value] : options.hints) kernel->hints[key] = value;
  verify(*kernel);
  join_pointers(*kernel);
  const std::unique_ptr<Lowering> lowering = make_lowering(options.architecture);
  Target target;
  target.architecture = options.architecture;
  target.shared_limit =
      options.shared_limit > 0 ? options.shared_limit : shared_limit(options.architecture);
  find_divisors(*kernel);
  target.warps = choose_warps(*kernel, *lowering);
  lowering->prepare(*kernel, target);
  assign_layouts(*kernel, target, *lowering);
  insert_conversions(*kernel, target, *lowering);
  remove_unused(*kernel);
  lowering->rewrite(*kernel, target);
  check_registers(*kernel, target);
  const std::int64_t shared_bytes = allocate_shared(*kernel, target);
  place_barriers(*kernel, *lowering);
  Printer printer(*kernel, target, *lowering, shared_bytes);
  Generated generated;
  generated.source = printer.kernel();
  generated.entry = kernel->name;
  generated.threads = 32 * target.warps;
  generated.shared_bytes = shared_bytes;
  return generated;
}

}  // namespace cudacore::tile
