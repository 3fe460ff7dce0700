// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cudacore/device.hpp"
#include "cudacore/opaque_array.hpp"
#include "driver/driver_api.hpp"
#include "error/context_box.hpp"

// What arrays are to the driver.

namespace cudacore {

enum class ArrayKind : std::uint8_t { plain, mipmapped };

/// Checks what an array is to be, also against the device's limits.
/// @throw std::invalid_argument
[[nodiscard]] CUDA_ARRAY3D_DESCRIPTOR describe_array(const OpaqueArrayOptions& options,
                                                     Device device, ArrayKind kind);
/// Refuses an array of others that OpaqueArray can't show: of another format, with layers, faces or
/// planes.
/// @throw NotSupportedError
void require_plain(const CUDA_ARRAY3D_DESCRIPTOR& description, const char* what);
/// The options of an array that exists.
[[nodiscard]] OpaqueArrayOptions options_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

/// @throw std::invalid_argument
void require_channels(int num_channels);

[[nodiscard]] CUarray_format driver_format(ArrayFormat format) noexcept;
[[nodiscard]] ArrayFormat format_of(CUarray_format format) noexcept;
/// "float32"
[[nodiscard]] const char* name_of(ArrayFormat format) noexcept;
[[nodiscard]] bool is_floating(ArrayFormat format) noexcept;
[[nodiscard]] std::size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR& description) noexcept;

/// "a (64, 32) array of 4 float32 on device 0 (NVIDIA H200)"
[[nodiscard]] std::string array_text(const CUDA_ARRAY3D_DESCRIPTOR& description, int device);

/// Refuses an attribute's value beyond what the device has; it has no limit if the attribute is 0.
/// @throw std::invalid_argument
void require_limit(Device device, CUdevice_attribute attribute, const char* attribute_name,
                   const std::string& what, std::size_t value);

}  // namespace cudacore
