// SPDX-License-Identifier: Apache-2.0
//
// The instruction set as data: every form of every instruction, its operands, and its handler.
//
// A form's key is its opcode without the parts that make no difference here, as in "fma.rn.ftz.f32"
// or "ld.shared.v4.f32". This is how the decoder makes a key from an opcode:
//   - it drops cache operators and eviction hints (.ca .cg .cs .lu .cv .wb .wt .nc .L1::* .L2::*),
//     and the operand that comes with .L2::cache_hint;
//   - it drops .weak, .uni, .noftz and the scopes .cta .cluster .gpu .sys (but not the scopes in
//     "barrier.cluster" and "%cluster", or a ".shared::cluster");
//   - .shared::cta becomes .shared; .param::entry and .param::func become .param; .const[n] .const.
// Everything else stays. The order is the manual's; for other orders, see in_written_order().
//
// A signature has one character for each operand, in the order written in PTX; operand i goes to
// Instruction::op[i]:
//   b h w x q   a row of 32 values of 8, 16, 32, 64, 128 bits. The decoder makes sure that the row
//               has that width: it adds an instruction that narrows or widens a register of another
//               width (with sign extension if the key's first type begins with 's'); a constant
//               becomes a row of equal values; a special register is read into a row.
//   p           offset of a mask: a predicate. "!p" and constants are turned into masks.
//   m           a memory address whose base is a row of 64-bit values: op[i] is the row. Its
//               constant offset goes to imm (for the second address to imm2; for a third, it is
//               already added to the row).
//   n           the same with a row of 32-bit values. The decoder selects the form by the width of
//               the base register; if there is no form with 'n', 32 bits are an error. Without a
//               register, the base is a row of 64-bit zeros ('m').
//   i           an integer constant: its low 32 bits are op[i].
//   l           a label: imm is the index of the instruction in Function::code.
//   1 2 4 8 ... a vector {a, b, ...} of that many elements: op[i] is the index of their offsets in
//               Instruction::list; the width follows as a letter, as in "4w" (four rows of 32
//               bits).
//   |           the next operand may be paired ("p|q"); if it is not, op[i] is a sink.
//   ?           the next operand is optional; if it is missing, op[i] is no_operand.
// Unwanted results ("_") go to Function::sink or sink_mask. One key may have several signatures.
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

/// What an instruction means to a loop that waits for memory to change.
enum class Effect : std::uint8_t {
  none,
  looks,     ///< at memory that others write, or lets time pass: such a loop waits
  acts,      ///< such a loop does more than wait
  branches,  ///< to the label that Instruction::imm stands for
};

/// Which literals fit rows.
enum class Literals : std::uint8_t {
  of_type,   ///< those of the key's last type: of .f32 and .f64 no integers
  any,       ///< also integers
  floating,  ///< no integers
};

/// What the decoder does itself, instead of only binding the operands. It also does calls, which
/// the parser knows: ptx::Form::call.
enum class Role : std::uint8_t {
  plain,
  move,           ///< reads special registers directly
  load_param,     ///< from a parameter: of a kernel, or in a frame
  store_param,    ///< to a parameter in a frame
  convert_space,  ///< an address, which may be one of a parameter
  branch_table,
  ret,  ///< stores what the function returns
};

/// What the decoder and the scheduler go by, beside the operands.
struct Traits {
  Effect effect = Effect::none;
  Literals literals = Literals::of_type;
  bool only_reads = false;  ///< its first operand is no result
  bool ends_path = false;   ///< control goes on to the next instruction only if its guard is false
  bool converts = false;    ///< registers may be wider than its type
  std::uint8_t video = 0;   ///< elements of a register, of which selectors choose; 0: none do
  Role role = Role::plain;

  friend bool operator==(const Traits&, const Traits&) = default;
};

struct Form {
  std::string key;
  std::string signature;
  Handler run = nullptr;
  Traits traits;  ///< the same for all forms of a key
};

class FormTable {
 public:
  FormTable();
  ~FormTable();

  /// Adds a form. The parts of the key are concatenated; empty ones have no effect. The combination
  /// of key and signature must be unique.
  void add(std::initializer_list<const char*> key, const char* signature, Handler run,
           const Traits& traits);
  /// The same, with the traits of the family being added.
  void add(std::initializer_list<const char*> key, const char* signature, Handler run);

  /// Gives a family its traits: those of all forms added while it lives.
  class Family {
   public:
    Family(FormTable& table, const Traits& traits);
    ~Family();
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

   private:
    FormTable& table_;
  };

  /// All signatures of a key; empty if there are none.
  [[nodiscard]] std::span<const Form> find(std::string_view key) const noexcept;
  /// The key of a form that has the same modifiers in another order; the key itself if there is
  /// none.
  [[nodiscard]] std::string_view in_written_order(std::string_view key) const;
  /// Whether some key begins with this mnemonic ("fma"): distinguishes a wrong modifier from a
  /// wrong name.
  [[nodiscard]] bool knows(std::string_view mnemonic) const noexcept;
  /// All forms, by key.
  [[nodiscard]] std::vector<const Form*> all() const;

 private:
  struct Index;
  std::unique_ptr<Index> index_;
  Traits family_;
};

}  // namespace cudacore::simulator
