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

/// The message of the exception of type E that `call` throws. If it throws none, the test fails,
/// and the message is empty.
template <typename E, typename F>
std::string message_of(F&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// Whether `text` contains `part`; the failure message shows both.
inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << part << "\" is not in:\n" << text;
}

}  // namespace cudacore::testing
