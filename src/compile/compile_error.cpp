// SPDX-License-Identifier: Apache-2.0
#include "compile/compile_error.hpp"

#include <algorithm>
#include <optional>

#include "compile/header_advice.hpp"
#include "compile/nvrtc_compilation.hpp"
#include "cudacore/error.hpp"
#include "driver/pip_command.hpp"
#include "signature/compiler_log.hpp"
#include "signature/cxx_text.hpp"

namespace cudacore::compile {
namespace {

/// The line that an error refers to, if its text is available.
std::optional<std::string_view> source_line(const signature::FirstError& error,
                                            const CompiledSource& source) {
  std::string_view text;
  if (error.file == source.name) {
    text = source.text;
  } else {
    // NVRTC may put a folder before the name of an included header.
    const auto header = std::find_if(
        source.headers->begin(), source.headers->end(),
        [&](const auto& entry) { return std::string_view(error.file).ends_with(entry.first); });
    if (header == source.headers->end()) return std::nullopt;
    text = header->second;
  }
  const std::vector<std::string_view> lines = signature::lines_of(text);
  if (error.line == 0 || error.line > lines.size()) return std::nullopt;
  return lines[error.line - 1];
}

/// The name expression that an error is about; empty for any other error.
std::string_view name_expression(const signature::FirstError& error) {
  constexpr std::string_view pragma = "#pragma nv_mangled_name ";
  const std::size_t start = error.excerpt.find(pragma);
  if (error.file != "__nv_name_map" || start == std::string::npos) return {};
  const std::string_view rest = std::string_view(error.excerpt).substr(start + pragma.size());
  return signature::trim(rest.substr(0, rest.find('\n')));
}

/// The word that the caret of an excerpt points at.
std::string_view word_at_caret(std::string_view excerpt) {
  const std::size_t end = excerpt.find('\n');
  const std::size_t caret = excerpt.find('^', std::min(end, excerpt.size()));
  if (caret == std::string_view::npos) return {};
  const std::string_view line = excerpt.substr(0, end);
  const std::size_t start = std::min(caret - end - 1, line.size());
  return line.substr(start, signature::skip_identifier(line, start) - start);
}

/// The name that, according to an error, is not declared, which may be a namespace; empty for any
/// other error.
std::string_view undeclared_name(const signature::FirstError& error) {
  const std::string_view text = error.text;
  if (text.ends_with("must be a namespace name") ||
      text.find("name followed by \"::\"") != std::string_view::npos) {
    return word_at_caret(error.excerpt);
  }
  return signature::undefined_identifier(text);
}

/// What to write if a function or a variable lacks the keyword that makes it device code.
std::string missing_space_advice(std::string_view text) {
  if (text.find("-default-device") == std::string_view::npos) return {};
  const bool is_function = text.find("execution space") != std::string_view::npos;
  return (is_function ? std::string("\nWrite __global__ before a kernel, and __device__ before a "
                                    "function that kernels call")
                      : std::string("\nWrite __device__ or __constant__ before the variable")) +
         "; with device_as_default_execution_space=True, which is -default-device, what says "
         "neither is the device's";
}

/// What to do about a name expression that NVRTC cannot resolve.
std::string name_expression_advice(const signature::FirstError& error) {
  const std::string expression(name_expression(error));
  if (expression.empty()) return {};
  std::string advice = "\nThe name expression \"" + expression + "\" ";
  if (error.text.find("cannot determine which instance") != std::string::npos) {
    return advice + "names a template or an overloaded function: say which instance, as in \"" +
           expression + "<float>\"";
  }
  return advice + "does not name anything that the source declares";
}

/// The flag whose value NVRTC rejected, as it was given; NVRTC reports only its name.
std::string invalid_value_advice(std::string_view log, const CompiledSource& source) {
  const std::size_t start = log.find("--");
  if (start == std::string_view::npos) return {};
  std::size_t end = start;
  while (end < log.size() && (signature::is_word_char(log[end]) || log[end] == '-')) ++end;
  const std::string name(log.substr(start, end - start));
  for (const std::string& flag : source.flags) {
    if (!flag.starts_with(name + "=")) continue;
    return "\nIt was given " + flag +
           (name == "--std" ? "; take c++17 or c++20, which every NVRTC knows" : "");
  }
  return {};
}

}  // namespace

std::string_view missing_header(std::string_view log) {
  constexpr std::string_view key = " open source file \"";
  const std::size_t start = log.find(key);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = log.substr(start + key.size());
  return rest.substr(0, rest.find('"'));
}

std::string explain_log(std::string_view log, const CompiledSource& source) {
  const signature::FirstError error = signature::first_error(log);
  if (error.text.empty()) return signature::demangle_all(signature::trim(log));
  std::string message = signature::demangle_all(error.text);
  if (!error.excerpt.empty()) {
    message += "\n" + error.excerpt;
  } else if (const auto line = source_line(error, source)) {
    message += "\n  " + std::string(*line);
  }
  message += error.count_of_more();
  const std::string_view header = missing_header(error.text);
  if (!header.empty()) {
    return message + missing_header_advice(header, source.flags, driver::nvrtc().major);
  }
  return message + name_expression_advice(error) + foreign_header_advice(error.file) +
         forgotten_header_advice(undeclared_name(error), source.text, source.flags) +
         missing_space_advice(error.text);
}

void throw_compile_error(int result, const std::string& log, const CompiledSource& source) {
  constexpr const char* function = "nvrtcCompileProgram";
  const driver::NvrtcApi& api = driver::nvrtc();
  const std::string name = api.nvrtcGetErrorString(result);
  const std::string start = std::string(function) + " failed on \"" + source.name + "\": " + name +
                            " (" + nvrtc_version(api) + ")\n";
  if (result == nvrtc_out_of_memory) throw OutOfMemoryError(start + log, result, name, function);
  if (result == nvrtc_invalid_option && log.find("unrecognized option") != std::string::npos) {
    throw NotSupportedError(
        start + std::string(signature::trim(log)) + "\nThis NVRTC (" + api.path.string() +
            ") has no such flag; leave the option out, or upgrade it: " +
            driver::pip_command("nvidia-cuda-nvrtc", api.major, driver::Pip::upgrade),
        result, name, function);
  }
  std::string message = start + explain_log(log, source);
  if (result == nvrtc_invalid_option) message += invalid_value_advice(log, source);
  if (result == nvrtc_builtin_operation_failure) {
    message += "\nNVRTC needs libnvrtc-builtins of its own version beside " + api.path.string() +
               "; reinstall it";
  }
  throw CompileError(message, result, name, function, log);
}

}  // namespace cudacore::compile
