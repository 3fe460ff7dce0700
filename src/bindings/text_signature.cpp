// SPDX-License-Identifier: Apache-2.0
#include "bindings/text_signature.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

namespace cudacore::bindings {

namespace py = pybind11;

namespace {

constexpr char end_of_signature[] = ")\n--\n\n";

/// Nothing for a function whose arguments have no names: each needs a py::arg.
std::optional<std::string> parameters_of(const py::detail::function_record& record) {
  const std::size_t starred = (record.has_args ? 1U : 0U) + (record.has_kwargs ? 1U : 0U);
  const std::size_t count = record.nargs - starred;
  const std::size_t named = std::max<std::size_t>(record.args.size(), record.is_method ? 1 : 0);
  if (named < count) return std::nullopt;
  std::string text;
  const auto add = [&](std::string_view part) {
    text += text.empty() ? "" : ", ";
    text += part;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (i == record.nargs_pos) add("*");
    if (i >= record.args.size()) {
      add("self");
    } else {
      add(record.args[i].name);
      if (record.args[i].value) text += "=" + std::string(py::repr(record.args[i].value));
    }
    if (i + 1 == record.nargs_pos_only) add("/");
  }
  if (record.has_args) add("*args");
  if (record.has_kwargs) add("**kwargs");
  return text;
}

}  // namespace

std::string with_signature(const std::string& name, const std::string& parameters,
                           const std::string& doc) {
  return name + "(" + parameters + end_of_signature + doc;
}

void add_text_signature(const BoundFunction& function) {
  if (function.is_accessor) return;
  const std::optional<std::string> parameters = parameters_of(function.record);
  if (!parameters) return;
  // The documentation that inspect reads is the definition's, which pybind11 frees with the
  // function.
  const char*& doc = function.definition.ml_doc;
  const std::string all =
      with_signature(function.record.name, *parameters, doc == nullptr ? "" : doc);
  char* copy = ::strdup(all.c_str());
  if (copy == nullptr) throw std::bad_alloc();
  std::free(const_cast<char*>(doc));  // NOLINT: strdup's, as pybind11 has it
  doc = copy;
}

}  // namespace cudacore::bindings
