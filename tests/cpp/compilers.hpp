// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cudacore/error.hpp"
#include "cudacore/system.hpp"

namespace cudacore::testing {

/// Makes the library look for NVIDIA's wheels in $CUDACORE_TEST_WHEELS, a site-packages folder.
/// Must run before the first search.
inline void use_test_wheels() {
  system::set_wheel_roots([] {
    const char* folder = std::getenv("CUDACORE_TEST_WHEELS");
    return folder != nullptr ? std::vector<std::filesystem::path>{folder}
                             : std::vector<std::filesystem::path>{};
  });
}

/// A test that needs NVRTC and nvJitLink, but no driver.
class CompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    use_test_wheels();
    try {
      (void)system::nvrtc();
      (void)system::nvjitlink();
    } catch (const LibraryNotFoundError& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

}  // namespace cudacore::testing
