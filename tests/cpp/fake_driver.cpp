// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "error/context_box.hpp"
#include "error/sticky.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::testing {

namespace {

thread_local CUcontext current_context = nullptr;

/// Restores the real driver for the next test.
class Uninstall : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& /*info*/) override {
    driver::install_for_testing(nullptr);
  }
};

/// Takes the closed events that wait to be reused.
std::vector<CUevent> take_idle_events() {
  std::vector<CUevent> taken;
  for (const auto& context : error::known_contexts()) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const error::EventKind kind{(bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
      while (CUevent event = context->idle_events.take(kind)) taken.push_back(event);
    }
  }
  return taken;
}

}  // namespace

FakeDriver::FakeDriver() {
  fill_table(table_);
  ::testing::UnitTest::GetInstance()->listeners().Append(std::make_unique<Uninstall>().release());
}

FakeDriver& FakeDriver::get() {
  static FakeDriver& driver = *std::unique_ptr<FakeDriver>(new FakeDriver).release();
  return driver;
}

FakeDriver& FakeDriver::fresh() {
  FakeDriver& driver = get();
  driver::install_for_testing(&driver.table_);
  driver.clear_faults();
  driver.forget_calls();
  driver.queries_until_ready = 0;
  driver.busy = false;
  driver.heeds_hints = true;
  driver.last_launch = {};
  driver.free_streams.clear();
  error::forget_loss();
  for (const auto& context : error::known_contexts()) context->lost = false;
  (void)take_idle_events();
  const std::scoped_lock lock(driver.mutex_);
  driver.ledger_.clear();
  driver.misuses_ = 0;
  current_context = nullptr;
  return driver;
}

void FakeDriver::fail_call(int k, CUresult code, bool sticky) {
  const std::scoped_lock lock(mutex_);
  fault_ = {.countdown = k, .code = code, .sticky = sticky, .function = {}};
  fired_ = false;
}

void FakeDriver::fail_function(const std::string& name, CUresult code) {
  const std::scoped_lock lock(mutex_);
  fault_ = {.countdown = 0, .code = code, .sticky = true, .function = name};
  fired_ = false;
}

void FakeDriver::clear_faults() {
  const std::scoped_lock lock(mutex_);
  fault_ = {};
  fired_ = false;
}

bool FakeDriver::fired() const {
  const std::scoped_lock lock(mutex_);
  return fired_;
}

std::string FakeDriver::fired_function() const {
  const std::scoped_lock lock(mutex_);
  return fired_function_;
}

int FakeDriver::live() {
  const std::vector<CUevent> idle = take_idle_events();
  const std::scoped_lock lock(mutex_);
  for (CUevent event : idle) ledger_.erase(event);
  return static_cast<int>(ledger_.size());
}

int FakeDriver::live(const std::string& kind) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int>(std::count_if(ledger_.begin(), ledger_.end(),
                                        [&](const auto& entry) { return entry.second == kind; }));
}

int FakeDriver::misuses() const {
  const std::scoped_lock lock(mutex_);
  return misuses_;
}

std::vector<std::string> FakeDriver::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

int FakeDriver::count(const std::string& function) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int>(std::count(calls_.begin(), calls_.end(), function));
}

void FakeDriver::forget_calls() {
  const std::scoped_lock lock(mutex_);
  calls_.clear();
}

CUcontext FakeDriver::create_context(int device) {
  const std::scoped_lock lock(mutex_);
  next_handle_ += 16;
  const auto context = reinterpret_cast<CUcontext>(next_handle_);
  context_device_[context] = device;
  context_id_[context] = context_id_.size() + 1;  // no context of the driver has the id 0
  return context;
}

void FakeDriver::end_contexts() {
  current_context = nullptr;
  const std::scoped_lock lock(mutex_);
  primary_.fill(nullptr);
}

CUcontext FakeDriver::current() { return current_context; }

void FakeDriver::set_current(CUcontext context) { current_context = context; }

CUresult FakeDriver::enter(const char* function) {
  const std::scoped_lock lock(mutex_);
  calls_.emplace_back(function);
  if (fault_.code == CUDA_SUCCESS) return CUDA_SUCCESS;
  const bool strikes = fault_.function.empty()
                           ? (--fault_.countdown == 0 || (fault_.sticky && fault_.countdown < 0))
                           : fault_.function == function;
  if (!strikes) return CUDA_SUCCESS;
  if (!fired_) fired_function_ = function;
  fired_ = true;
  return fault_.code;
}

void FakeDriver::add(const std::string& kind, const void* handle) {
  const std::scoped_lock lock(mutex_);
  ledger_[handle] = kind;
}

bool FakeDriver::remove(const std::string& kind, const void* handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = ledger_.find(handle);
  if (found == ledger_.end() || found->second != kind) {
    ++misuses_;
    return false;
  }
  ledger_.erase(found);
  return true;
}

}  // namespace cudacore::testing
