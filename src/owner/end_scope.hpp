// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/blocking.hpp"
#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"

namespace cudacore::owner {

/// Lets the thread make calls that captures forbid, and that would end them, because they have
/// nothing to do with what is captured.
class OutsideCaptures : driver::NotCopied {
 public:
  explicit OutsideCaptures(const driver::DriverApi& api) noexcept : api_(&api) { exchange(); }
  ~OutsideCaptures() { exchange(); }

 private:
  void exchange() noexcept { (void)api_->cuThreadExchangeStreamCaptureMode(&mode_); }

  const driver::DriverApi* api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Encloses the calls that end something, which may happen at any time: when a garbage collector
/// runs while another library captures, for instance.
class EndScope : driver::NotCopied {
 public:
  explicit EndScope(const driver::DriverApi& api) noexcept : outside_(api) {}

 private:
  driver::BlockingScope blocking_;
  OutsideCaptures outside_;
};

}  // namespace cudacore::owner
