// SPDX-License-Identifier: Apache-2.0
//
// Opcodes as the table of forms knows them: what is the same for all instructions of one opcode.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/ops/form_table.hpp"

namespace cudacore::simulator {

/// The key of an opcode: what makes no difference to the simulator is taken out.
[[nodiscard]] std::string key_of(std::string_view opcode);

/// One operand of a form's signature.
struct Slot {
  char kind = 'w';
  std::uint8_t count = 0;  ///< elements of a vector; 0 for a scalar
  bool optional = false;
  bool paired = false;
};

/// The operands that Instruction::op holds, and a mask whose offset goes to Instruction::imm.
inline constexpr std::size_t most_slots = 7;

/// A form with its signature taken apart.
struct Pattern {
  Handler run = nullptr;
  std::uint32_t size = 0;
  std::array<Slot, most_slots> slots{};
};

struct Opcode {
  /// What the decoder does by itself.
  enum class Role : std::uint8_t {
    plain,
    move,  ///< mov of one value
    load_param,
    store_param,
    cvta_param,  ///< cvta.param and cvta.to.param
    call,
    branch_table,  ///< brx.idx
    ret,
  };
  /// What literals are made into.
  enum class Literal : std::uint8_t { bits, f32, f64 };

  std::string key;
  Role role = Role::plain;
  Literal literal = Literal::bits;
  bool known = false;       ///< some form has the key
  bool cache_hint = false;  ///< the last operand is a cache policy, which has no effect
  bool is_signed = false;   ///< narrow values are sign-extended
  bool has_result = true;   ///< the first operand is one, unless it is an address
  bool converts = false;    ///< registers may be wider than the type
  std::uint8_t video = 0;   ///< of a video instruction: elements of a register
  bool leaves = false;      ///< control does not go on to the next instruction if unguarded
  std::vector<Pattern> patterns;
  std::vector<Pattern> in_frame;   ///< ld.param and st.param of a device function
  std::vector<Pattern> elsewhere;  ///< ld.param of an address: .generic of an entry
  std::vector<Pattern> in_local;   ///< and .local of a device function
};

/// Whether PTX has an instruction that this device, knowingly, does not.
[[nodiscard]] bool is_not_simulated(std::string_view opcode) noexcept;

/// Opcodes of a program, each looked up once.
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

  const FormTable& table_;
  std::unordered_map<std::string_view, Opcode> opcodes_;
};

/// The forms of a key, taken apart.
[[nodiscard]] std::vector<Pattern> patterns_of(const FormTable& table, std::string_view key);

}  // namespace cudacore::simulator
