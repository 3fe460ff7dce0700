// SPDX-License-Identifier: Apache-2.0
#include "compile/program_options.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "compile/flags.hpp"

namespace cudacore {

using compile::FlagRule;

std::vector<std::string> ProgramOptions::nvrtc_flags(CodeType target) const {
  std::vector<std::string> flags;
  if (arch) flags.push_back("--gpu-architecture=" + *arch);
  if (target == CodeType::ltoir && !link_time_optimization.value_or(false)) {
    flags.emplace_back("--dlink-time-opt");
  }
#define CUDACORE_PROGRAM_OPTION(type, name, rule, flag) \
  compile::append_flag<FlagRule::rule>(flags, "NVRTC", #name, flag, name);
#include "cudacore/program_options.def"
#undef CUDACORE_PROGRAM_OPTION
  return flags;
}

namespace compile {

namespace {

/// The options that mean something to nvJitLink.
constexpr std::array<std::string_view, 13> linker_fields = {
    "name",    "arch", "debug",    "lineinfo",  "ptxas_options",          "max_register_count",
    "ftz",     "fma",  "prec_div", "prec_sqrt", "link_time_optimization", "split_compile",
    "no_cache"};

}  // namespace

std::vector<std::string_view> set_fields(const ProgramOptions& options) {
  std::vector<std::string_view> fields;
#define CUDACORE_PROGRAM_OPTION(type, name, rule, flag) \
  if (asks_for_something<FlagRule::rule>(options.name)) fields.emplace_back(#name);
#include "cudacore/program_options.def"
#undef CUDACORE_PROGRAM_OPTION
  return fields;
}

LinkerOptions linker_options(const ProgramOptions& options, std::string_view source) {
  for (const std::string_view field : set_fields(options)) {
    if (std::find(linker_fields.begin(), linker_fields.end(), field) != linker_fields.end())
      continue;
    throw std::invalid_argument(
        "the option " + std::string(field) + " means nothing for a program in " +
        std::string(source) +
        ", which nvJitLink compiles; it takes only what a linker takes, such "
        "as arch, max_register_count, debug and lineinfo");
  }
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
