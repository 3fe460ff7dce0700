// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cudacore/object_code.hpp>

namespace cudacore {

/// How object codes are linked. Unset fields leave nvJitLink's own default.
///
/// The fields are listed once, with the flag each becomes, in <cudacore/linker_options.def>.
struct LinkerOptions {
#define CUDACORE_LINKER_OPTION(type, name, ...) type name;
#include <cudacore/linker_options.def>
#undef CUDACORE_LINKER_OPTION

  /// The nvJitLink command line, without `-arch` where arch is unset.
  [[nodiscard]] std::vector<std::string> nvjitlink_flags() const;
};

/// Links object codes into one with nvJitLink, with link-time optimisation where the inputs allow.
///
/// Needs no driver where options.arch is set.
class Linker {
 public:
  /// @throw std::invalid_argument where there are no inputs.
  explicit Linker(std::vector<ObjectCode> inputs, LinkerOptions options = {});

  /// Links to a cubin or, with link_time_optimization and LTO IR inputs, to PTX.
  /// @throw LinkError with the log; of its own, with code 0, where two PTX or cubin inputs define
  /// the same symbol, which nvJitLink does not report.
  [[nodiscard]] ObjectCode link(CodeType target = CodeType::cubin);

  /// An nvJitLinkHandle with the inputs added, for code that speaks to nvJitLink itself; made on
  /// first use. link() makes its own.
  [[nodiscard]] std::shared_ptr<void> handle();

  [[nodiscard]] const LinkerOptions& options() const noexcept { return options_; }
  /// What the last link() said.
  [[nodiscard]] std::string error_log() const;
  [[nodiscard]] std::string info_log() const;

 private:
  std::vector<ObjectCode> inputs_;
  LinkerOptions options_;
  struct LastLink;
  std::shared_ptr<LastLink> last_;
};

}  // namespace cudacore
