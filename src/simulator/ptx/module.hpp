// SPDX-License-Identifier: Apache-2.0
//
// A PTX module as it was written: the parser makes it; the linker and the decoder read it.
//
// Names are views of the text, which the module owns. A function's registers, labels and variables
// are resolved, including scopes, while parsing. Names of other functions and of module variables
// stay names, because they may be in another module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::simulator::ptx {

/// A position in the text; both numbers start at 1.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Text that is not PTX. what() reads "line 12, column 5: ...".
class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(Position position, const std::string& message);
  [[nodiscard]] Position position() const noexcept { return position_; }

 private:
  Position position_;
};

enum class Space : std::uint8_t { generic, constant, global, local, param, shared };

/// A fundamental type of a register or a variable.
enum class Type : std::uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
};

/// The size of a value in bytes; 0 for pred.
[[nodiscard]] unsigned size_of(Type type) noexcept;
/// "b32", "f16x2", ... without a dot.
[[nodiscard]] std::string_view name_of(Type type) noexcept;

/// What an instruction operates on.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,      ///< a register of the function: index
    special,  ///< a predefined one: name, as in "%tid.x", "%laneid", "%envreg1", "WARP_SZ"
    integer,  ///< bits, in 64-bit two's complement
    f32,      ///< the low 32 bits of bits (0f...)
    f64,      ///< bits (0d... or a decimal with a point)
    symbol,   ///< address of a variable or a function: name, or index if variable_known; + offset
    label,    ///< index of an instruction of the function, or of a table (see Function::tables)
    address,  ///< [base + offset]; `base` says which of the above the base is
    vector,   ///< {a, b, ...}: elements
    list,     ///< (a, b, ...) of a call: elements
    blank,    ///< _
  };
  /// What an address starts with.
  enum class Base : std::uint8_t { none, reg, symbol };

  Kind kind = Kind::blank;
  Base base = Base::none;
  bool negated = false;         ///< !p
  bool paired = false;          ///< follows a '|', as q in "p|q"
  bool variable_known = false;  ///< the symbol is Function::variables[index]
  bool table = false;           ///< the label is Function::tables[index]
  bool prototype = false;       ///< the label is Function::prototypes[index]
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::string_view name;
  std::span<const Operand> elements;
  Position position;
};

/// What an opcode says about the kinds of its operands.
enum class Form : std::uint8_t {
  plain,
  branch,          ///< a label
  indexed_branch,  ///< a register and a table
  call,            ///< lists, and perhaps a table or a prototype
};

struct Instruction {
  static constexpr std::uint32_t no_guard = ~std::uint32_t{0};

  std::string_view opcode;            ///< complete: "fma.rn.ftz.f32"
  std::span<const Operand> operands;  ///< in the order written
  std::uint32_t guard = no_guard;     ///< register of "@p"
  bool guard_negated = false;         ///< "@!p"
  Form form = Form::plain;
  std::uint32_t location = 0;  ///< of Module::locations; 0 if there was no .loc
  Position position;
};

/// Bytes of a variable that contain an address, which is known only after linking.
struct Relocation {
  std::size_t offset = 0;  ///< in Variable::initial
  unsigned size = 8;       ///< bytes written there
  std::string_view symbol;
  std::int64_t addend = 0;
  bool generic = false;  ///< generic(symbol)
  unsigned shift = 0;    ///< how far the address is shifted right in bits, for 0xff00(symbol)
};

enum class Linkage : std::uint8_t { internal, visible, external, weak, common };

/// A variable or a parameter.
struct Variable {
  std::string_view name;
  Space space = Space::global;
  Type type = Type::b8;
  Linkage linkage = Linkage::internal;
  unsigned vector = 1;   ///< 2 for .v2, 4 for .v4, 8 for .v8
  unsigned align = 1;    ///< bytes
  std::size_t size = 0;  ///< bytes; 0 for an array of unknown size (extern __shared__)
  bool is_array = false;
  bool is_pointer = false;   ///< a parameter with .ptr
  bool managed = false;      ///< .attribute(.managed)
  bool opaque = false;       ///< .texref, .samplerref or .surfref
  bool in_register = false;  ///< a parameter declared with .reg: index is its register
  std::uint32_t index = 0;
  std::vector<std::byte> initial;  ///< empty if there is none; otherwise size bytes
  std::vector<Relocation> relocations;
  Position position;
};

/// ".reg .b32 %r<8>" makes eight of these.
struct Register {
  Type type = Type::b32;
  unsigned vector = 1;
  std::string_view name;  ///< as first used or declared; for messages
};

/// ".callprototype": what an indirect call passes.
struct Prototype {
  std::string_view name;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
};

/// Labels of ".branchtargets", or names of ".calltargets".
struct Table {
  std::string_view name;
  std::vector<std::uint32_t> instructions;
  std::vector<std::string_view> functions;
};

/// Launch bounds and similar directives; 0 if not given.
struct Directives {
  std::uint32_t max_threads[3] = {};       ///< .maxntid
  std::uint32_t required_threads[3] = {};  ///< .reqntid
  std::uint32_t required_cluster[3] = {};  ///< .reqnctapercluster
  std::uint32_t max_cluster_rank = 0;
  std::uint32_t min_blocks = 0;  ///< .minnctapersm
  std::uint32_t max_registers = 0;
  bool explicit_cluster = false;
  bool blocks_are_clusters = false;  ///< the grid of a launch counts clusters
  bool no_return = false;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  Linkage linkage = Linkage::internal;
  std::vector<Variable> results;
  std::vector<Variable> parameters;  ///< referred to as variables with their own names
  std::vector<Register> registers;
  std::vector<Variable>
      variables;  ///< parameters and results first, then the body's .local, .shared and .param
  std::vector<Instruction> instructions;
  std::vector<Table> tables;
  std::vector<Prototype> prototypes;
  Directives directives;
  Position position;
};

/// ".loc file line column": the source position of the instructions that follow.
struct Location {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  /// Where the function itself, rather than one that was inlined, calls what has this position.
  std::uint32_t call_file = 0;
  std::uint32_t call_line = 0;  ///< 0 if nothing was inlined
};

struct Alias {
  std::string_view name;
  std::string_view target;
};

class Module {
 public:
  std::string text;
  unsigned version = 0;     ///< 10 * major + minor
  std::string_view target;  ///< "sm_90a"
  unsigned address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;  ///< declarations and definitions, in order
  std::vector<Alias> aliases;
  std::vector<std::string> files;  ///< by .file's number
  std::vector<Location> locations{Location{}};
  std::deque<std::vector<Operand>> operands;  ///< owns what spans refer to
  std::deque<std::string> opcodes;            ///< opcodes that were written with blanks
};

/// Parses a text. Another ".version" begins a new module, so that several PTX files can be passed
/// as one text; a NUL ends it.
///
/// @throws SyntaxError at the first error.
[[nodiscard]] std::vector<std::unique_ptr<Module>> parse(std::string_view text);

}  // namespace cudacore::simulator::ptx
