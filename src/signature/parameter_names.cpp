// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cudacore/signature.hpp"
#include "signature/cxx_text.hpp"
#include "signature/cxx_type.hpp"
#include "signature/kernel_templates.hpp"
#include "signature/signature_layout.hpp"

namespace cudacore {
namespace {

using signature::npos;

/// One past the raw string whose R is at `i`; `i` if there is none.
std::size_t skip_raw_string(std::string_view source, std::size_t i) {
  if (source.substr(i, 2) != "R\"") return i;
  const std::size_t open = source.find('(', i);
  constexpr std::size_t max_delimiter = 16;
  if (open == npos || open - i - 2 > max_delimiter) return i;
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

/// One past the end of the line at `i`, including the lines that backslashes join to it.
std::size_t skip_line(std::string_view source, std::size_t i) {
  while (true) {
    const std::size_t end = source.find('\n', i);
    if (end == npos) return source.size();
    std::size_t last = end;
    if (last > i && source[last - 1] == '\r') --last;
    if (last == i || source[last - 1] != '\\') return end;
    i = end + 1;
  }
}

/// A source in which comments, literals and preprocessor lines are blanked out.
struct Code {
  std::string text;
  std::vector<std::string_view> macros;  ///< those that the source itself defines
  std::vector<std::size_t> ifs;          ///< where in the text a conditional starts
  std::vector<std::size_t> endifs;       ///< and where it ends

  /// Whether position `i` is inside a preprocessor conditional.
  [[nodiscard]] bool is_conditional(std::size_t i) const {
    const auto before = [i](std::size_t place) { return place < i; };
    return std::count_if(ifs.begin(), ifs.end(), before) !=
           std::count_if(endifs.begin(), endifs.end(), before);
  }
};

void note_directive(std::string_view line, Code& code) {
  const auto next_word = [&line] {
    const std::size_t start = signature::skip_spaces(line, 1);
    const std::string_view rest = line.substr(std::min(start, line.size()));
    const std::string_view word = rest.substr(0, signature::skip_identifier(rest, 0));
    line = rest.substr(word.empty() ? 0 : word.size() - 1);
    return word;
  };
  const std::string_view directive = next_word();
  if (directive == "define") {
    code.macros.push_back(next_word());
  } else if (directive.starts_with("if")) {
    code.ifs.push_back(code.text.size());
  } else if (directive == "endif") {
    code.endifs.push_back(code.text.size());
  }
}

Code code_only(std::string_view source) {
  Code result;
  std::string& code = result.text;
  code.reserve(source.size());
  bool line_start = true;
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    std::size_t end = i;
    if ((c == '#' && line_start) || source.substr(i, 2) == "//") {
      end = skip_line(source, i);
      if (c == '#') note_directive(source.substr(i, end - i), result);
    } else if (source.substr(i, 2) == "/*") {
      const std::size_t close = source.find("*/", i + 2);
      end = close == npos ? source.size() : close + 2;
    } else if (c == '"' || (c == '\'' && (i == 0 || !signature::is_word_char(source[i - 1])))) {
      end = skip_literal(source, i);
    } else if (c == 'R') {
      end = skip_raw_string(source, i);
    }
    if (end != i) {
      // A digit, so that an expression remains: `char c = 'x'`.
      code += c == '"' || c == '\'' || c == 'R' ? '0' : ' ';
      i = end;
      continue;
    }
    if (signature::is_word_char(c)) {
      end = signature::skip_identifier(source, i);
      const std::string_view word = source.substr(i, end - i);
      const bool raw_prefix = end < source.size() && source[end] == '"' && word.back() == 'R' &&
                              (word == "uR" || word == "UR" || word == "LR" || word == "u8R");
      end = raw_prefix ? end - 1 : end;
      code += source.substr(i, end - i);
      line_start = false;
      i = end;
      continue;
    }
    line_start = c == '\n' || (line_start && signature::is_space(c));
    code += c;
    ++i;
  }
  return result;
}

/// The parameter list of the definition of `kernel` whose `__global__` ends at `i`; nothing for a
/// declaration, or for another kernel.
std::optional<std::string_view> definition_at(std::string_view code, std::size_t i,
                                              std::string_view kernel) {
  while (i < code.size()) {
    const char c = code[i];
    if (c == ';' || c == '{' || c == '}') return std::nullopt;
    if (c == '(' || c == '[') {
      i = signature::skip_group(code, i);
      if (i == npos) return std::nullopt;
      continue;
    }
    if (!signature::is_word_char(c)) {
      ++i;
      continue;
    }
    const std::size_t end = signature::skip_identifier(code, i);
    const bool named = code.substr(i, end - i) == kernel;
    i = end;
    if (!named) continue;
    std::size_t open = signature::skip_spaces(code, i);
    if (open < code.size() && code[open] == '<') {
      open = signature::skip_group(code, open);
      open = open == npos ? code.size() : signature::skip_spaces(code, open);
    }
    if (open >= code.size() || code[open] != '(') {
      continue;
    }
    const std::size_t close = signature::skip_group(code, open);
    if (close == npos) return std::nullopt;
    const std::size_t body = code.find_first_of(";{", close);
    if (body == npos || code[body] == ';') return std::nullopt;
    return code.substr(open + 1, close - open - 2);
  }
  return std::nullopt;
}

/// Whether a word of a declaration is a keyword, which no typedef can redefine.
bool is_certain(std::string_view word) {
  constexpr auto words = std::to_array<std::string_view>(
      {"const", "volatile", "__restrict__", "__restrict", "__grid_constant__", "signed", "unsigned",
       "char", "short", "int", "long", "float", "double", "bool", "void"});
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end =
        signature::is_word_char(text[i]) ? signature::skip_identifier(text, i) : i + 1;
    if (signature::is_word_char(text[i])) words.push_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

/// What a declaration declares, if it is a pointer and no macro can change that. The element type
/// is unknown if a typedef can change it. Anything else has no type: the bytes distinguish an int
/// from a float, and NumPy's scalars fit them regardless of sign.
Param certain_parameter(std::string_view declaration, const Code& code) {
  Param param;
  param.name = signature::declared_name(declaration);
  const std::vector<std::string_view> words = words_of(declaration);
  const bool has_macro = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(code.macros.begin(), code.macros.end(), word) != code.macros.end();
  });
  if (has_macro) return param;
  try {
    Param parsed = signature::parse_parameter(declaration);
    const bool is_plain = std::all_of(words.begin(), words.end(), [&](std::string_view word) {
      return is_certain(word) || word == param.name;
    });
    if (parsed.kind != ParamKind::pointer) return param;
    if (!is_plain) {
      parsed.pointee = ParamKind::opaque;
      parsed.pointee_size = 0;
    }
    return parsed;
  } catch (const std::invalid_argument&) {
    // For example, a macro that is defined elsewhere.
  }
  return param;
}

std::vector<Param> parameters_in(std::string_view list, const Code& code) {
  std::vector<Param> params;
  if (signature::trim(list) == "void") return params;
  for (const std::string_view parameter : signature::split_arguments(list)) {
    params.push_back(certain_parameter(parameter, code));
  }
  return params;
}

/// The position of the first `extern "C" {`.
std::size_t first_extern_block(std::string_view text) {
  constexpr std::string_view keyword = "extern";
  for (std::size_t i = text.find(keyword); i != npos; i = text.find(keyword, i)) {
    i += keyword.size();
    std::size_t next = signature::skip_spaces(text, i);
    if (next >= text.size() || text[next] != '0') continue;  // the literal, blanked out
    next = signature::skip_spaces(text, next + 1);
    if (next < text.size() && text[next] == '{') return next;
  }
  return npos;
}

/// Whether the definition whose `__global__` ends at `i` has a C name, which contains no types.
bool is_extern_c(std::string_view text, std::size_t i, std::size_t extern_block) {
  const std::size_t last = text.find_last_of(";{}", i);
  const std::size_t start = last == npos ? 0 : last + 1;
  const std::vector<std::string_view> words = words_of(text.substr(start, i - start));
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return !has("template") && !has("static") && (has("extern") || extern_block < i);
}

/// Uses the types of `params` where only bytes were known, unless one of them contradicts the
/// bytes.
void take_types(Signature& signature, std::vector<Param> params) {
  if (!signature.complete() ||
      !std::all_of(signature.params.begin(), signature.params.end(), signature::is_measured)) {
    return;
  }
  Signature declared;
  declared.params = std::move(params);
  Signature merged = merge(signature, declared);
  for (std::size_t i = 0; i < merged.params.size(); ++i) {
    if (signature::is_measured(merged.params[i]) && !declared.params[i].type.empty()) return;
  }
  signature = std::move(merged);
}

/// The parameters of the template that the keyword before `i` starts, if it is a template of
/// `kernel`.
std::optional<std::string_view> kernel_template_at(std::string_view code, std::size_t i,
                                                   std::string_view kernel) {
  const std::size_t open = signature::skip_spaces(code, i);
  if (open >= code.size() || code[open] != '<') return std::nullopt;
  const std::size_t end = signature::skip_group(code, open);
  constexpr std::string_view keyword = "__global__";
  const std::size_t global = end == npos ? npos : code.find(keyword, end);
  if (global == npos || code.substr(end, global - end).find_first_of(";{}") != npos ||
      !definition_at(code, global + keyword.size(), kernel)) {
    return std::nullopt;
  }
  return code.substr(open + 1, end - open - 2);
}

/// Template arguments that `parameters` would accept: "float, 256" for "typename T, int N".
std::string example_arguments(std::string_view parameters) {
  std::string text;
  for (const std::string_view parameter : signature::split_arguments(parameters)) {
    if (signature::find_outside_groups(parameter, '=') != npos) {
      break;  // this parameter and all that follow have defaults
    }
    const std::string_view word = parameter.substr(0, signature::skip_identifier(parameter, 0));
    text += text.empty() ? "" : ", ";
    text += word == "typename" || word == "class" ? "float" : word == "bool" ? "true" : "256";
  }
  return text;
}

}  // namespace

std::string signature::template_advice(std::string_view source, std::string_view name) {
  const std::string_view plain = signature::without_arguments(name);
  const std::string code = code_only(source).text;
  constexpr std::string_view keyword = "template";
  for (std::size_t i = code.find(keyword); i != npos; i = code.find(keyword, i)) {
    i += keyword.size();
    const auto parameters = kernel_template_at(code, i, signature::unqualified(plain));
    if (!parameters) continue;
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

void read_definition(Signature& signature, std::string_view source) {
  const std::string_view kernel =
      signature::unqualified(signature::without_arguments(signature.kernel));
  if (kernel.empty() || signature.params.empty()) return;
  const Code code = code_only(source);
  const std::string_view text = code.text;
  const auto equal_in = [](std::string Param::*member) {
    return [member](const Param& a, const Param& b) { return a.*member == b.*member; };
  };
  const std::size_t extern_block = first_extern_block(text);
  constexpr std::string_view keyword = "__global__";
  std::optional<std::vector<Param>> found;
  bool types_agree = true;
  for (std::size_t i = text.find(keyword); i != npos; i = text.find(keyword, i)) {
    i += keyword.size();
    // Not beyond the next keyword, so that each character is looked at once.
    const auto list = definition_at(text.substr(0, text.find(keyword, i)), i, kernel);
    if (!list) continue;
    std::vector<Param> params = parameters_in(*list, code);
    if (params.size() != signature.params.size()) continue;
    types_agree = types_agree && !code.is_conditional(i) && is_extern_c(text, i, extern_block);
    if (found) {
      const auto same = [&](std::string Param::*member) {
        return std::equal(params.begin(), params.end(), found->begin(), equal_in(member));
      };
      if (!same(&Param::name)) return;
      types_agree = types_agree && same(&Param::type);
    }
    found = std::move(params);
  }
  if (!found) return;
  for (std::size_t i = 0; i < found->size(); ++i) {
    if (signature.params[i].name.empty()) signature.params[i].name = (*found)[i].name;
  }
  if (types_agree) take_types(signature, *std::move(found));
}

}  // namespace cudacore
