// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tile/error.hpp"
#include "tile/layout.hpp"
#include "tile/type.hpp"

namespace cudacore::tile {

struct Operation;
struct Region;

/// A value of the text: defined once.
struct Value {
  std::string name;  ///< without the %; begins with a dot if it is not of the text
  Type type;
  Operation* source = nullptr;     ///< what gives it; null of parameters and arguments of regions
  Region* region = nullptr;        ///< whose argument it is; null of results and parameters
  Layout layout;                   ///< of tiles, once layouts are assigned
  std::int64_t divisor = 1;        ///< divides an integer, or a pointer's address; 0: it is 0
  bool shared = false;             ///< a lowering keeps it in shared memory; it has no layout
  std::int64_t shared_bytes = 0;   ///< of a shared value
  std::int64_t shared_offset = 0;  ///< set by allocate_shared()
  /// Of a pointer that control flow may make equal to another: see join_pointers().
  Value* joined = nullptr;
  bool joins_pointee = false;  ///< others joined it whose memory pointers in memory point to
  /// Of a parameter: it, or a pointer in its memory, may show the memory of others with the name.
  std::vector<std::string> alias_groups;
};

/// What stands in place of an operand: a value, or an integer literal.
struct Operand {
  Value* value = nullptr;
  std::int64_t literal = 0;
};

struct Word {
  std::string text;
};

struct Attribute;
using AttributeList = std::vector<Attribute>;

/// A number, a word, a string or a list of these.
struct Attribute {
  std::variant<std::int64_t, double, Word, std::string, AttributeList> value;
};

/// Operations with the values that they are given.
struct Region {
  std::vector<Value*> arguments;
  std::vector<std::unique_ptr<Operation>> operations;
  Operation* parent = nullptr;  ///< null of a kernel's body
};

/// One line of the text, with its regions.
struct Operation {
  std::string name;
  std::vector<Value*> results;
  std::vector<Operand> operands;
  std::map<std::string, std::vector<Operand>, std::less<>> groups;
  std::map<std::string, Attribute, std::less<>> attributes;
  std::vector<std::unique_ptr<Region>> regions;
  Location location;
  /// Bytes of shared memory that the operation alone needs, and where they begin.
  std::int64_t scratch_bytes = 0;
  std::int64_t scratch_offset = 0;
  /// For each phase of its effects (see effects.hpp): whether a barrier comes before it.
  std::vector<bool> barriers;

  [[nodiscard]] bool is(std::string_view other) const { return name == other; }
  [[nodiscard]] Value* operand(std::size_t index) const { return operands.at(index).value; }
  [[nodiscard]] Value* result() const { return results.at(0); }
  /// The members of a group; none if it is absent.
  [[nodiscard]] const std::vector<Operand>& group(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t otherwise = 0) const;
  [[nodiscard]] std::string word(std::string_view key, std::string_view otherwise = {}) const;
  [[nodiscard]] const Attribute* attribute(std::string_view key) const;
  [[nodiscard]] Region& region(std::size_t index) const { return *regions.at(index); }
};

/// CUDA C++ of the user's, which defines functions that the kernel calls.
struct DeviceSource {
  std::string file;  ///< where it is from, as the compiler's messages name it
  std::int64_t line = 1;
  std::string code;
};

/// A parsed kernel. Values and operations keep their addresses.
struct Kernel {
  std::string name;
  std::vector<std::string> files;
  std::vector<DeviceSource> sources;
  std::vector<Value*> parameters;
  std::map<std::string, std::int64_t, std::less<>> hints;
  Region body;

  [[nodiscard]] Value* add_value(Type type, std::string value_name = {});
  [[nodiscard]] Error error(const Location& location, const std::string& message) const;
  [[nodiscard]] std::int64_t hint(std::string_view key, std::int64_t otherwise) const;

 private:
  std::deque<Value> values_;
  int unnamed_ = 0;
};

/// Calls visit(Operand&) for all operands: plain ones first, then the groups'.
template <class Visit>
void for_each_operand(Operation& operation, const Visit& visit) {
  for (Operand& operand : operation.operands) visit(operand);
  for (auto& [key, members] : operation.groups)
    for (Operand& operand : members) visit(operand);
}

template <class Visit>
void for_each_operand(const Operation& operation, const Visit& visit) {
  for (const Operand& operand : operation.operands) visit(operand);
  for (const auto& [key, members] : operation.groups)
    for (const Operand& operand : members) visit(operand);
}

/// Calls visit(Operation&) for all operations of a region and of those within, outer ones first.
template <class Visit>
void for_each_operation(Region& region, const Visit& visit) {
  for (const std::unique_ptr<Operation>& operation : region.operations) {
    visit(*operation);
    for (const std::unique_ptr<Region>& inner : operation->regions)
      for_each_operation(*inner, visit);
  }
}
template <class Visit>
void for_each_operation(const Region& region, const Visit& visit) {
  for (const std::unique_ptr<Operation>& operation : region.operations) {
    visit(std::as_const(*operation));
    for (const std::unique_ptr<Region>& inner : operation->regions)
      for_each_operation(std::as_const(*inner), visit);
  }
}

}  // namespace cudacore::tile
