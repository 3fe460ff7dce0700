// SPDX-License-Identifier: Apache-2.0
#include "cudacore/program.hpp"

#include <array>
#include <mutex>
#include <stdexcept>

#include "compile/architecture.hpp"
#include "compile/bundled_headers.hpp"
#include "compile/cached_run.hpp"
#include "compile/compile_error.hpp"
#include "compile/nvrtc_compilation.hpp"
#include "compile/program_key.hpp"
#include "compile/program_options.hpp"
#include "compile/provided_headers.hpp"
#include "cudacore/error.hpp"
#include "cudacore/linker.hpp"
#include "cudacore/system.hpp"
#include "driver/driver_api.hpp"
#include "signature/bytes.hpp"

namespace cudacore {

struct Program::LastCompile {
  mutable std::mutex mutex;
  std::string log;
  std::optional<PchStatus> pch_status;
  std::shared_ptr<void> handle;

  void set(std::string text, std::optional<PchStatus> status, std::string* copy) {
    if (copy != nullptr) *copy = text;
    const std::lock_guard lock(mutex);
    log = std::move(text);
    pch_status = status;
  }
};

namespace {

using compile::Architecture;
using compile::CompilerInputs;

void check_no_nul(std::string_view text, std::string_view what) {
  if (const std::size_t place = text.find('\0'); place != std::string_view::npos) {
    throw std::invalid_argument(std::string(what) + " holds a NUL byte at index " +
                                std::to_string(place) + ", where a C string would end");
  }
}

std::string describe(SourceType type) {
  constexpr std::array names = {"CUDA C++", "PTX", "LTO IR"};  // in the order of SourceType
  return names.at(static_cast<std::size_t>(type));
}

/// What to compile to, and for which architecture.
struct Target {
  CodeType type = CodeType::cubin;
  Architecture architecture;
};

/// The target of a C++ program, `usual` if none was given. A device that NVRTC doesn't know yet
/// runs PTX for the newest architecture that it knows.
Target choose_target(std::optional<CodeType> target, CodeType usual,
                     const Architecture& architecture, bool is_explicit) {
  if (compile::nvrtc_knows(architecture)) return {target.value_or(usual), architecture};
  const bool may_be_ptx = !is_explicit && (!target || *target == CodeType::ptx);
  if (!may_be_ptx) compile::throw_unknown_to_nvrtc(architecture);
  return {CodeType::ptx, compile::newest_for(architecture)};
}

/// The NVRTC command line for a target: the user's flags, then CUDA's own headers.
std::vector<std::string> command_line(const ProgramOptions& options, const Target& target) {
  for (const std::string& flag : options.options) {
    if (flag.starts_with("--gpu-architecture") || flag.starts_with("-arch")) {
      throw std::invalid_argument("options: \"" + flag +
                                  "\" is the option arch, which also chooses what is compiled to");
    }
  }
  std::vector<std::string> flags{"--gpu-architecture=" + (target.type == CodeType::ptx
                                                              ? target.architecture.compute()
                                                              : target.architecture.sm())};
  ProgramOptions others = options;
  others.arch.reset();
  // This option applies only to LTO IR; with it, NVRTC wouldn't make any other code.
  if (target.type != CodeType::ltoir) others.link_time_optimization.reset();
  for (std::string& flag : others.nvrtc_flags(target.type)) flags.push_back(std::move(flag));
  if (options.use_bundled_headers.value_or(false)) {
    flags.push_back(compile::bundled_headers_flag());
  } else {
    for (const auto& folder : system::include_directories()) {
      flags.push_back("--include-path=" + folder.string());
    }
  }
  return flags;
}

bool makes_pch(const ProgramOptions& options) {
  return options.pch.value_or(false) || options.create_pch.has_value();
}

bool touches_pch(const ProgramOptions& options) {
  return makes_pch(options) || options.use_pch.has_value();
}

PchStatus pch_status(int result) {
  return result == compile::nvrtc_success                   ? PchStatus::created
         : result == compile::nvrtc_no_pch_create_attempted ? PchStatus::not_attempted
                                                            : PchStatus::failed;
}

std::vector<std::byte> code_of(const compile::NvrtcCompilation& compilation, CodeType target) {
  return target == CodeType::cubin   ? compilation.cubin()
         : target == CodeType::ltoir ? compilation.ltoir()
                                     : signature::bytes_of(compilation.ptx());
}

/// The text in which to look for parameter names: the source and the in-memory headers.
std::string all_sources(const std::string& code,
                        const std::map<std::string, std::string>& headers) {
  std::string text = code;
  for (const auto& [name, header] : headers) text += "\n" + header;
  return text;
}

/// One compilation: its inputs and, after run(), its results.
struct Compilation {
  const std::string& code;
  const std::string& name;
  const ProgramOptions& options;
  std::span<const std::string> name_expressions;
  CompilerInputs given;  ///< the command line and the in-memory headers

  std::string log;
  std::optional<PchStatus> pch;
  int result = 0;

  [[nodiscard]] std::unique_ptr<compile::NvrtcCompilation> run() {
    // The heap for precompiled headers is shared by the whole process.
    static std::mutex pch_mutex;
    std::unique_lock<std::mutex> lock;
    if (touches_pch(options)) lock = std::unique_lock(pch_mutex);
    auto compilation = attempt();
    while (result == compile::nvrtc_compilation && compile::provide_missing(log, given)) {
      compilation = attempt();
    }
    if (!makes_pch(options)) return compilation;
    int status = compilation->pch_create_status();
    if (status == compile::nvrtc_pch_create_heap_exhausted) {
      compilation->grow_pch_heap();
      compilation = attempt();
      status = compilation->pch_create_status();
    }
    pch = pch_status(status);
    return compilation;
  }

 private:
  [[nodiscard]] std::unique_ptr<compile::NvrtcCompilation> attempt() {
    auto compilation = std::make_unique<compile::NvrtcCompilation>(code, name, given.headers);
    for (const std::string& expression : name_expressions) {
      compilation->add_name_expression(expression);
    }
    result = compilation->compile(given.flags);
    log = compilation->log();
    return compilation;
  }
};

}  // namespace

Program::Program(std::string code, SourceType type, ProgramOptions options)
    : code_(std::move(code)),
      type_(type),
      options_(std::move(options)),
      last_(std::make_shared<LastCompile>()) {
  if (type_ == SourceType::ptx) {
    while (code_.ends_with('\0')) code_.pop_back();  // compilers end it with one
  }
  if (type_ != SourceType::ltoir) check_no_nul(code_, "the source");
  if (code_.empty()) throw std::invalid_argument("the source is empty");
  for (const auto& [name, text] : options_.headers) {
    check_no_nul(name, "a header's name");
    check_no_nul(text, "the header \"" + name + "\"");
  }
  if (!options_.extra_sources.empty()) {
    throw std::invalid_argument("extra_sources are modules of NVVM IR, and this program is " +
                                describe(type_) + ": leave them out");
  }
}

ObjectCode Program::compile(std::optional<CodeType> target,
                            std::span<const std::string> name_expressions, std::string* log,
                            cache::Use use) {
  if (target && *target != CodeType::cubin && *target != CodeType::ptx &&
      *target != CodeType::ltoir) {
    throw std::invalid_argument("a program compiles to \"ptx\", \"cubin\" or \"ltoir\", not \"" +
                                std::string(to_string(*target)) + "\"");
  }
  return type_ == SourceType::cxx ? compile_cxx(target, name_expressions, log, use)
                                  : compile_linked(target, name_expressions, log, use);
}

CodeType Program::default_target() const {
  const bool runs_ptx_alone = driver::simulator_chosen() && !options_.arch;
  return type_ == SourceType::cxx && runs_ptx_alone ? CodeType::ptx : CodeType::cubin;
}

ObjectCode Program::compile_cxx(std::optional<CodeType> target,
                                std::span<const std::string> name_expressions, std::string* log,
                                cache::Use use) {
  for (const std::string& expression : name_expressions) {
    check_no_nul(expression, "a name expression");
  }
  const Architecture architecture =
      options_.arch ? compile::parse_architecture(*options_.arch) : compile::current_architecture();
  const std::string name = options_.name.value_or("default_program");
  compile::CachedRun cached(
      compile::nvrtc_kind, use == cache::Use::yes, [&](auto& hash, const auto& compiler) {
        return compile::add_program(hash, {code_, options_, target, architecture, name_expressions},
                                    compiler);
      });
  ObjectCode::Details details;
  details.name = name;
  details.source = all_sources(code_, options_.headers);
  if (std::optional<compile::CacheEntry> known = cached.find()) {
    last_->set(std::move(known->log), std::nullopt, log);
    details.symbol_mapping = std::move(known->symbols);
    details.ptx = std::move(known->ptx);
    return {std::move(known->code), known->type, std::move(details)};
  }
  const Target chosen =
      choose_target(target, default_target(), architecture, options_.arch.has_value());
  Compilation compilation{
      code_, name, options_, name_expressions, {options_.headers, command_line(options_, chosen)},
      {},    {},   0};
  const auto program = compilation.run();
  last_->set(compilation.log, compilation.pch, log);
  if (compilation.result != compile::nvrtc_success) {
    compile::throw_compile_error(
        compilation.result, compilation.log,
        {name, code_, &compilation.given.headers, compilation.given.flags});
  }
  for (const std::string& expression : name_expressions) {
    details.symbol_mapping[expression] = program->lowered_name(expression);
  }
  if (chosen.type == CodeType::cubin) details.ptx = program->ptx();
  std::vector<std::byte> code = code_of(*program, chosen.type);
  cached.store({chosen.type, code, details.ptx, compilation.log, {}, details.symbol_mapping});
  return {std::move(code), chosen.type, std::move(details)};
}

ObjectCode Program::compile_linked(std::optional<CodeType> target,
                                   std::span<const std::string> name_expressions, std::string* log,
                                   cache::Use use) {
  const std::string source = describe(type_);
  if (!name_expressions.empty()) {
    throw std::invalid_argument("name expressions name C++ templates; a program in " + source +
                                " has none: ask for its kernels by name");
  }
  const CodeType type = type_ == SourceType::ptx ? CodeType::ptx : CodeType::ltoir;
  const CodeType chosen = target.value_or(default_target());
  if (chosen == CodeType::ltoir) {
    throw std::invalid_argument("a program in " + source +
                                " cannot be compiled to \"ltoir\"; only "
                                "CUDA C++ can");
  }
  LinkerOptions options = compile::linker_options(options_);
  options.name = options_.name.value_or("default_program");
  ObjectCode::Details details;
  details.name = *options.name;
  ObjectCode input(signature::bytes_of(code_), type, details);
  if (chosen == type) return input;

  Linker linker({std::move(input)}, std::move(options));
  try {
    ObjectCode linked = linker.link(chosen, use);
    last_->set(linker.error_log() + linker.info_log(), std::nullopt, log);
    if (type != CodeType::ptx) return linked;
    details = linked.details();
    details.ptx = code_;
    return {linked.code(), chosen, std::move(details)};
  } catch (const LinkError&) {
    last_->set(linker.error_log(), std::nullopt, log);
    throw;
  }
}

std::shared_ptr<void> Program::handle() {
  const std::lock_guard lock(last_->mutex);
  if (last_->handle == nullptr) {
    const std::string name = options_.name.value_or("default_program");
    if (type_ == SourceType::cxx) {
      last_->handle = compile::NvrtcCompilation(code_, name, options_.headers).keep();
    } else {
      ObjectCode::Details details;
      details.name = name;
      const CodeType type = type_ == SourceType::ptx ? CodeType::ptx : CodeType::ltoir;
      last_->handle = Linker({ObjectCode(signature::bytes_of(code_), type, details)},
                             compile::linker_options(options_))
                          .handle();
    }
  }
  return last_->handle;
}

std::string_view Program::backend() const noexcept {
  return type_ == SourceType::cxx ? "NVRTC" : "nvJitLink";
}

std::string Program::log() const {
  const std::lock_guard lock(last_->mutex);
  return last_->log;
}

std::optional<PchStatus> Program::pch_status() const {
  const std::lock_guard lock(last_->mutex);
  return last_->pch_status;
}

}  // namespace cudacore
