// SPDX-License-Identifier: Apache-2.0
//
// Fat binaries: one file of code for several architectures, as nvcc -fatbin and nvFatbin make them.
#pragma once

#include <cstddef>
#include <string>

#include "simulator/api/cuda_api.hpp"
#include "simulator/engine/image.hpp"

namespace cudacore::simulator {

/// Whether code is a fat binary, or the descriptor of one that nvcc puts into programs.
bool is_fat_binary(const void* code, std::size_t size) noexcept;

/// Takes the PTX for a device out of a fat binary: of several that run on it, that of the newest
/// architecture. What is compressed is read by the system's libzstd or liblz4.
///
/// @param size  of the bytes at code; SIZE_MAX where it is not known
/// @return NO_BINARY_FOR_GPU where there is none for the device, INVALID_IMAGE for one that is
///         damaged, NOT_SUPPORTED where the library that reads it is missing; each is logged.
CUresult take_ptx(const void* code, std::size_t size, const Target& target, std::string& ptx);

}  // namespace cudacore::simulator
