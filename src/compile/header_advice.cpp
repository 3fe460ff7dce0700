// SPDX-License-Identifier: Apache-2.0
#include "compile/header_advice.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "compile/provided_headers.hpp"
#include "driver/pip_command.hpp"

namespace cudacore::compile {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> searched(std::span<const std::string> flags) {
  constexpr std::string_view include_flag = "--include-path=";
  std::vector<fs::path> folders;
  for (const std::string& flag : flags) {
    if (flag.starts_with(include_flag)) folders.emplace_back(flag.substr(include_flag.size()));
  }
  return folders;
}

bool any_has(std::span<const fs::path> folders, std::string_view file) {
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / file, error);
  });
}

/// Host headers that device code often includes out of habit, and what NVRTC provides of them
/// without any header.
std::string_view builtin_part(std::string_view header) {
  struct Row {
    std::string_view header;
    std::string_view what;
  };
  constexpr auto rows = std::to_array<Row>({
      {"cstdio", "printf needs no header"},
      {"iostream", "printf needs no header, and is what kernels print with"},
      {"cassert", "assert needs no header"},
      {"cmath", "the math functions, such as sqrtf and fmaxf, need no header"},
      {"cstring", "memcpy and memset need no header"},
      {"cstdlib", "malloc and free need no header"},
      {"ctime", "clock needs no header"},
  });
  const std::string_view plain = header.substr(header.rfind('/') + 1);
  const auto* const row = std::find_if(rows.begin(), rows.end(),
                                       [&](const Row& entry) { return entry.header == plain; });
  return row == rows.end() ? std::string_view{} : row->what;
}

/// One of NVIDIA's wheels, the headers in it, and one header that shows that the wheel is
/// installed.
struct Family {
  std::string_view wheel;
  std::string_view witness;
  std::vector<std::string_view> starts;
};

const Family* family_of(std::string_view header) {
  static const std::vector<Family> families = {
      {"nvidia-cuda-cccl", "cuda/std/version", {"cuda/", "cub/", "thrust/", "nv/"}},
      {"nvidia-cuda-crt", "crt/host_defines.h", {"crt/"}},
      {"nvidia-curand", "curand.h", {"curand"}},
      {"nvidia-cublas", "cublas_v2.h", {"cublas"}},
      {"nvidia-cufft", "cufft.h", {"cufft"}},
      {"nvidia-cuda-runtime",
       "cuda_runtime_api.h",
       {"cooperative_groups", "cuda_", "cuda.h", "mma.h", "vector_types", "vector_functions",
        "cuComplex.h", "math_constants.h", "sm_", "device_", "driver_types.h"}},
  };
  const auto found = std::find_if(families.begin(), families.end(), [&](const Family& family) {
    return std::any_of(family.starts.begin(), family.starts.end(),
                       [&](std::string_view start) { return header.starts_with(start); });
  });
  return found == families.end() ? nullptr : &*found;
}

/// The CUDA header that declares a name; empty if none of the known headers does.
std::string_view declaring_header(std::string_view name) {
  struct Row {
    std::string_view header;
    std::vector<std::string_view> names;
    std::vector<std::string_view> starts;
  };
  static const std::vector<Row> rows = {
      {"cuda_fp16.h", {"half", "half2"}, {"__half", "__float2half"}},
      {"cuda_bf16.h",
       {"nv_bfloat16", "nv_bfloat162"},
       {"__nv_bfloat16", "__float2bfloat16", "__bfloat16"}},
      {"cuda_fp8.h", {}, {"__nv_fp8"}},
      {"cooperative_groups.h", {"cooperative_groups"}, {}},
      {"mma.h", {"nvcuda"}, {}},
      {"cuComplex.h", {"cuComplex", "cuFloatComplex", "cuDoubleComplex"}, {"make_cu"}},
      {"math_constants.h", {}, {"CUDART_"}},
      {"curand_kernel.h", {"curand"}, {"curandState", "curand_"}},
  };
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& entry) {
    return std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end() ||
           std::any_of(entry.starts.begin(), entry.starts.end(),
                       [&](std::string_view start) { return name.starts_with(start); });
  });
  return row == rows.end() ? std::string_view{} : row->header;
}

}  // namespace

std::string missing_header_advice(std::string_view header, std::span<const std::string> flags,
                                  int major) {
  const std::vector<fs::path> folders = searched(flags);
  std::string advice = "\nSearched for " + std::string(header) + " in: ";
  if (folders.empty()) advice += "no folder";
  for (const fs::path& folder : folders) advice += "\n  " + folder.string();

  const bool is_standard =
      header.find('/') == std::string_view::npos && header.find('.') == std::string_view::npos;
  const std::string cudas = "cuda/std/" + std::string(header);
  const std::string_view builtin = builtin_part(header);
  if (is_standard) {
    advice += "\nThe host's C++ standard library cannot be used in device code";
    if (!builtin.empty()) advice.append("; ").append(builtin);
    if (any_has(folders, cudas)) {
      advice += "; CUDA's has the same header as <" + cudas + ">";
    } else if (builtin.empty()) {
      advice += any_has(folders, "cuda/std/version")
                    ? "; CUDA's has no <" + cudas + ">"
                    : "; CUDA's, <cuda/std/...>, comes with: " +
                          driver::pip_command("nvidia-cuda-cccl", major);
    }
    return advice;
  }
  if (!builtin.empty()) advice += "\nLeave it out: " + std::string(builtin);
  if (const Family* family = family_of(header)) {
    const std::string command = driver::pip_command(family->wheel, major);
    if (any_has(folders, family->witness)) {
      advice += "\nCUDA's headers are there, but have no such file in this version";
    } else {
      advice += "\nIt is one of NVIDIA's own headers; install them with: " + command;
    }
  } else if (builtin.empty()) {
    advice += "\nAdd its folder to the option include_path, or its text to the option headers";
  }
  return advice;
}

std::string forgotten_header_advice(std::string_view name, std::string_view source,
                                    std::span<const std::string> flags) {
  if (name.empty()) return {};
  std::string_view header = providing_header(name);
  if (header.empty()) {
    header = declaring_header(name);
    if (header.empty() || !any_has(searched(flags), header)) return {};
  }
  const std::string include = "<" + std::string(header) + ">";
  if (source.find(include) != std::string_view::npos) return {};
  return "\n" + std::string(name) + " is declared in a header: add #include " + include;
}

std::string foreign_header_advice(std::string_view file) {
  if (file.find("/thrust/") != std::string_view::npos) {
    return "\nThrust is made for host code and needs nvcc. In a kernel, <cuda/std/complex> has "
           "complex numbers, and <cub/block/block_reduce.cuh>, <cub/block/block_scan.cuh> and "
           "their like have algorithms for a block";
  }
  if (file.find("/cub/cub.cuh") != std::string_view::npos ||
      file.find("/cub/device/") != std::string_view::npos) {
    return "\nNVRTC takes CUB's headers for blocks and warps one by one: "
           "<cub/block/block_reduce.cuh>, <cub/block/block_scan.cuh>, <cub/warp/warp_reduce.cuh>";
  }
  if (file.ends_with("/cuda.h")) {
    return "\ncuda.h declares the driver's functions for the host; a kernel needs nothing of it";
  }
  return {};
}

}  // namespace cudacore::compile
