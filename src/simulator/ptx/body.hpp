// SPDX-License-Identifier: Apache-2.0
//
// The part of a function between its braces.
#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/ptx/declarations.hpp"
#include "simulator/ptx/keywords.hpp"
#include "simulator/ptx/labels.hpp"
#include "simulator/ptx/operands.hpp"

namespace cudacore::simulator::ptx {

class BodyParser {
 public:
  BodyParser(Lexer& lexer, Ledger& ledger, Symbols& symbols, Module& module, Function& function,
             OperandArena& runs, OperandArena& elements)
      : lexer_(lexer),
        ledger_(ledger),
        symbols_(symbols),
        module_(module),
        function_(function),
        labels_(function),
        operands_(lexer, symbols, module, function, runs, elements),
        first_location_(module.locations.size()) {}

  /// From '{' to '}'. The function's parameters are declared in an enclosing scope.
  void parse();

 private:
  void open_scope();
  void close_scope();
  void parse_statement();
  void parse_directive();
  void parse_registers();
  void parse_register_name(const Qualifiers& qualifiers);
  void parse_linked_variables(Directive linkage);
  void parse_body_variables(Space space, Linkage linkage);
  void parse_location();
  void parse_inlined_at(Location& location);
  void parse_guarded();
  void parse_instruction(Instruction& instruction);
  void parse_label(std::string_view name, Position position);
  void parse_branch_targets(std::string_view name);
  void parse_call_targets(std::string_view name);
  void parse_prototype(std::string_view name);
  [[nodiscard]] std::string_view parse_opcode_in_parts(std::string_view first);
  void declare(const Symbol& symbol, Position position);

  Lexer& lexer_;
  Ledger& ledger_;
  Symbols& symbols_;
  Module& module_;
  Function& function_;
  LabelUses labels_;
  OperandParser operands_;
  std::uint32_t location_ = 0;
  std::size_t first_location_ = 0;  ///< of this function
};

/// Fails if the name is already declared.
void declare_symbol(Symbols& symbols, const Symbol& symbol, Position position);

/// Adds registers to a function; the registers of a vector are counted individually.
/// @returns the index of the first.
std::uint32_t add_registers(Ledger& ledger, Function& function, const Register& model,
                            std::size_t count, Position position);

/// "(.param .b32 a, .param .b64 b)"
[[nodiscard]] std::vector<Variable> parse_parameters(Lexer& lexer);

/// ".file 1 "name.cu", 1234, 56", starting at the number.
void parse_file(Lexer& lexer, Ledger& ledger, Module& module);

/// ".pragma "nounroll";", starting at the string.
void parse_pragma(Lexer& lexer);

}  // namespace cudacore::simulator::ptx
