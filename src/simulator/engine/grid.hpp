// SPDX-License-Identifier: Apache-2.0
//
// A kernel launch in progress.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "simulator/engine/image.hpp"
#include "simulator/engine/machine.hpp"
#include "simulator/engine/parameter_bytes.hpp"
#include "simulator/engine/workers.hpp"

namespace cudacore::simulator {

class DeviceMemory;

/// The input for a launch. The driver has checked it: shapes within the limits, the right number of
/// parameter bytes.
struct LaunchRequest {
  std::shared_ptr<const Image> image;
  const Function* entry = nullptr;
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;                      ///< size of a cluster in blocks; 1, 1, 1 for none
  std::uint32_t dynamic_shared = 0;  ///< bytes
  ParameterBytes parameters;         ///< the entry's parameter_bytes
  bool cooperative = false;
  int device = 0;  ///< ordinal
  std::uint64_t readable_devices =
      ~std::uint64_t{0};              ///< a bit for each ordinal whose memory it may access
  std::uint32_t multiprocessors = 1;  ///< number that the device has: %nsmid
  std::uint32_t resident_blocks = 1;  ///< that may be in progress at once, on all multiprocessors
  std::uint32_t stack_bytes = 1024;   ///< CU_LIMIT_STACK_SIZE, for kernels of unknown stack size
  DeviceMemory* heap = nullptr;       ///< for malloc in kernels
  std::size_t heap_limit = 8u << 20;  ///< CU_LIMIT_MALLOC_HEAP_SIZE, of the context
  std::atomic<std::size_t>* heap_used = nullptr;
  std::uint64_t grid_id = 0;                                  ///< %gridid
  std::atomic<std::uint64_t>* thread_instructions = nullptr;  ///< if set, what threads ran is added
};

/// Runs the blocks of a launch on the workers. A block that runs for long is preempted, so that
/// blocks can wait for each other. At most resident_blocks are in progress at once; the blocks of a
/// cluster start together, as do all blocks of a cooperative grid.
class Grid final : public Task, public std::enable_shared_from_this<Grid> {
 public:
  /// Called once, on a worker, after the last block has ended; gets the fault, if there was one.
  using Done = std::function<void(const std::optional<Fault>&)>;

  /// Submits the grid. @throws std::bad_alloc
  static std::shared_ptr<Grid> start(LaunchRequest request, Done done);

  /// Ends the grid soon, with FaultKind::cancelled unless it has already faulted.
  void cancel() noexcept;

  std::optional<Time> run(Worker& worker) noexcept override;

  [[nodiscard]] const LaunchRequest& request() const noexcept { return request_; }
  /// Differs if a grid may access other memory: a number for the device and what it reads.
  [[nodiscard]] std::uint64_t access_key() const noexcept {
    const auto device = static_cast<std::uint64_t>(request_.device);
    return (request_.readable_devices + (device << 57)) * 0x9e3779b97f4a7c15;
  }
  /// True after a fault or cancel() has ended it: every warp stops at its next slice.
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  /// Records the first fault, and stops the grid.
  void fail(Fault fault) noexcept;

  /// Generic address of the memory with which the blocks of a cooperative grid synchronize; 0 for
  /// other grids.
  [[nodiscard]] std::uint64_t workspace() const noexcept { return workspace_; }
  /// Called when a kernel writes to stdout, which is then flushed when the grid ends.
  void wrote_output() noexcept { wrote_output_.store(true, std::memory_order_relaxed); }

  ~Grid() override;

 private:
  friend struct GridForTests;
  struct Schedule;
  Grid(LaunchRequest request, Done done);

  LaunchRequest request_;
  Done done_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> wrote_output_{false};
  std::uint64_t workspace_ = 0;
  std::mutex mutex_;
  std::optional<Fault> fault_;
  std::unique_ptr<Schedule, void (*)(Schedule*)> schedule_;
};

}  // namespace cudacore::simulator
