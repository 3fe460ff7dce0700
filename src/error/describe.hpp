// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "driver/driver_api.hpp"

// How messages describe objects. Only for error paths: each function may call the driver.

namespace cudacore::error {

/// "device 0 (NVIDIA H200)"
[[nodiscard]] std::string describe_device(int device);
/// "1 TiB", "1.5 GiB", "100 bytes"
[[nodiscard]] std::string format_bytes(std::size_t size);
/// `cubin "axpy"`, or just `cubin` if it has no name.
[[nodiscard]] std::string with_name(std::string_view what, const std::string& name);
/// "0x7f00"
[[nodiscard]] std::string format_address(std::uintptr_t address);
[[nodiscard]] std::string format_address(const void* address);
/// "128 x 1 x 1"
[[nodiscard]] std::string format_extents(const std::array<unsigned, 3>& extents);
/// "CUDA_ERROR_OUT_OF_MEMORY"; empty for a code that the driver doesn't know.
[[nodiscard]] std::string code_name(const driver::DriverApi& api, CUresult result);
/// "CUDA_ERROR_OUT_OF_MEMORY (2)"
[[nodiscard]] std::string format_code(const driver::DriverApi& api, CUresult result);

}  // namespace cudacore::error
