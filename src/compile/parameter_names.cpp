// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cudacore/signature.hpp"
#include "cxx_text.hpp"
#include "cxx_type.hpp"
#include "kernel_templates.hpp"

namespace cudacore {
namespace {

using cxx::npos;

/// One past the raw string whose R stands at `i`; `i` where that is none.
std::size_t skip_raw_string(std::string_view source, std::size_t i) {
  if (source.substr(i, 2) != "R\"") {
    return i;
  }
  const std::size_t open = source.find('(', i);
  constexpr std::size_t max_delimiter = 16;
  if (open == npos || open - i - 2 > max_delimiter) {
    return i;
  }
  const std::string close = ")" + std::string(source.substr(i + 2, open - i - 2)) + "\"";
  const std::size_t end = source.find(close, open);
  return end == npos ? source.size() : end + close.size();
}

/// One past the string or character literal at `i`.
std::size_t skip_literal(std::string_view source, std::size_t i) {
  const char quote = source[i];
  for (++i; i < source.size() && source[i] != quote && source[i] != '\n'; ++i) {
    i += source[i] == '\\' ? 1 : 0;
  }
  return std::min(i + 1, source.size());
}

/// One past the end of the line at `i`, and of the lines that backslashes join to it.
std::size_t skip_line(std::string_view source, std::size_t i) {
  while (true) {
    const std::size_t end = source.find('\n', i);
    if (end == npos) {
      return source.size();
    }
    std::size_t last = end;
    if (last > i && source[last - 1] == '\r') {
      --last;
    }
    if (last == i || source[last - 1] != '\\') {
      return end;
    }
    i = end + 1;
  }
}

/// The source with comments, literals and preprocessor lines blanked out.
std::string code_only(std::string_view source) {
  std::string code;
  code.reserve(source.size());
  bool line_start = true;
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    std::size_t end = i;
    if ((c == '#' && line_start) || source.substr(i, 2) == "//") {
      end = skip_line(source, i);
    } else if (source.substr(i, 2) == "/*") {
      const std::size_t close = source.find("*/", i + 2);
      end = close == npos ? source.size() : close + 2;
    } else if (c == '"' || (c == '\'' && (i == 0 || !cxx::is_word_char(source[i - 1])))) {
      end = skip_literal(source, i);
    } else if (c == 'R') {
      end = skip_raw_string(source, i);
    }
    if (end != i) {
      // A digit keeps what stood there an expression: `char c = 'x'`.
      code += c == '"' || c == '\'' || c == 'R' ? '0' : ' ';
      i = end;
      continue;
    }
    if (cxx::is_word_char(c)) {
      end = cxx::skip_identifier(source, i);
      const std::string_view word = source.substr(i, end - i);
      const bool raw_prefix = end < source.size() && source[end] == '"' && word.back() == 'R' &&
                              (word == "uR" || word == "UR" || word == "LR" || word == "u8R");
      end = raw_prefix ? end - 1 : end;
      code += source.substr(i, end - i);
      line_start = false;
      i = end;
      continue;
    }
    line_start = c == '\n' || (line_start && cxx::is_space(c));
    code += c;
    ++i;
  }
  return code;
}

/// The parameter list of the definition of `kernel` whose `__global__` ends at `i`; nothing for a
/// declaration and for another kernel's.
std::optional<std::string_view> definition_at(std::string_view code, std::size_t i,
                                              std::string_view kernel) {
  while (i < code.size()) {
    const char c = code[i];
    if (c == ';' || c == '{' || c == '}') {
      return std::nullopt;
    }
    if (c == '(' || c == '[') {
      i = cxx::skip_group(code, i);
      if (i == npos) {
        return std::nullopt;
      }
      continue;
    }
    if (!cxx::is_word_char(c)) {
      ++i;
      continue;
    }
    const std::size_t end = cxx::skip_identifier(code, i);
    const bool named = code.substr(i, end - i) == kernel;
    i = end;
    if (!named) {
      continue;
    }
    std::size_t open = cxx::skip_spaces(code, i);
    if (open < code.size() && code[open] == '<') {
      open = cxx::skip_group(code, open);
      open = open == npos ? code.size() : cxx::skip_spaces(code, open);
    }
    if (open >= code.size() || code[open] != '(') {
      continue;
    }
    const std::size_t close = cxx::skip_group(code, open);
    if (close == npos) {
      return std::nullopt;
    }
    const std::size_t body = code.find_first_of(";{", close);
    if (body == npos || code[body] == ';') {
      return std::nullopt;
    }
    return code.substr(open + 1, close - open - 2);
  }
  return std::nullopt;
}

using Names = std::vector<std::string_view>;

Names names_in(std::string_view list) {
  Names names;
  if (cxx::trim(list) == "void") {
    return names;
  }
  for (const std::string_view parameter : cxx::split_arguments(list)) {
    names.push_back(cxx::declared_name(parameter));
  }
  return names;
}

/// The parameters of the template that the keyword before `i` starts, where it is one of `kernel`.
std::optional<std::string_view> kernel_template_at(std::string_view code, std::size_t i,
                                                   std::string_view kernel) {
  const std::size_t open = cxx::skip_spaces(code, i);
  if (open >= code.size() || code[open] != '<') {
    return std::nullopt;
  }
  const std::size_t end = cxx::skip_group(code, open);
  constexpr std::string_view keyword = "__global__";
  const std::size_t global = end == npos ? npos : code.find(keyword, end);
  if (global == npos || code.substr(end, global - end).find_first_of(";{}") != npos ||
      !definition_at(code, global + keyword.size(), kernel)) {
    return std::nullopt;
  }
  return code.substr(open + 1, end - open - 2);
}

/// Template arguments that `parameters` would take: "float, 256" for "typename T, int N".
std::string example_arguments(std::string_view parameters) {
  std::string text;
  for (const std::string_view parameter : cxx::split_arguments(parameters)) {
    if (cxx::find_outside_groups(parameter, '=') != npos) {
      break;  // it and what follows have defaults
    }
    const std::string_view word = parameter.substr(0, cxx::skip_identifier(parameter, 0));
    text += text.empty() ? "" : ", ";
    text += word == "typename" || word == "class" ? "float" : word == "bool" ? "true" : "256";
  }
  return text;
}

}  // namespace

std::string compile::template_advice(std::string_view source, std::string_view name) {
  const std::string_view plain = cxx::without_arguments(name);
  const std::string code = code_only(source);
  constexpr std::string_view keyword = "template";
  for (std::size_t i = code.find(keyword); i != npos; i = code.find(keyword, i)) {
    i += keyword.size();
    const auto parameters = kernel_template_at(code, i, cxx::unqualified(plain));
    if (!parameters) {
      continue;
    }
    const std::string instance =
        plain.size() < name.size() ? std::string(name)
                                   : std::string(name) + "<" + example_arguments(*parameters) + ">";
    std::string text = "; the source declares it as template<";
    text.append(*parameters)
        .append(
            ">, and templates are compiled only when named: compile(..., "
            "name_expressions=[\"")
        .append(instance)
        .append("\"]), then get_kernel(\"")
        .append(instance)
        .append("\")");
    return text;
  }
  return {};
}

void name_parameters(Signature& signature, std::string_view source) {
  const std::string_view kernel = cxx::unqualified(cxx::without_arguments(signature.kernel));
  if (kernel.empty() || signature.params.empty()) {
    return;
  }
  const std::string code = code_only(source);
  constexpr std::string_view keyword = "__global__";
  std::optional<Names> found;
  for (std::size_t i = code.find(keyword); i != npos; i = code.find(keyword, i)) {
    i += keyword.size();
    const auto list = definition_at(code, i, kernel);
    if (!list) {
      continue;
    }
    Names names = names_in(*list);
    if (names.size() != signature.params.size()) {
      continue;
    }
    if (found && *found != names) {
      return;
    }
    found = std::move(names);
  }
  if (!found) {
    return;
  }
  for (std::size_t i = 0; i < found->size(); ++i) {
    if (signature.params[i].name.empty()) {
      signature.params[i].name = (*found)[i];
    }
  }
}

}  // namespace cudacore
