// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>

#include "cudacore/signature.hpp"
#include "signature/cxx_text.hpp"
#include "signature/cxx_type.hpp"

namespace cudacore {
namespace {

constexpr std::size_t max_listed = 20;

using Indices = std::vector<std::size_t>;

/// Whether `tail` is `name`, or `name` without some of its outer namespaces.
bool ends_with_name(std::string_view name, std::string_view tail) noexcept {
  if (!name.ends_with(tail)) return false;
  const std::string_view head = name.substr(0, name.size() - tail.size());
  return head.empty() || (head.size() > 2 && head.ends_with("::"));
}

std::vector<std::string> types_of(std::string_view list) {
  std::vector<std::string> types;
  for (const Param& param : parse_signature("(" + std::string(list) + ")").params) {
    types.push_back(param.type);
  }
  return types;
}

/// What the caller asked for, in canonical spelling.
struct Query {
  std::string name;
  bool has_types = false;
  std::vector<std::string> types;

  explicit Query(std::string_view text) {
    const signature::FunctionText function = signature::split_function(text);
    if (!function.has_parameters) {
      name = signature::canonical_name(text);
      return;
    }
    name = signature::canonical_name(function.name);
    has_types = true;
    types = types_of(function.parameters);
  }

  [[nodiscard]] bool accepts(const Signature& signature) const {
    return !has_types ||
           std::equal(
               types.begin(), types.end(), signature.params.begin(), signature.params.end(),
               [](const std::string& type, const Param& param) { return type == param.type; });
  }
};

/// "scale(float*, int)".
std::string with_types(const KernelEntry& entry) {
  Signature signature = entry.signature;
  for (Param& param : signature.params) param.name.clear();
  return signature.str();
}

/// Overloads are distinguished by their parameters, even if `full` is false.
std::string listed(std::span<const KernelEntry> entries, const Indices& indices, bool full) {
  std::map<std::string_view, int> uses;
  for (const KernelEntry& entry : entries) ++uses[entry.name];
  std::string text;
  for (std::size_t i = 0; i < indices.size() && i < max_listed; ++i) {
    const KernelEntry& entry = entries[indices[i]];
    text += i == 0 ? "" : ", ";
    text += full ? entry.signature.str() : uses[entry.name] > 1 ? with_types(entry) : entry.name;
  }
  if (indices.size() > max_listed) {
    text += " and " + std::to_string(indices.size() - max_listed) + " more";
  }
  return text;
}

[[noreturn]] void throw_ambiguous(std::span<const KernelEntry> entries, std::string_view name,
                                  const Indices& indices) {
  throw std::invalid_argument("'" + signature::abbreviated(name) + "' names " +
                              std::to_string(indices.size()) +
                              " kernels; ask for one of: " + listed(entries, indices, true));
}

[[noreturn]] void throw_unknown(std::span<const KernelEntry> entries, std::string_view name,
                                const Query& query) {
  std::string message = "no kernel '" + signature::abbreviated(name) + "'; this object has";
  Indices all(entries.size());
  Indices instances;
  Indices overloads;
  const std::string_view base = signature::unqualified(signature::without_arguments(query.name));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    all[i] = i;
    const std::string_view plain = signature::without_arguments(entries[i].name);
    if (signature::unqualified(plain) == base) {
      (plain.size() < entries[i].name.size() ? instances : overloads).push_back(i);
    }
  }
  message += all.empty() ? " no kernels" : ": " + listed(entries, all, false);
  if (query.has_types && !(instances.empty() && overloads.empty())) {
    instances.insert(instances.begin(), overloads.begin(), overloads.end());
    message += "; did you mean " + listed(entries, instances, true) + "?";
  } else if (!instances.empty()) {
    message += "; did you mean " + listed(entries, instances, false) + "? Of the template '" +
               std::string(base) + "' only what was named when compiling is here: pass '" +
               std::string(name) + "' as a name expression to add it";
  } else if (!overloads.empty()) {
    message += "; did you mean " + listed(entries, overloads, false) + "?";
  }
  throw std::invalid_argument(message);
}

}  // namespace

std::size_t find_kernel(std::span<const KernelEntry> entries, std::string_view name) {
  const std::string_view asked = signature::trim(name);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].symbol == asked) return i;
  }
  const Query query(asked);
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const KernelEntry& entry : entries) names.push_back(signature::canonical_name(entry.name));
  const auto matching = [&](const auto& accept) {
    Indices indices;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (accept(names[i]) && query.accepts(entries[i].signature)) indices.push_back(i);
    }
    return indices;
  };
  const auto whole = [&](std::string_view candidate) { return candidate == query.name; };
  const auto inner = [&](std::string_view candidate) {
    return ends_with_name(candidate, query.name);
  };
  const auto any_instance = [&](std::string_view candidate) {
    return ends_with_name(signature::without_arguments(candidate), query.name);
  };
  if (!query.name.empty()) {
    for (const Indices& indices : {matching(whole), matching(inner), matching(any_instance)}) {
      if (indices.size() == 1) return indices.front();
      if (indices.size() > 1) throw_ambiguous(entries, name, indices);
    }
  }
  throw_unknown(entries, name, query);
}

}  // namespace cudacore
