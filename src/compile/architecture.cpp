// SPDX-License-Identifier: Apache-2.0
#include "compile/architecture.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "compile/nvrtc_compilation.hpp"
#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/system.hpp"

namespace cudacore::compile {
namespace {

/// The result cannot change during the life of the process.
const std::vector<int>& known_architectures() {
  static const std::vector<int> known = system::nvrtc_architectures();
  return known;
}

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

[[noreturn]] void throw_invalid(std::string_view text) {
  std::string message =
      "arch " + std::string(text) +
      " is not a GPU architecture; write \"sm_90\", \"compute_90\", \"90\" or, for "
      "one chip or family, \"sm_90a\" or \"sm_100f\"";
  try {
    message += "; NVRTC here compiles for " + list(known_architectures());
  } catch (const LibraryNotFoundError&) {
    // Linking doesn't need NVRTC; the message then has no list.
  }
  throw std::invalid_argument(message);
}

}  // namespace

Architecture parse_architecture(std::string_view text) {
  std::string_view digits = text;
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (digits.starts_with(prefix)) {
      digits.remove_prefix(prefix.size());
      break;
    }
  }
  Architecture architecture;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, architecture.number);
  architecture.suffix.assign(rest, end);
  const bool suffix_ok =
      architecture.suffix.empty() || architecture.suffix == "a" || architecture.suffix == "f";
  if (error != std::errc() || !suffix_ok || architecture.number < 10 || architecture.number > 999) {
    throw_invalid("\"" + std::string(text) + "\"");
  }
  return architecture;
}

Architecture current_architecture() {
  try {
    return parse_architecture(Device::current().arch());
  } catch (const DriverNotFoundError& error) {
    throw DriverNotFoundError(
        "no arch was given, and there is no device to take it from: name one, "
        "as in arch=\"sm_90\"\n" +
            std::string(error.what()),
        error.tried());
  }
}

bool nvrtc_knows(const Architecture& architecture) {
  const std::vector<int>& known = known_architectures();
  return std::find(known.begin(), known.end(), architecture.number) != known.end();
}

Architecture newest_for(const Architecture& architecture) {
  int newest = 0;
  for (const int number : known_architectures()) {
    if (number <= architecture.number) newest = std::max(newest, number);
  }
  if (newest == 0) throw_unknown_to_nvrtc(architecture);
  return {newest, {}};
}

void throw_unknown_to_nvrtc(const Architecture& architecture) {
  const std::vector<int>& known = known_architectures();
  const driver::NvrtcApi& api = driver::nvrtc();
  const bool too_old = !known.empty() && architecture.number < known.front();
  throw NotSupportedError(
      nvrtc_version(api) + " (" + api.path.string() + ") does not compile for " +
          architecture.sm() + ", only for " + list(known) +
          (too_old ? "; an older one does: pip install nvidia-cuda-nvrtc-cu12"
                   : "; upgrade it (pip install -U nvidia-cuda-nvrtc), or compile to PTX for an "
                     "older arch, which newer devices run too"),
      0, {}, "nvrtcCompileProgram");
}

}  // namespace cudacore::compile
