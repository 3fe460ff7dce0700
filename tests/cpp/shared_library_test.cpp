// SPDX-License-Identifier: Apache-2.0
#include "driver/shared_library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "compilers.hpp"
#include "cudacore/error.hpp"
#include "driver/nvjitlink_api.hpp"
#include "driver/nvrtc_api.hpp"
#include "messages.hpp"

namespace cudacore::driver {
namespace {

namespace fs = std::filesystem;
using testing::contains;

/// Sets an environment variable for a scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { setenv(name_, before_.c_str(), 1); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

fs::path make_folder(const std::string& name) {
  fs::path folder = fs::path(::testing::TempDir()) / name;
  fs::create_directories(folder);
  return folder;
}

TEST(SharedLibrary, MissingLibraryListsEveryPlaceAndTheCure) {
  const fs::path conda = make_folder("conda");
  const fs::path toolkit = make_folder("toolkit");
  fs::create_directories(toolkit / "lib64");
  std::ofstream(toolkit / "lib64/libnosuch.so.9") << std::string(100, 'x');
  const ScopedVariable prefix("CONDA_PREFIX", conda.string());
  const ScopedVariable path("CUDA_PATH", toolkit.string());
  const ScopedVariable home("CUDA_HOME", toolkit.string());
  const LibraryPlaces places{
      "Nosuch", {"libnosuch.so.9", "libnosuch.so.8"}, {"nvidia/nosuch/lib"}, "pip install nosuch"};
  try {
    (void)open_library(places);
    FAIL() << "opened a library that does not exist";
  } catch (const LibraryNotFoundError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(contains(message, "Nosuch could not be opened"));
    EXPECT_TRUE(contains(message, "pip install nosuch"));
    EXPECT_TRUE(contains(message, "libnosuch.so.9: not loaded in this process yet"));
    EXPECT_TRUE(contains(message, (conda / "lib/libnosuch.so.8").string() + ": no such file"));
    EXPECT_TRUE(contains(message, "the system loader: libnosuch.so.9: cannot open"));
    EXPECT_TRUE(contains(message, "lib64/libnosuch.so.9: " + toolkit.string()));
    EXPECT_TRUE(contains(message, "invalid ELF header"));
    const auto is_toolkit_file = [&](const std::string& line) {
      return line.starts_with((toolkit / "lib64/libnosuch.so.9").string());
    };
    EXPECT_EQ(std::count_if(error.tried().begin(), error.tried().end(), is_toolkit_file), 1)
        << "CUDA_PATH and CUDA_HOME name the same folder";
  }
}

TEST(SharedLibrary, MissingDriverSaysWhatStillWorks) {
  try {
    (void)open_driver();
    GTEST_SKIP() << "this machine has a driver";
  } catch (const DriverNotFoundError& error) {
    EXPECT_TRUE(contains(error.what(), "libcuda.so.1"));
    EXPECT_TRUE(contains(error.what(), "--gpus all"));
    EXPECT_TRUE(contains(error.what(), "work without it"));
    EXPECT_EQ(error.tried().size(), 2U);
  }
}

TEST(SharedLibrary, OpensTheSameLibraryOnce) {
  const LibraryPlaces places{"libc", {"libm.so.6"}, {}, ""};
  const SharedLibrary first = open_library(places);
  const SharedLibrary second = open_library(places);
  EXPECT_EQ(first.handle, second.handle);
  EXPECT_TRUE(first.path.is_absolute()) << first.path;
  EXPECT_NE(first.symbol("cos"), nullptr);
  EXPECT_EQ(first.symbol("no_such_function"), nullptr);
}

TEST(SharedLibrary, UsualToolkitIsTheDefault) {
  {
    const ScopedVariable path("CUDA_PATH", "/some/toolkit");
    const ScopedVariable home("CUDA_HOME", "/another");
    EXPECT_EQ(toolkit_roots(), (std::vector<fs::path>{"/some/toolkit", "/another"}));
  }
  const ScopedVariable path("CUDA_PATH", "");
  const ScopedVariable home("CUDA_HOME", "");
  const fs::path usual = "/usr/local/cuda";
  EXPECT_EQ(toolkit_roots(),
            fs::is_directory(usual) ? std::vector<fs::path>{usual} : std::vector<fs::path>{});
}

TEST(IncludeDirectories, SkipsHeadersOfAnotherMajorVersion) {
  const fs::path twelve = make_folder("cuda-12/include");
  std::ofstream(twelve / "cuda_runtime_api.h") << "#define CUDART_VERSION  12090\n";
  const fs::path thirteen = make_folder("cuda-13/include");
  std::ofstream(thirteen / "cuda_runtime_api.h") << "#define CUDART_VERSION  13000\n";
  fs::create_directories(thirteen / "cccl/cuda/std");
  std::ofstream(thirteen / "cccl/cuda/std/version") << "";
  const ScopedVariable path("CUDA_PATH", twelve.parent_path().string());
  const ScopedVariable home("CUDA_HOME", thirteen.parent_path().string());
  const ScopedVariable conda("CONDA_PREFIX", "");
  const auto folders = find_include_directories("/nowhere/lib/libnvrtc.so.13", 13);
  if (!wheel_roots().empty()) GTEST_SKIP() << "the wheels come first";
  ASSERT_EQ(folders.size(), 2U);
  EXPECT_EQ(folders[0], thirteen);
  EXPECT_EQ(folders[1], thirteen / "cccl");
}

using Compilers = testing::CompilerTest;

TEST_F(Compilers, KnowTheirVersionAndPath) {
  EXPECT_GE(nvrtc().major, 12);
  EXPECT_TRUE(fs::exists(nvrtc().path)) << nvrtc().path;
  EXPECT_GE(nvjitlink().major, 12);
  EXPECT_TRUE(fs::exists(nvjitlink().path)) << nvjitlink().path;
  EXPECT_FALSE(system::nvrtc_architectures().empty());
}

TEST_F(Compilers, TestWheelsComeFirst) {
  const char* wheels = std::getenv("CUDACORE_TEST_WHEELS");
  if (wheels == nullptr) GTEST_SKIP() << "CUDACORE_TEST_WHEELS is not set";
  EXPECT_TRUE(nvrtc().path.string().starts_with(fs::canonical(wheels).string())) << nvrtc().path;
  for (const fs::path& folder : system::include_directories()) {
    EXPECT_TRUE(folder.string().starts_with(fs::canonical(wheels).string())) << folder;
  }
}

}  // namespace
}  // namespace cudacore::driver
