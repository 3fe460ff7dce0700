// SPDX-License-Identifier: Apache-2.0
//
// What tests ask of the messages of exceptions.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace cudacore::testing {

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
