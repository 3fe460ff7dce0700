// SPDX-License-Identifier: Apache-2.0
//
// What the library logs while a test runs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cudacore/system.hpp"

namespace cudacore::testing {

/// The messages since the test began.
inline std::vector<std::string>& reports() {
  static std::vector<std::string> list;
  return list;
}

/// A test that reads reports().
class ReportsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    reports().clear();
    system::set_log_hook([](const char* message) { reports().emplace_back(message); });
  }
  void TearDown() override { system::set_log_hook(nullptr); }
};

}  // namespace cudacore::testing
