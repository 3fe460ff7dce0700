// SPDX-License-Identifier: Apache-2.0
#include "tile/kernel.hpp"

#include <cmath>
#include <utility>

namespace cudacore::tile {

const std::vector<Operand>& Operation::group(std::string_view key) const {
  static const std::vector<Operand> none;
  const auto found = groups.find(key);
  return found == groups.end() ? none : found->second;
}

const Attribute* Operation::attribute(std::string_view key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}

std::int64_t Operation::integer(std::string_view key, std::int64_t otherwise) const {
  const Attribute* const found = attribute(key);
  const auto* const number = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
  return number == nullptr ? otherwise : *number;
}

std::string Operation::word(std::string_view key, std::string_view otherwise) const {
  const Attribute* const found = attribute(key);
  if (found == nullptr) return std::string(otherwise);
  if (const auto* const word = std::get_if<Word>(&found->value)) return word->text;
  if (const auto* const text = std::get_if<std::string>(&found->value)) return *text;
  // These words are numbers, too.
  if (const auto* const number = std::get_if<double>(&found->value))
    return std::isnan(*number) ? "nan" : std::isinf(*number) ? "inf" : std::string(otherwise);
  return std::string(otherwise);
}

Value* Kernel::add_value(Type type, std::string value_name) {
  Value& value = values_.emplace_back();
  value.type = std::move(type);
  value.name = value_name.empty() ? "." + std::to_string(unnamed_++) : std::move(value_name);
  return &value;
}

Error Kernel::error(const Location& location, const std::string& message) const {
  const bool known = location.file >= 0 && location.file < static_cast<int>(files.size());
  return Error(message, known ? files[static_cast<std::size_t>(location.file)] : std::string{},
               location.line, location.column, location.text_line);
}

std::int64_t Kernel::hint(std::string_view key, std::int64_t otherwise) const {
  const auto found = hints.find(key);
  return found == hints.end() ? otherwise : found->second;
}

}  // namespace cudacore::tile
