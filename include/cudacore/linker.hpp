// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cudacore/cache.hpp>
#include <cudacore/object_code.hpp>

namespace cudacore {

/// How to link object codes. If a field is unset, nvJitLink's default applies.
///
/// <cudacore/linker_options.def> lists the fields once, with the flag that each becomes.
struct LinkerOptions {
#define CUDACORE_LINKER_OPTION(type, name, ...) type name;
#include <cudacore/linker_options.def>
#undef CUDACORE_LINKER_OPTION

  /// The nvJitLink command line, without `-arch` if arch is unset.
  [[nodiscard]] std::vector<std::string> nvjitlink_flags() const;
};

/// Links object codes into one with nvJitLink, with link-time optimization if the inputs allow it.
///
/// Needs no driver if options.arch is set.
class Linker {
 public:
  /// @throw std::invalid_argument if there are no inputs.
  explicit Linker(std::vector<ObjectCode> inputs, LinkerOptions options = {});

  /// Links to a cubin or, with link_time_optimization and LTO IR inputs, to PTX; or takes the
  /// result and its logs from the program cache.
  /// @throw LinkError with the log. If two PTX or cubin inputs define the same symbol, which
  /// nvJitLink doesn't report, the LinkError is cudacore's own and has code 0.
  [[nodiscard]] ObjectCode link(CodeType target = CodeType::cubin,
                                cache::Use use = cache::Use::yes);

  /// An nvJitLinkHandle with the inputs added, for code that calls nvJitLink directly; created on
  /// first use. link() creates a separate one.
  [[nodiscard]] std::shared_ptr<void> handle();

  [[nodiscard]] const LinkerOptions& options() const noexcept { return options_; }
  /// The log of the last link().
  [[nodiscard]] std::string error_log() const;
  [[nodiscard]] std::string info_log() const;

 private:
  std::vector<ObjectCode> inputs_;
  LinkerOptions options_;
  struct LastLink;
  std::shared_ptr<LastLink> last_;
};

}  // namespace cudacore
