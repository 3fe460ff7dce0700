// SPDX-License-Identifier: Apache-2.0
#include "compile/program_key.hpp"

#include <system_error>
#include <vector>

#include "compile/compiler_environment.hpp"
#include "compile/flag_effects.hpp"
#include "compile/headers_read.hpp"
#include "compile/provided_headers.hpp"
#include "cudacore/error.hpp"
#include "driver/driver_api.hpp"
#include "signature/bytes.hpp"

namespace cudacore::compile {
namespace {

/// Changes whenever the same inputs give other results, or a result is kept in another form.
constexpr std::string_view format = "1 " CUDACORE_VERSION;

void add(FieldHash& hash, const std::string& value) { hash.add(value); }
void add(FieldHash& hash, bool value) { hash.add_number(value ? 1 : 0); }
void add(FieldHash& hash, int value) { hash.add_number(static_cast<std::uint64_t>(value)); }

template <typename T>
void add(FieldHash& hash, const std::optional<T>& value);

template <typename First, typename Second>
void add(FieldHash& hash, const std::pair<First, Second>& value) {
  add(hash, value.first);
  add(hash, value.second);
}

template <typename T>
void add(FieldHash& hash, const std::optional<T>& value) {
  add(hash, value.has_value());
  if (value) add(hash, *value);
}

template <typename Values>
void add_each(FieldHash& hash, const Values& values) {
  hash.add_number(values.size());
  for (const auto& value : values) add(hash, value);
}

template <typename T>
void add(FieldHash& hash, const std::vector<T>& values) {
  add_each(hash, values);
}

void add(FieldHash& hash, const std::map<std::string, std::string>& values) {
  add_each(hash, values);
}

}  // namespace

std::string add_program(KeyHash& key, const ProgramInputs& inputs, const CompilerInfo& compiler) {
  FieldHash& hash = key.content;
  const ProgramOptions& options = inputs.options;
  const CodeType type = inputs.target.value_or(CodeType::cubin);
  FlagEffects flags;
  try {
    ProgramOptions others = options;
    others.arch.reset();
    flags = effects_of(others.nvrtc_flags(type));
  } catch (const NotSupportedError&) {
    return "an option is not supported";  // and the compilation will say which
  }
  if (!flags.trouble.empty()) return flags.trouble;
  if (options.use_bundled_headers.value_or(false)) {
    return "the option use_bundled_headers reads or writes files besides headers";
  }

  hash.add(format);
  hash.add("program");
  hash.add(all_provided());
  hash.add(inputs.code);
  hash.add_number(inputs.target ? 1 + static_cast<std::uint64_t>(*inputs.target) : 0);
  hash.add(inputs.architecture.sm());
  // Without a target and an architecture, the device chooses.
  const bool device_chooses = !inputs.target && !options.arch;
  hash.add_number(device_chooses && driver::simulator_chosen() ? 1 : 0);
#define CUDACORE_PROGRAM_OPTION(type, name, ...) add(hash, options.name);
#include "cudacore/program_options.def"
#undef CUDACORE_PROGRAM_OPTION
  add_each(hash, inputs.name_expressions);
  // LTO IR contains the current folder, too.
  const bool shows_folder = flags.shows_current_folder || type == CodeType::ltoir;
  add(hash, compiler_environment(shows_folder));
  if (shows_folder) {
    std::error_code error;
    hash.add(std::filesystem::current_path(error).string());
    if (error) return "the current folder is unknown, and the code contains it";
  }
  const std::string name = options.name.value_or("default_program");
  return hash_headers(key, {inputs.code, name, options.headers, inputs.name_expressions}, flags,
                      [&compiler] { return header_folders(compiler); });
}

std::string add_link(KeyHash& key, const LinkInputs& inputs) {
  FieldHash& hash = key.content;
  const LinkerOptions& options = inputs.options;
  if (options.time.value_or(false)) return "the option time measures this link";
  for (const std::string& flag : options.ptxas_options) {
    if (std::string trouble = ptxas_trouble(flag); !trouble.empty()) return trouble;
  }
  hash.add(format);
  hash.add("link");
  hash.add_number(static_cast<std::uint64_t>(inputs.target));
  // On the simulated device, a link also makes PTX.
  hash.add_number(driver::simulator_chosen() ? 1 : 0);
#define CUDACORE_LINKER_OPTION(type, name, ...) add(hash, options.name);
#include "cudacore/linker_options.def"
#undef CUDACORE_LINKER_OPTION
  hash.add_number(inputs.codes.size());
  for (const ObjectCode& code : inputs.codes) {
    hash.add_number(static_cast<std::uint64_t>(code.code_type()));
    hash.add(code.name());
    hash.add(signature::text_of(code.code()));
    hash.add(code.details().ptx);
  }
  add(hash, compiler_environment());
  return {};
}

}  // namespace cudacore::compile
