// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudacore::driver {

enum class Pip { install, upgrade };

/// The command that installs one of NVIDIA's wheels, such as "nvidia-cuda-nvrtc", for a major
/// version of CUDA.
[[nodiscard]] inline std::string pip_command(std::string_view wheel, int major = 13,
                                             Pip what = Pip::install) {
  // The names of CUDA 12's wheels contain the version; later wheels have no such suffix.
  return std::string(what == Pip::upgrade ? "pip install -U " : "pip install ") +
         std::string(wheel) + (major == 12 ? "-cu12" : "");
}

}  // namespace cudacore::driver
