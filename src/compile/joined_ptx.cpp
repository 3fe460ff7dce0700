// SPDX-License-Identifier: Apache-2.0
#include "compile/joined_ptx.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "compile/nvjitlink_session.hpp"
#include "cudacore/program.hpp"
#include "driver/driver_api.hpp"
#include "signature/ptx_directives.hpp"

namespace cudacore::compile {
namespace {

/// A kernel that refers to what the PTX calls, so that linking the LTO IR keeps it.
constexpr std::string_view keeper = "cudacore_kept_by_the_linker";

/// Functions that are built into the device.
bool is_builtin(std::string_view symbol) {
  constexpr std::array<std::string_view, 4> names = {"vprintf", "__assertfail", "malloc", "free"};
  return std::find(names.begin(), names.end(), symbol) != names.end() || symbol.starts_with("cuda");
}

/// What the PTX inputs refer to but do not define: symbols, and whether each is a function.
using Wanted = std::map<std::string, bool, std::less<>>;

Wanted wanted_by_ptx(std::span<const ObjectCode> inputs) {
  Wanted wanted;
  std::set<std::string, std::less<>> defined;
  for (const ObjectCode& input : inputs) {
    for (const signature::PtxDirective& directive : signature::directives_in_ptx(input.ptx())) {
      if (directive.linkage == ".visible" && directive.is_definition()) {
        defined.emplace(directive.symbol);
      } else if (directive.linkage == ".extern" && directive.space != ".shared" &&
                 !is_builtin(directive.symbol)) {
        wanted.emplace(directive.symbol, directive.space == ".func");
      }
    }
  }
  std::erase_if(wanted, [&](const auto& one) { return defined.contains(one.first); });
  return wanted;
}

/// LTO IR with a kernel that takes the address of each function. Their types don't matter for that.
ObjectCode make_keeper(const Wanted& wanted, const Architecture& architecture) {
  std::string declarations;
  std::string uses;
  for (const auto& [symbol, is_function] : wanted) {
    declarations += "extern \"C\" __device__ " +
                    (is_function ? "void " + symbol + "();\n" : "char " + symbol + "[];\n");
    uses += "  *cudacore_kept++ = (void*)" + symbol + ";\n";
  }
  ProgramOptions options;
  options.arch = architecture.sm();
  options.relocatable_device_code = true;
  options.name = std::string(keeper);
  return Program(declarations + "extern \"C\" __global__ void " + std::string(keeper) +
                     "(void** cudacore_kept) {\n" + uses + "}\n",
                 SourceType::cxx, std::move(options))
      .compile(CodeType::ltoir);
}

/// The PTX without the keeper kernel.
std::string without_keeper(std::string ptx) {
  const std::size_t begin = ptx.find(".visible .entry " + std::string(keeper) + "(");
  if (begin == std::string::npos) return ptx;
  constexpr std::string_view end_of_body = "\n}";
  const std::size_t end = ptx.find(end_of_body, begin);
  if (end != std::string::npos) ptx.erase(begin, end + end_of_body.size() - begin);
  return ptx;
}

/// The PTX, with the wanted symbols visible to other modules: linking a whole program hides them.
std::string with_visible(std::string_view ptx, const Wanted& wanted) {
  std::string text;
  std::size_t copied = 0;
  for (const signature::PtxDirective& directive : signature::directives_in_ptx(ptx)) {
    const bool is_hidden =
        directive.linkage.empty() && directive.space != ".entry" && directive.space != ".shared";
    if (!is_hidden || !wanted.contains(directive.symbol)) continue;
    const auto start = static_cast<std::size_t>(directive.head.data() - ptx.data());
    text.append(ptx.substr(copied, start - copied)).append(".visible ");
    copied = start;
  }
  return text.append(ptx.substr(copied));
}

}  // namespace

std::string joined_ptx(std::span<const ObjectCode> inputs, const std::string& name,
                       const Architecture& architecture, LinkerOptions options) {
  std::string text;
  std::vector<ObjectCode> ltoir;
  for (const ObjectCode& input : inputs) {
    if (input.code_type() == CodeType::ltoir) {
      ltoir.push_back(input);
    } else if (input.ptx().empty()) {
      return {};
    } else {
      text.append(input.ptx()).push_back('\n');
    }
  }
  if (ltoir.empty()) return text;
  if (!driver::simulator_chosen()) return {};
  const Wanted wanted = wanted_by_ptx(inputs);
  if (!wanted.empty()) ltoir.push_back(make_keeper(wanted, architecture));
  options.arch = architecture.compute();
  options.ptx = true;
  NvJitLinkSession session(name, architecture, options.nvjitlink_flags());
  for (const ObjectCode& input : ltoir) session.add(input);
  session.complete();
  return text + with_visible(without_keeper(session.ptx()), wanted);
}

}  // namespace cudacore::compile
