// SPDX-License-Identifier: Apache-2.0
//
// Fat binaries: one file with code for several architectures, as made by nvcc -fatbin and nvFatbin.
#pragma once

#include <cstddef>
#include <string>

#include "simulator/api/cuda_api.hpp"
#include "simulator/engine/image.hpp"

namespace cudacore::simulator {

/// Whether code is a fat binary, or the descriptor of one that nvcc puts into programs.
bool is_fat_binary(const void* code, std::size_t size) noexcept;

/// Extracts the PTX for a device from a fat binary: if several run on it, the one for the newest
/// architecture. The system's libzstd or liblz4 decompresses it.
///
/// @param size  of the bytes at code; SIZE_MAX if unknown
/// @return NO_BINARY_FOR_GPU if there is none for the device, INVALID_IMAGE if the fat binary is
/// damaged, NOT_SUPPORTED if the library that decompresses it is missing; each is logged.
CUresult take_ptx(const void* code, std::size_t size, const Target& target, std::string& ptx);

}  // namespace cudacore::simulator
