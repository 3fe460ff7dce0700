// SPDX-License-Identifier: Apache-2.0
#include "compile/program_options.hpp"

#include "compile/flags.hpp"

namespace cudacore {

using compile::FlagRule;

std::vector<std::string> ProgramOptions::nvrtc_flags(CodeType target) const {
  std::vector<std::string> flags;
  if (arch) flags.push_back("-arch=" + *arch);
  if (target == CodeType::ltoir && !link_time_optimization.value_or(false)) {
    flags.emplace_back("--dlink-time-opt");
  }
#define CUDACORE_PROGRAM_OPTION(type, name, rule, flag, ...) \
  compile::append_flag<FlagRule::rule>(flags, "NVRTC", #name, flag, name);
#include "cudacore/program_options.def"
#undef CUDACORE_PROGRAM_OPTION
  return flags;
}

namespace compile {

LinkerOptions linker_options(const ProgramOptions& options) {
  LinkerOptions linker;
  linker.name = options.name;
  linker.arch = options.arch;
  linker.debug = options.debug;
  linker.lineinfo = options.lineinfo;
  linker.ptxas_options = options.ptxas_options;
  linker.max_register_count = options.max_register_count;
  linker.ftz = options.ftz;
  linker.fma = options.fma;
  linker.prec_div = options.prec_div;
  linker.prec_sqrt = options.prec_sqrt;
  linker.link_time_optimization = options.link_time_optimization;
  linker.split_compile = options.split_compile;
  linker.no_cache = options.no_cache;
  return linker;
}

}  // namespace compile

}  // namespace cudacore
