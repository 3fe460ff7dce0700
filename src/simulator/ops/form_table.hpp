// SPDX-License-Identifier: Apache-2.0
//
// The instruction set as data: every form of every instruction, what it takes, and what runs it.
//
// A form's key is its opcode with what makes no difference here taken out, as in "fma.rn.ftz.f32"
// or "ld.shared.v4.f32". The decoder makes a key of an opcode so:
//   - cache operators and eviction hints go (.ca .cg .cs .lu .cv .wb .wt .nc .L1::* .L2::*), and
//     the operand that .L2::cache_hint brings;
//   - .weak, .uni, .noftz and the scopes .cta .cluster .gpu .sys go (scopes but for
//     "barrier.cluster", "%cluster" and where a ".shared::cluster" is meant);
//   - .shared::cta becomes .shared; .param::entry and .param::func become .param; .const[n] .const.
// All else stays. Its order is the manual's; where a program has another, see in_written_order().
//
// A signature has one character for each operand, in the order written in PTX; operand i goes to
// Instruction::op[i]:
//   b h w x q   a row of 32 values of 8, 16, 32, 64, 128 bits. The decoder sees to it that the row
//               has that width: a register of another width is narrowed or widened by an
//               instruction of its own (sign-extended where the key's first type begins with 's');
//               a constant gets a row of equal values; a special register is read into one.
//   p           offset of a mask: a predicate. "!p" and constants are made into one.
//   m           a memory address whose base is a row of 64-bit values: op[i] is the row, its
//               constant offset goes to imm (to imm2 for the second address; of a third, it is in
//               the row already).
//   n           the same with a row of 32-bit values. The decoder picks the form by the width of
//               the base register; where there is none with 'n', 32 bits are an error. With no
//               register, the base is a row of zeros of 64 bits ('m').
//   i           an integer constant: its low 32 bits are op[i].
//   l           a label: imm is the index of the instruction in Function::code.
//   1 2 4 8 ... a vector {a, b, ...} of that many elements: op[i] is the index in
//               Instruction::list where their offsets stand; the width follows as a letter, as in
//               "4w" (four rows of 32 bits).
//   |           the operand that follows may be paired ("p|q"); where it is not, op[i] is a sink.
//   ?           the operand that follows may be absent: op[i] is no_operand then.
// Results not wanted ("_") go to Function::sink or sink_mask. One key may have several signatures.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

struct Form {
  std::string key;
  std::string signature;
  Handler run = nullptr;
};

class FormTable {
 public:
  FormTable();
  ~FormTable();

  /// Adds a form; the pieces are put together, and those that are empty leave nothing. Key and
  /// signature together are there once.
  void add(std::initializer_list<const char*> pieces, const char* signature, Handler run);

  /// All signatures of a key; empty where there is none.
  [[nodiscard]] std::span<const Form> find(std::string_view key) const noexcept;
  /// The key of a form that has these modifiers in another order; the key itself where there is
  /// none.
  [[nodiscard]] std::string_view in_written_order(std::string_view key) const;
  /// Whether some key begins with this mnemonic ("fma"): tells a wrong modifier from a wrong name.
  [[nodiscard]] bool knows(std::string_view mnemonic) const noexcept;
  /// All forms, by key.
  [[nodiscard]] std::vector<const Form*> all() const;

 private:
  struct Index;
  std::unique_ptr<Index> index_;
};

/// The vector instructions that handlers may be compiled for. On arm64 the baseline is NEON.
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

/// The best that this processor has; CUDACORE_SIMULATOR_ISA=baseline|avx2|avx512 asks for less.
[[nodiscard]] Isa best_isa();
[[nodiscard]] std::string_view name_of(Isa isa) noexcept;

/// Every form, with handlers for an ISA (best_isa() unless told); made once. An ISA that this
/// processor lacks gives nullptr.
[[nodiscard]] const FormTable* form_table(Isa isa);

}  // namespace cudacore::simulator
