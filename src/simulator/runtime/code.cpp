// SPDX-License-Identifier: Apache-2.0
#include "simulator/runtime/code.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cudacore::runtime {

namespace {

struct Descriptor {
  std::uint32_t magic;
  std::uint32_t version;
  const void* code;
  const void* const* pieces;  ///< from version 2 on; the last one is null
};

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t size;
  std::uint64_t rest;
};

/// The beginning of each part of a fat binary.
struct Part {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t size;
  std::uint32_t compressed_size;
  std::uint32_t unknown[2];
  std::uint32_t architecture;
};

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

std::size_t size_of(const void* fat_binary) {
  const auto header = read<Header>(fat_binary);
  return header.size + header.rest;
}

/// Whether a fat binary has PTX that a device of a compute capability, such as 90, may run.
bool has_ptx(const void* fat_binary, unsigned capability) {
  constexpr std::uint16_t ptx = 1;
  const auto* const begin = static_cast<const std::byte*>(fat_binary);
  const std::size_t size = size_of(fat_binary);
  for (std::size_t at = read<Header>(begin).size; at + sizeof(Part) <= size;) {
    const auto part = read<Part>(begin + at);
    if (part.kind == ptx && part.architecture <= capability) return true;
    const std::size_t length = part.header_size + part.size;
    if (length == 0 || length > size - at) return false;
    at += length;
  }
  return false;
}

CUresult find_capability(unsigned& capability) {
  CUdevice device = 0;
  int major = 0;
  int minor = 0;
  CUresult result = cuCtxGetDevice(&device);
  if (result == CUDA_SUCCESS) {
    result = cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  }
  if (result == CUDA_SUCCESS) {
    result = cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  }
  capability = static_cast<unsigned>(major * 10 + minor);
  return result;
}

class LinkState {
 public:
  LinkState() = default;
  ~LinkState() {
    if (state_ != nullptr) (void)cuLinkDestroy(state_);
  }
  LinkState(const LinkState&) = delete;
  LinkState& operator=(const LinkState&) = delete;

  [[nodiscard]] CUresult create() { return cuLinkCreate(0, nullptr, nullptr, &state_); }
  [[nodiscard]] CUresult add(const void* fat_binary) {
    return cuLinkAddData(state_, CU_JIT_INPUT_FATBINARY, const_cast<void*>(fat_binary),
                         size_of(fat_binary), "fat binary", 0, nullptr, nullptr);
  }
  [[nodiscard]] CUresult load(CUlibrary& library) {
    void* code = nullptr;
    std::size_t size = 0;
    const CUresult result = cuLinkComplete(state_, &code, &size);
    return result == CUDA_SUCCESS
               ? cuLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0)
               : result;
  }

 private:
  CUlinkState state_ = nullptr;
};

CUresult link(const void* const* pieces, CUlibrary& library) {
  LinkState state;
  unsigned capability = 0;
  CUresult result = find_capability(capability);
  if (result == CUDA_SUCCESS) result = state.create();
  for (; result == CUDA_SUCCESS && *pieces != nullptr; ++pieces) {
    // nvcc adds NVIDIA's library of device code, which here is machine code. A program that needs
    // it gets an error that it can't be linked.
    if (has_ptx(*pieces, capability)) result = state.add(*pieces);
  }
  return result == CUDA_SUCCESS ? state.load(library) : result;
}

}  // namespace

Result load_code(const void* descriptor, CUlibrary& library) {
  const auto told = read<Descriptor>(descriptor);
  if (told.version >= 2 && told.pieces != nullptr && *told.pieces != nullptr) {
    return link(told.pieces, library);
  }
  return cuLibraryLoadData(&library, descriptor, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

}  // namespace cudacore::runtime
