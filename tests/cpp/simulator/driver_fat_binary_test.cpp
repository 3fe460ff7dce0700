// SPDX-License-Identifier: Apache-2.0
//
// Handmade fat binaries: which code is taken from them, and how damage is reported.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <sys/resource.h>

#include "driver_test_support.hpp"
#include "fat_binary_support.hpp"
#include "simulator/api/code/fat_binary.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::uint64_t lz4_flag = 0x2000;
constexpr std::uint64_t zstd_flag = 0x8000;
constexpr std::size_t unknown_size = std::numeric_limits<std::size_t>::max();
// Offsets in a fat binary with one piece.
constexpr std::size_t size_at = 8;
constexpr std::size_t piece_header_size_at = 16 + 4;
constexpr std::size_t piece_size_at = 16 + 8;
constexpr std::size_t compressed_size_at = 16 + 16;
constexpr std::size_t whole_size_at = 16 + 56;

class DriverFatBinary : public DriverTest {
 protected:
  static CUresult take(const std::string& bytes, Target target = {}) {
    std::string ptx;
    return take_ptx(bytes.data(), bytes.size(), target, ptx);
  }
  /// The ".target" of the PTX that a device of a compute capability takes.
  static std::string target_taken(const FatBinary& from, int major, int minor) {
    std::string ptx;
    const std::string bytes = from.bytes();
    Target target;
    target.major = major;
    target.minor = minor;
    EXPECT_EQ(take_ptx(bytes.data(), bytes.size(), target, ptx), CUDA_SUCCESS);
    const std::size_t begin = ptx.find("sm_");
    return begin != std::string::npos ? ptx.substr(begin, ptx.find('\n', begin) - begin) : ptx;
  }
};

TEST_F(DriverFatBinary, ThePtxOfTheNewestArchitectureThatRuns) {
  FatBinary all;
  all.add_ptx(75).add_ptx(90).add_ptx(80).add_ptx(100).add(elf_kind, 90, "\177ELF");
  EXPECT_EQ(target_taken(all, 7, 5), "sm_75");
  EXPECT_EQ(target_taken(all, 8, 9), "sm_80");
  EXPECT_EQ(target_taken(all, 9, 0), "sm_90");
  EXPECT_EQ(target_taken(all, 12, 1), "sm_100");
}

TEST_F(DriverFatBinary, ArchitecturesOfTheirOwn) {
  FatBinary all;
  all.add_ptx(90, "a").add_ptx(100, "f").add_ptx(80);
  EXPECT_EQ(target_taken(all, 9, 0), "sm_90a");
  EXPECT_EQ(target_taken(all, 10, 3), "sm_100f");
  EXPECT_EQ(target_taken(all, 12, 0), "sm_80");
}

TEST_F(DriverFatBinary, EveryWayToLoadIt) {
  const std::string bytes = FatBinary().add_ptx(75).bytes();
  struct {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const void* code;
    const void* linked = nullptr;
  } const descriptor{.code = bytes.data()};
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  for (const void* code :
       {static_cast<const void*>(bytes.data()), static_cast<const void*>(&descriptor)}) {
    ASSERT_EQ(cuModuleLoadFatBinary(&module, code), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "of_sm_75"), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module, code), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  CUkernel kernel = nullptr;
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "of_sm_75"), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(DriverFatBinary, IsLinked) {
  std::string bytes = FatBinary().add_ptx(75).bytes();
  CUlinkState state = nullptr;
  void* code = nullptr;
  std::size_t size = 0;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const auto add = [&](CUjitInputType type) {
    return cuLinkAddData_v2(state, type, bytes.data(), bytes.size(), "fat", 0, nullptr, nullptr);
  };
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  EXPECT_EQ(add(CU_JIT_INPUT_PTX), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add(CU_JIT_INPUT_FATBINARY), CUDA_SUCCESS);
  ASSERT_EQ(cuLinkComplete(state, &code, &size), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&module, code), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "of_sm_75"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  bytes = ptx_for("sm_75");
  EXPECT_EQ(add(CU_JIT_INPUT_FATBINARY), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
}

TEST_F(DriverFatBinary, WithoutPtxForTheDeviceSaysWhatItHas) {
  const std::string bytes =
      FatBinary().add(elf_kind, 80, "\177ELF").add_ptx(100).add_ptx(89, "a").bytes();
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadFatBinary(&module, bytes.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  const std::string log = newest_log();
  EXPECT_NE(log.find("no PTX for sm_90, but PTX for sm_100, PTX for sm_89, SASS for sm_80"),
            std::string::npos)
      << log;
  EXPECT_EQ(take(FatBinary().bytes()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(DriverFatBinary, Damaged) {
  const std::string good = FatBinary().add_ptx(75).bytes();
  ASSERT_EQ(take(good), CUDA_SUCCESS);
  for (std::size_t size = 4; size < good.size(); ++size) {
    EXPECT_EQ(take(good.substr(0, size)), CUDA_ERROR_INVALID_IMAGE) << size;
  }
  const auto with = [&](std::size_t at, auto value) {
    std::string bytes = good;
    overwrite(bytes, at, value);
    return bytes;
  };
  constexpr auto all_bits = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(take(with(size_at, all_bits)), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(take(with(size_at, std::uint64_t{24})), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(take(with(piece_header_size_at, std::uint32_t{0})), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(take(with(piece_header_size_at, ~std::uint32_t{0})), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(take(with(piece_size_at, all_bits)), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(take(with(compressed_size_at, ~std::uint32_t{0})), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(DriverFatBinary, WhatIsCompressedIsDamaged) {
  for (const auto& [flag, library] :
       {std::pair{lz4_flag, "liblz4.so.1"}, std::pair{zstd_flag, "libzstd.so.1"}}) {
    const bool is_there = dlopen(library, RTLD_NOW) != nullptr;
    const std::string said = is_there ? "can't be read" : std::string(library) + " can't be loaded";
    std::string bytes = FatBinary().add(ptx_kind, 75, "this is not compressed", flag, 512).bytes();
    EXPECT_EQ(take(bytes), is_there ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_NE(newest_log().find(said), std::string::npos) << newest_log();
    overwrite(bytes, whole_size_at, std::uint64_t{1} << 40U);
    EXPECT_EQ(take(bytes), CUDA_ERROR_INVALID_IMAGE);
  }
}

TEST_F(DriverFatBinary, TakesNoMemoryForASizeThatIsOnlySaid) {
  const auto peak_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto before = peak_kilobytes();
  constexpr std::uint64_t most = (1ULL << 31U) - 1;
  for (const auto flag : {lz4_flag, zstd_flag}) {
    const std::string little(100, 'x');
    EXPECT_EQ(take(FatBinary().add(ptx_kind, 75, little, flag, most).bytes()),
              CUDA_ERROR_INVALID_IMAGE);
    EXPECT_NE(newest_log().find("a size can't be"), std::string::npos) << newest_log();
    const std::string much(std::size_t{16} << 20U, 'x');  // as large as it could be
    EXPECT_NE(take(FatBinary().add(ptx_kind, 75, much, flag, most).bytes()), CUDA_SUCCESS);
  }
  EXPECT_LT(peak_kilobytes() - before, 512 << 10U);
}

TEST_F(DriverFatBinary, ADescriptorOfNothing) {
  std::string bytes;
  append<std::uint32_t>(bytes, 0x466243b1);
  append<std::uint32_t>(bytes, 1);
  EXPECT_EQ(take(bytes), CUDA_ERROR_INVALID_IMAGE);
  append<const void*>(bytes, nullptr);
  append<const void*>(bytes, nullptr);
  EXPECT_EQ(take(bytes), CUDA_ERROR_INVALID_IMAGE);
  const std::string ptx = ptx_for("sm_75");
  overwrite<const void*>(bytes, 8, ptx.data());
  EXPECT_EQ(take(bytes), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_FALSE(is_fat_binary(ptx.data(), ptx.size()));
  EXPECT_FALSE(is_fat_binary("", unknown_size));
}

TEST_F(DriverFatBinary, CompressedTogetherIsNotSupported) {
  constexpr std::uint16_t together = 0x100;
  EXPECT_EQ(take(FatBinary().add(together, 0, "", zstd_flag, 512).bytes()),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(newest_log().find("--concat"), std::string::npos);
}

}  // namespace
}  // namespace cudacore::simulator
