// SPDX-License-Identifier: Apache-2.0
//
// Operands of instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/ptx/arena.hpp"
#include "simulator/ptx/lexer.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/ptx/symbols.hpp"

namespace cudacore::simulator::ptx {

[[nodiscard]] Form form_of(std::string_view opcode) noexcept;

class OperandParser {
 public:
  OperandParser(Lexer& lexer, Symbols& symbols, Module& module, Function& function,
                OperandArena& runs, OperandArena& elements)
      : lexer_(lexer),
        symbols_(symbols),
        module_(module),
        function_(function),
        runs_(runs),
        elements_(elements) {}

  /// All operands of an instruction, up to its ';' or whatever ends it. Adds labels, which are
  /// resolved later, to `labels`.
  std::span<Operand> parse(Form form, std::vector<Operand*>& labels);

  /// A register that is a predicate, for a guard.
  std::uint32_t parse_guard();

 private:
  void parse_operand(Operand& operand, Form form);
  void parse_plain(Operand& operand);
  void parse_negated(Operand& operand);
  void parse_name(Operand& operand);
  bool parse_register(Operand& operand);
  void parse_component(Operand& operand, RegisterRange range);
  void parse_special(Operand& operand);
  void parse_symbol(Operand& operand);
  static void refer(Operand& operand, const Symbol& symbol, std::string_view name);
  void parse_index(Operand& operand);
  void parse_offset(Operand& operand);
  void parse_value(Operand& operand);
  void parse_warp_size(Operand& operand);
  void parse_address(Operand& operand);
  void parse_vector(Operand& operand);
  void parse_list(Operand& operand);
  void expand(Operand& operand, RegisterRange range);
  void set_register(Operand& operand, std::uint32_t index, std::string_view name) const;
  [[nodiscard]] std::span<const Operand> keep(std::span<const Operand> operands);
  void parse_label(Operand& operand);
  [[nodiscard]] std::size_t element_size(const Operand& operand) const;

  Lexer& lexer_;
  Symbols& symbols_;
  Module& module_;
  Function& function_;
  OperandArena& runs_;
  OperandArena& elements_;
  std::size_t ordinal_ = 0;  ///< position of the operand in its instruction
  bool called_ = false;      ///< after the callee's name
  bool in_vector_ = false;
  std::vector<std::size_t> label_ordinals_;
  std::vector<Operand> scratch_;
};

}  // namespace cudacore::simulator::ptx
