// SPDX-License-Identifier: Apache-2.0
//
// Turns a PTX function into instructions that can run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/engine/frame_regions.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/implied_instructions.hpp"
#include "simulator/engine/linker.hpp"
#include "simulator/engine/opcode_key.hpp"
#include "simulator/engine/rows.hpp"
#include "simulator/engine/variables.hpp"

namespace cudacore::simulator {

/// The program that a function belongs to.
struct LinkedProgram {
  const ModuleLinker& linker;
  const SharedLayout& shared;
  std::span<const std::unique_ptr<Function>> functions;  ///< by index, like those of the linker
  std::span<const std::uint32_t> first_files;            ///< by module: of Image::files
  Opcodes& opcodes;
  ImpliedInstructions& implied;
};

/// Decodes one function.
class Decoder {
 public:
  Decoder(const LinkedProgram& program, std::uint32_t index);

  /// Fills in everything in the function except what the call graph provides.
  ///
  /// @throws LoadError
  void decode();

 private:
  Decoder(const LinkedProgram& program, std::uint32_t index, const std::vector<bool>& targets);

  using Operand = ptx::Operand;
  using Operands = std::span<const Operand>;
  static constexpr int mismatch = -1;
  /// Per thread.
  static constexpr std::uint32_t most_local_bytes = 512u << 10;

  struct Match {
    const Pattern* pattern = nullptr;
    int cost = mismatch;
    std::array<std::int8_t, most_slots> operands{};  ///< by slot; -1 if the operand is missing
  };
  /// An address that is known except for the contents of a row.
  struct Address {
    std::uint32_t row = no_operand;
    std::uint64_t offset = 0;
  };
  struct Resize {
    unsigned to_width;
    std::uint32_t to;
    unsigned from_width;
    std::uint32_t from;
  };
  struct CallParts;

  // Functions.
  void lay_out();
  void lay_out_parameters();
  void lay_out_locals();
  void begin();
  void decode_instructions();
  void finish();
  [[nodiscard]] Dim3 dimensions_of(const std::uint32_t (&values)[3]) const;

  // Instructions.
  void decode_instruction();
  void decode_plain(std::span<const Pattern> patterns, Operands operands);
  [[nodiscard]] Operands spread(Operands operands);
  [[nodiscard]] bool decode_move();
  void decode_branch_table();
  void check_known();
  Instruction& emit(Handler run);
  void flush_resizes();

  // Operands.
  [[nodiscard]] Match match(std::span<const Pattern> patterns, Operands operands) const;
  [[nodiscard]] int match_from(const Pattern& pattern, std::uint32_t slot, Operands operands,
                               std::uint32_t operand, Match& match) const;
  [[nodiscard]] int cost_of(const Operand& operand, const Slot& slot, bool is_result) const;
  [[nodiscard]] int cost_of_value(const Operand& operand, unsigned width, bool is_result) const;
  [[nodiscard]] int cost_of_mask(const Operand& operand, bool is_result) const;
  [[nodiscard]] static bool is_result(const Operand& operand, std::size_t index,
                                      const Opcode& opcode);
  [[nodiscard]] bool is_opaque(const Operand& operand) const;
  [[noreturn]] void fail_match(std::span<const Pattern> patterns, Operands operands) const;
  void bind(const Match& match, Operands operands, Instruction& to);
  void bind_vector(const Operand& operand, const Slot& slot, bool is_result, std::uint32_t& to);
  void bind_address(const Operand& operand, char kind, unsigned nth, std::uint32_t& row,
                    Instruction& to);
  [[nodiscard]] std::uint32_t source(const Operand& operand, unsigned width);
  [[nodiscard]] std::uint32_t result(const Operand& operand, unsigned width);
  [[nodiscard]] std::uint32_t source_mask(const Operand& operand);
  [[nodiscard]] std::uint32_t result_mask(const Operand& operand);
  [[nodiscard]] std::uint32_t special(const Operand& operand, unsigned width);
  [[nodiscard]] std::uint64_t literal(const Operand& operand, unsigned width) const;
  [[nodiscard]] Address address_of(const Operand& operand, unsigned width);
  [[nodiscard]] Address address_of_own(const Operand& operand, unsigned width);
  [[noreturn]] void fail_opaque(const Operand& operand) const;
  [[nodiscard]] Address address_of_linked(const LinkedVariable& variable, std::uint64_t offset,
                                          unsigned width);
  [[nodiscard]] std::uint32_t row_of_address(const Operand& operand, unsigned width);
  /// A row that holds a + b.
  [[nodiscard]] std::uint32_t sum(std::uint32_t a, std::uint32_t b, unsigned width);
  [[nodiscard]] std::uint32_t resized(std::uint32_t from, unsigned from_width, unsigned to_width);
  [[nodiscard]] unsigned width_of(std::uint32_t reg) const {
    return ptx::size_of(source_.registers[reg].type);
  }
  [[nodiscard]] bool is_predicate(std::uint32_t reg) const {
    return source_.registers[reg].type == ptx::Type::pred;
  }

  // Parameters and calls.
  void decode_parameter_access();
  void access_frame(const Region& region, std::int64_t offset, Operands value);
  void move_frame(bool is_store, unsigned width, std::uint32_t row, std::uint32_t at,
                  std::uint32_t stride);
  void decode_call();
  [[nodiscard]] CallParts split_call() const;
  void add_arguments(Operands actual, std::span<const ptx::Variable> formal, bool is_known,
                     bool are_results, std::uint32_t& scratch);
  void store_results();
  void copy_parameters();

  [[noreturn]] void fail(LoadError::Kind kind, ptx::Position position,
                         const std::string& message) const;

  const LinkedProgram& program_;
  const std::uint32_t index_;
  const LinkedFunction& linked_;
  const ptx::Function& source_;
  const ptx::Module& module_;
  Function& out_;
  std::vector<const Opcode*> opcodes_;
  FrameRegions regions_;
  Rows rows_;
  std::vector<std::uint32_t> local_offsets_;                   ///< of variables, if they are local
  std::vector<std::uint32_t> first_of_;                        ///< code index by PTX instruction
  std::vector<std::pair<std::size_t, std::uint32_t>> labels_;  ///< code, PTX instruction
  std::vector<std::pair<std::size_t, std::uint32_t>> list_labels_;  ///< list, PTX instruction
  std::vector<Resize> resizes_;  ///< of results, to be added after the instruction

  const ptx::Instruction* instruction_ = nullptr;  ///< the one being decoded
  const Opcode* opcode_ = nullptr;
  std::uint32_t guard_ = true_mask;
  std::uint32_t guard_flip_ = 0;
  std::uint32_t where_ = 0;
  std::vector<Operand> spread_;
};

}  // namespace cudacore::simulator
