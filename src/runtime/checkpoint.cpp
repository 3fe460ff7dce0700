// SPDX-License-Identifier: Apache-2.0
#include "cudacore/checkpoint.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "cudacore/error.hpp"
#include "driver/driver_api.hpp"
#include "error/check.hpp"

namespace cudacore::checkpoint {
namespace {

constexpr int first_checkpoint = 12080;

constexpr std::array state_names = {"running", "locked",        "checkpointed",
                                    "failed",  "checkpointing", "restoring"};

/// "process 4711, which is locked"
std::string describe_process(const driver::DriverApi& api, int pid) {
  std::string text = "process " + std::to_string(pid);
  CUprocessState state{};
  if (api.cuCheckpointProcessGetState == nullptr ||
      api.cuCheckpointProcessGetState(pid, &state) != CUDA_SUCCESS) {
    return text;
  }
  const auto place = static_cast<std::size_t>(state);
  return place < state_names.size() ? text + ", which is " + state_names.at(place) : text;
}

/// Calls a function of the table.
template <auto function, typename... Args>
void call_for_process(const char* name, int pid, Args... arguments) {
  const driver::DriverApi& api = driver::api();
  const auto run = api.*function;
  if (run == nullptr) driver::throw_missing_symbol(name, first_checkpoint);
  error::check(run(pid, arguments...), name, [&] { return describe_process(api, pid); });
}

}  // namespace

Process::Process(int pid) : pid_(pid) {
  if (pid > 0) return;
  throw std::invalid_argument("Process: a process id must be positive, not " + std::to_string(pid));
}

ProcessState Process::state() const {
  CUprocessState state{};
  call_for_process<&driver::DriverApi::cuCheckpointProcessGetState>("cuCheckpointProcessGetState",
                                                                    pid_, &state);
  if (static_cast<std::size_t>(state) >= state_names.size()) {
    throw NotSupportedError("cuCheckpointProcessGetState: the driver calls the state of process " +
                            std::to_string(pid_) + " " + std::to_string(static_cast<int>(state)) +
                            ", which this version doesn't know");
  }
  return static_cast<ProcessState>(state);
}

int Process::restore_thread_id() const {
  int thread = 0;
  call_for_process<&driver::DriverApi::cuCheckpointProcessGetRestoreThreadId>(
      "cuCheckpointProcessGetRestoreThreadId", pid_, &thread);
  return thread;
}

void Process::lock(unsigned timeout_ms) const {
  CUcheckpointLockArgs arguments{};
  arguments.timeoutMs = timeout_ms;
  call_for_process<&driver::DriverApi::cuCheckpointProcessLock>("cuCheckpointProcessLock", pid_,
                                                                &arguments);
}

void Process::checkpoint() const {
  CUcheckpointCheckpointArgs arguments{};
  call_for_process<&driver::DriverApi::cuCheckpointProcessCheckpoint>(
      "cuCheckpointProcessCheckpoint", pid_, &arguments);
}

void Process::restore(std::span<const DevicePair> devices) const {
  std::vector<CUcheckpointGpuPair> pairs(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::ranges::copy(devices[i].had, pairs[i].oldUuid.bytes);
    std::ranges::copy(devices[i].gets, pairs[i].newUuid.bytes);
  }
  CUcheckpointRestoreArgs arguments{};
  arguments.gpuPairs = pairs.empty() ? nullptr : pairs.data();
  arguments.gpuPairsCount = static_cast<unsigned>(pairs.size());
  call_for_process<&driver::DriverApi::cuCheckpointProcessRestore>("cuCheckpointProcessRestore",
                                                                   pid_, &arguments);
}

void Process::unlock() const {
  CUcheckpointUnlockArgs arguments{};
  call_for_process<&driver::DriverApi::cuCheckpointProcessUnlock>("cuCheckpointProcessUnlock", pid_,
                                                                  &arguments);
}

}  // namespace cudacore::checkpoint
