// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cudacore/cache.hpp>
#include <cudacore/object_code.hpp>

namespace cudacore {

/// The language of the source.
enum class SourceType : std::uint8_t { cxx, ptx, ltoir };

/// A macro: a name, and optionally a value.
using Macro = std::pair<std::string, std::optional<std::string>>;

/// How to compile a program. If a field is unset, NVRTC's default applies.
///
/// <cudacore/program_options.def> lists the fields once, with the flag that each becomes.
struct ProgramOptions {
#define CUDACORE_PROGRAM_OPTION(type, name, ...) type name;
#include <cudacore/program_options.def>
#undef CUDACORE_PROGRAM_OPTION

  /// The NVRTC command line for a target, without `-arch` if arch is unset.
  /// @throw NotSupportedError for a field for which NVRTC has no flag.
  [[nodiscard]] std::vector<std::string> nvrtc_flags(CodeType target) const;
};

/// What happened to a precompiled header.
enum class PchStatus : std::uint8_t { created, not_attempted, failed };

/// Source text that can be compiled several times and for several targets.
///
/// Compiles in process with NVRTC (C++) or nvJitLink (PTX and LTO IR to a cubin). Doesn't use the
/// driver if the architecture is specified. May be used from several threads at once.
class Program {
 public:
  Program(std::string code, SourceType type, ProgramOptions options = {});

  /// Compiles. Without `target`, makes a cubin for the current device. Without options.arch, the
  /// architecture is the current device's, or the newest that both the compiler and the device
  /// know. C++ compiled to a cubin keeps its PTX. `name_expressions` instantiate templates:
  /// "axpy<float>". `log` gets the log of this call, even if it throws; log() may return another
  /// thread's. A result from the program cache comes with the log of the compilation that made it.
  /// @throw CompileError with the log, LinkError, std::invalid_argument.
  [[nodiscard]] ObjectCode compile(std::optional<CodeType> target = std::nullopt,
                                   std::span<const std::string> name_expressions = {},
                                   std::string* log = nullptr, cache::Use use = cache::Use::yes);

  /// What compile() makes without a target, unless the compiler doesn't know the device.
  [[nodiscard]] CodeType default_target() const;

  /// An nvrtcProgram or nvJitLinkHandle of the source, depending on backend(), for code that calls
  /// the compiler directly; created on first use. compile() creates a separate one.
  [[nodiscard]] std::shared_ptr<void> handle();

  [[nodiscard]] SourceType source_type() const noexcept { return type_; }
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  [[nodiscard]] const ProgramOptions& options() const noexcept { return options_; }
  /// "NVRTC" or "nvJitLink".
  [[nodiscard]] std::string_view backend() const noexcept;
  /// The log of the last compile(): warnings, times, notes.
  [[nodiscard]] std::string log() const;
  /// What happened to the precompiled header in the last compile(); unset if none was requested.
  [[nodiscard]] std::optional<PchStatus> pch_status() const;

 private:
  [[nodiscard]] ObjectCode compile_cxx(std::optional<CodeType> target,
                                       std::span<const std::string> name_expressions,
                                       std::string* log, cache::Use use);
  [[nodiscard]] ObjectCode compile_linked(std::optional<CodeType> target,
                                          std::span<const std::string> name_expressions,
                                          std::string* log, cache::Use use);

  std::string code_;
  SourceType type_;
  ProgramOptions options_;
  struct LastCompile;
  std::shared_ptr<LastCompile> last_;
};

}  // namespace cudacore
