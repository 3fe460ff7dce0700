// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver.hpp"
#include "nvrtc.hpp"

namespace bench {

/// The C types of a kernel's parameters.
using Types = std::vector<std::string>;

/// What a row times: `run` does the work n times; `settle` drains the device between batches,
/// untimed.
struct Case {
  std::function<void(std::size_t n)> run;
  std::function<void()> settle;
};

/// How often a row is timed.
struct Counts {
  std::size_t batch;
  std::size_t batches;
};

/// One context and one non-blocking stream, and the libraries, each of which is opened on first
/// use.
class Session {
 public:
  /// `nvrtc_path` may be empty; `arch` overrides the device's (90 for sm_90).
  Session(std::string nvrtc_path, std::optional<int> arch)
      : nvrtc_path_(std::move(nvrtc_path)), arch_(arch) {}

  [[nodiscard]] const Driver& driver();
  [[nodiscard]] const Nvrtc& nvrtc();
  [[nodiscard]] int arch();
  [[nodiscard]] CUdevice device();
  [[nodiscard]] CUstream stream();
  [[nodiscard]] CUmemoryPool pool();
  [[nodiscard]] CUdeviceptr allocate(std::size_t size);
  /// An empty kernel with these parameters, as a cubin; its name is "empty".
  [[nodiscard]] std::vector<char> empty_kernel(const Types& types);
  void sync();

 private:
  std::string nvrtc_path_;
  std::optional<int> arch_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Nvrtc> nvrtc_;
  CUdevice device_ = 0;
  CUstream stream_ = nullptr;
};

/// A row: its name, how often it is timed by default, and how it is prepared.
struct Row {
  std::string name;
  Counts counts;
  std::function<Case(Session&)> prepare;
};

/// Every row.
[[nodiscard]] std::vector<Row> all_rows();

/// saxpy from start to printed result: compile, load, copy, launch, copy back, print.
void print_saxpy(Session& session);

/// The same for a kernel `sum(int* out)` whose cubin lies in a file: load, launch, copy back,
/// print.
void print_sum(Session& session, const std::string& cubin);

}  // namespace bench
