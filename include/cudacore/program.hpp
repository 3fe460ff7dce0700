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

#include <cudacore/object_code.hpp>

namespace cudacore {

/// What the source is written in.
enum class SourceType : std::uint8_t { cxx, ptx, ltoir };

/// A macro: a name, and a value where it has one.
using Macro = std::pair<std::string, std::optional<std::string>>;

/// How a program is compiled. Unset fields leave NVRTC's own default.
///
/// The fields are listed once, with the flag each becomes, in <cudacore/program_options.def>.
struct ProgramOptions {
#define CUDACORE_PROGRAM_OPTION(type, name, ...) type name;
#include <cudacore/program_options.def>
#undef CUDACORE_PROGRAM_OPTION

  /// The NVRTC command line for a target, without `-arch` where arch is unset.
  /// @throw NotSupportedError for a field that NVRTC has no flag for.
  [[nodiscard]] std::vector<std::string> nvrtc_flags(CodeType target) const;
};

/// What became of a precompiled header.
enum class PchStatus : std::uint8_t { created, not_attempted, failed };

/// Source text that can be compiled, several times and for several targets.
///
/// Compiles in process with NVRTC (C++), or nvJitLink (PTX and LTO IR to a cubin). Nothing touches
/// the driver unless the architecture is left open. May be used from several threads at once.
class Program {
 public:
  Program(std::string code, SourceType type, ProgramOptions options = {});

  /// Compiles. Without `target`: a cubin for the current device. Without options.arch: the current
  /// device's, or the newest that both the compiler and the device know. C++ compiled to a cubin
  /// keeps its PTX beside it. `name_expressions` instantiate templates: "axpy<float>". `log` gets
  /// what this call has to say, also where it throws; log() may tell of another thread's.
  /// @throw CompileError with the log, LinkError, std::invalid_argument.
  [[nodiscard]] ObjectCode compile(std::optional<CodeType> target = std::nullopt,
                                   std::span<const std::string> name_expressions = {},
                                   std::string* log = nullptr);

  /// An nvrtcProgram or nvJitLinkHandle of the source, by backend(), for code that speaks to the
  /// compiler itself; made on first use. compile() makes its own.
  [[nodiscard]] std::shared_ptr<void> handle();

  [[nodiscard]] SourceType source_type() const noexcept { return type_; }
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  [[nodiscard]] const ProgramOptions& options() const noexcept { return options_; }
  /// "NVRTC" or "nvJitLink".
  [[nodiscard]] std::string_view backend() const noexcept;
  /// What the last compile() said: warnings, times, notes.
  [[nodiscard]] std::string log() const;
  /// What became of the precompiled header in the last compile(); unset where none was asked for.
  [[nodiscard]] std::optional<PchStatus> pch_status() const;

 private:
  [[nodiscard]] ObjectCode compile_cxx(std::optional<CodeType> target,
                                       std::span<const std::string> name_expressions,
                                       std::string* log);
  [[nodiscard]] ObjectCode compile_linked(std::optional<CodeType> target,
                                          std::span<const std::string> name_expressions,
                                          std::string* log);

  std::string code_;
  SourceType type_;
  ProgramOptions options_;
  struct LastCompile;
  std::shared_ptr<LastCompile> last_;
};

}  // namespace cudacore
