// SPDX-License-Identifier: Apache-2.0
//
// Parses modules, or the bodies of kernels.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx::testing {

using Kind = Operand::Kind;

inline std::string with_header(std::string_view rest) {
  return ".version 8.3\n.target sm_90\n.address_size 64\n" + std::string(rest);
}

inline std::unique_ptr<Module> parse_module(std::string_view rest) {
  auto modules = parse(with_header(rest));
  EXPECT_EQ(modules.size(), 1U);
  return std::move(modules.front());
}

/// A module with one entry that has a few registers and this body.
inline std::unique_ptr<Module> parse_body(std::string_view body) {
  return parse_module(
      ".global .align 4 .u32 table[4];\n.extern .shared .align 16 .b8 dynamic[];\n"
      ".func (.param .b32 result) helper(.param .b32 x, .param .b64 y);\n"
      ".visible .entry kernel(.param .u64 pointer, .param .u32 count)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<10>;\n" +
      std::string(body) + "\n}\n");
}

inline const Function& entry_of(const Module& module) { return module.functions.back(); }

inline const Instruction& first_of(const Module& module) {
  return entry_of(module).instructions.at(0);
}

}  // namespace cudacore::simulator::ptx::testing
