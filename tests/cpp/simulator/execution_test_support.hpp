// SPDX-License-Identifier: Apache-2.0
//
// Runs kernels, given as PTX or as handmade instructions, on the simulator's workers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/engine/grid.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator::testing {

/// A kernel that writes 32-bit values to the array that its first parameter points to.
class Kernel {
 public:
  static constexpr std::size_t values = 4096;

  /// The PTX of functions, and of the kernel "k" with this body, whose parameters are `out` and
  /// `n`.
  static std::string text(std::string_view functions, std::string_view body) {
    std::string ptx(".version 8.6\n.target sm_90\n.address_size 64\n");
    ptx += functions;
    ptx += "\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n";
    ptx += ".reg .pred %p<10>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n";
    ptx += "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];\n";
    ptx += "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n";
    ptx += "mad.lo.u32 %r5, %r3, %r4, %r2; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;\n";
    ptx += body;
    ptx += "\n}\n";
    return ptx;
  }

  Kernel(std::string_view functions, std::string_view body) : memory_(0, std::size_t{64} << 20) {
    const std::string ptx = text(functions, body);
    const std::string_view texts[] = {ptx};
    image_ = Image::load(texts, best_forms(), Target{},
                         [this](std::size_t size, std::size_t align, bool read_only, bool) {
                           return memory_.allocate(size, align, read_only);
                         });
    out_ = memory_.allocate(values * sizeof(std::uint32_t)).value();
    std::memset(out_.host, 0, out_.size);
    request_.image = image_;
    request_.entry = image_->find_entry("k");
    request_.multiprocessors = 4;
    request_.resident_blocks = 16;
    request_.heap = &memory_;
    request_.heap_used = &heap_used_;
  }
  explicit Kernel(std::string_view body) : Kernel("", body) {}

  [[nodiscard]] LaunchRequest& request() noexcept { return request_; }
  [[nodiscard]] std::size_t heap_used() const noexcept { return heap_used_; }

  /// Runs it; `during` is called while it runs.
  std::optional<Fault> run(Dim3 grid, Dim3 block, std::uint32_t n = 0,
                           const std::function<void(Grid&)>& during = {}) {
    request_.grid = grid;
    request_.block = block;
    if (request_.parameters.size() < 12) request_.parameters.resize(12);
    std::memcpy(request_.parameters.data(), &out_.address, sizeof out_.address);
    std::memcpy(request_.parameters.data() + 8, &n, sizeof n);
    std::promise<std::optional<Fault>> done;
    const auto running =
        Grid::start(request_, [&](const std::optional<Fault>& fault) { done.set_value(fault); });
    if (during) during(*running);
    return done.get_future().get();
  }

  /// Runs it, and returns what it wrote.
  std::vector<std::uint32_t> results(Dim3 grid, Dim3 block, std::uint32_t n = 0) {
    const std::optional<Fault> fault = run(grid, block, n);
    EXPECT_FALSE(fault.has_value()) << fault->message;
    return written();
  }
  [[nodiscard]] std::vector<std::uint32_t> written() const {
    std::vector<std::uint32_t> result(values);
    std::memcpy(result.data(), out_.host, out_.size);
    return result;
  }

 private:
  DeviceMemory memory_;
  std::atomic<std::size_t> heap_used_{0};
  std::shared_ptr<const Image> image_;
  Allocation out_;
  LaunchRequest request_;
};

/// Expects a fault of that kind, with a message that contains the parts.
inline void expect_fault(const std::optional<Fault>& fault, FaultKind kind,
                         std::initializer_list<std::string_view> parts = {}) {
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, kind);
  for (const std::string_view part : parts) {
    EXPECT_NE(fault->message.find(part), std::string::npos) << fault->message;
  }
}

}  // namespace cudacore::simulator::testing
