// SPDX-License-Identifier: Apache-2.0
//
// The thread that runs a program's host functions, one after another.
#pragma once

#include "simulator/api/stream/command_queue.hpp"

namespace cudacore::simulator {

/// A function of the program, in queue order. Its queue waits for it.
class HostWork : public Work {
 public:
  Progress run(const Turn& turn) noexcept override;

 protected:
  /// Hands it to the thread.
  Progress post(const Turn& turn, CUresult status) noexcept;
  /// Runs on the thread.
  virtual void call(CUresult status) noexcept = 0;

 private:
  friend class HostThread;
  std::shared_ptr<Queue> queue_;
  std::uint64_t sequence_ = 0;
  CUresult status_ = CUDA_SUCCESS;
};

/// For cuLaunchHostFunc. Not called if the context is lost.
class HostFunction final : public HostWork {
 public:
  HostFunction(CUhostFn function, void* data) noexcept : function_(function), data_(data) {}

 private:
  void call(CUresult) noexcept override { function_(data_); }

  CUhostFn function_;
  void* data_;
};

/// For cuStreamAddCallback. Always called, with the status.
class StreamCallback final : public HostWork {
 public:
  StreamCallback(CUstreamCallback callback, CUstream stream, void* data) noexcept
      : callback_(callback), stream_(stream), data_(data) {}
  Progress drop(const Turn& turn, CUresult error) noexcept override { return post(turn, error); }

 private:
  void call(CUresult status) noexcept override { callback_(stream_, status, data_); }

  CUstreamCallback callback_;
  CUstream stream_;
  void* data_;
};

/// True on the thread for host functions, where the driver's functions are not permitted.
[[nodiscard]] bool is_callback_thread() noexcept;

}  // namespace cudacore::simulator
