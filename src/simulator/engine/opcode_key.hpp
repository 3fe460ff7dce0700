// SPDX-License-Identifier: Apache-2.0
//
// Opcodes as the table of forms knows them: what all instructions with the same opcode have in
// common.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/engine/form_table.hpp"

namespace cudacore::simulator {

/// The key of an opcode: the opcode without what makes no difference to the simulator.
[[nodiscard]] std::string key_of(std::string_view opcode);

/// One operand of a form's signature.
struct Slot {
  char kind = 'w';
  std::uint8_t count = 0;  ///< elements of a vector; 0 for a scalar
  bool optional = false;
  bool paired = false;
};

/// The operands that Instruction::op holds, and a mask whose offset goes into Instruction::imm.
inline constexpr std::size_t most_slots = 7;

/// A form, with its signature split into parts.
struct Pattern {
  Handler run = nullptr;
  std::uint32_t size = 0;
  std::array<Slot, most_slots> slots{};
};

struct Opcode {
  std::string key;
  Traits traits;
  bool known = false;          ///< some form does this
  bool cache_hint = false;     ///< the last operand is a cache policy, which has no effect
  bool is_signed = false;      ///< narrow values are sign-extended
  bool takes_integers = true;  ///< integer literals fit rows
  std::vector<Pattern> patterns;
  // Of an opcode with .param:
  std::vector<Pattern> in_frame;   ///< for a parameter in a frame
  std::vector<Pattern> elsewhere;  ///< for an address, which is generic in an entry
  std::vector<Pattern> in_local;   ///< and local in a device function
};

/// Whether PTX has an instruction that this device deliberately doesn't.
[[nodiscard]] bool is_not_simulated(std::string_view opcode) noexcept;

/// The opcodes of a program, each looked up once.
class Opcodes {
 public:
  explicit Opcodes(const FormTable& table) : table_(table) {}

  [[nodiscard]] const Opcode& find(std::string_view opcode) {
    const auto found = opcodes_.find(opcode);
    return found != opcodes_.end() ? found->second : add(opcode);
  }
  [[nodiscard]] const FormTable& table() const noexcept { return table_; }

 private:
  const Opcode& add(std::string_view opcode);
  void add_forms_for_parameters(Opcode& opcode) const;

  const FormTable& table_;
  std::unordered_map<std::string_view, Opcode> opcodes_;
};

/// The forms of a key, split into parts.
[[nodiscard]] std::vector<Pattern> patterns_of(const FormTable& table, std::string_view key);

}  // namespace cudacore::simulator
