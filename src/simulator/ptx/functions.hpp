// SPDX-License-Identifier: Apache-2.0
//
// Functions and entries: their heads and, through BodyParser, their bodies.
#pragma once

#include "simulator/ptx/body.hpp"

namespace cudacore::simulator::ptx {

class FunctionParser {
 public:
  FunctionParser(Lexer& lexer, Ledger& ledger, Symbols& symbols, Module& module, OperandArena& runs,
                 OperandArena& elements)
      : lexer_(lexer),
        ledger_(ledger),
        symbols_(symbols),
        module_(module),
        runs_(runs),
        elements_(elements) {}

  /// Starts after ".entry" or ".func"; adds to the module's functions.
  void parse(bool is_entry, Linkage linkage);

 private:
  void parse_head(Function& function);
  void parse_directives(Function& function);
  void parse_extents(std::uint32_t (&extents)[3]);
  void parse_function_attributes();
  void declare(const Function& function);
  void declare_parameters(Function& function, std::vector<Variable>& parameters);
  void parse_body(Function& function);

  Lexer& lexer_;
  Ledger& ledger_;
  Symbols& symbols_;
  Module& module_;
  OperandArena& runs_;
  OperandArena& elements_;
};

}  // namespace cudacore::simulator::ptx
