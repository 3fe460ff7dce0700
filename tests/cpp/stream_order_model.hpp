// SPDX-License-Identifier: Apache-2.0
//
// What is ordered behind what, on streams that never run: a detector of races in memory that a pool
// hands from one stream to another.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "fake_driver.hpp"

namespace cudacore::testing {

/// Keeps, in place of the fake driver's functions, a vector clock for each stream and each event.
/// Queries say at random whether the work is done.
class StreamOrderModel {
 public:
  using Clock = std::map<CUstream, long>;

  StreamOrderModel(FakeDriver& fake, unsigned seed);
  ~StreamOrderModel();

  /// Work on a stream that uses a range of memory.
  void use(CUstream stream, CUdeviceptr pointer, std::size_t size);
  /// A range is about to be used by a new owner, on a stream.
  void hand_out(CUstream stream, CUdeviceptr pointer, std::size_t size);
  /// What went wrong first; empty if nothing did.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct Use {
    CUdeviceptr begin;
    CUdeviceptr end;
    CUstream stream;
    long tick;
  };

  static StreamOrderModel& get();
  void fail(const std::string& what);
  void require_alive(CUstream stream, const char* function);
  [[nodiscard]] bool is_behind(CUstream stream, const Use& use);
  void finish(const Clock& clock);
  [[nodiscard]] bool flip() { return random_() % 3 == 0; }

  FakeDriver* fake_;
  driver::DriverApi before_;
  std::mt19937 random_;
  std::map<CUstream, Clock> streams_;
  std::map<CUevent, Clock> events_;
  std::map<CUstream, long> done_;
  std::map<CUstream, bool> destroyed_;
  std::map<CUdeviceptr, std::size_t> upstream_;
  std::vector<Use> uses_;
  std::string error_;
};

}  // namespace cudacore::testing
