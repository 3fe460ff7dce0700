// SPDX-License-Identifier: Apache-2.0
//
// Contexts of the fake driver, made, made current, and reset.
#pragma once

#include "cudacore/context.hpp"
#include "cudacore/system.hpp"
#include "error/context_box.hpp"
#include "error/sticky.hpp"
#include "fake_driver.hpp"
#include "log_reports.hpp"

namespace cudacore::testing {

class ContextTest : public ReportsTest {
 protected:
  void TearDown() override {
    system::set_interrupt_hook(nullptr);
    ReportsTest::TearDown();
  }

  /// A context that no other test has seen, made current.
  Context foreign(int device = 0) {
    FakeDriver::set_current(fake.create_context(device));
    return Context::current();
  }

  void reset() {
    error::forget_contexts("a reset");
    fake.end_contexts();
  }

  FakeDriver& fake = FakeDriver::fresh();
};

}  // namespace cudacore::testing
