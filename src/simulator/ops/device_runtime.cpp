// SPDX-License-Identifier: Apache-2.0
//
// The functions that a kernel may call and that no module defines.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "simulator/engine/conditions.hpp"
#include "simulator/engine/fault.hpp"
#include "simulator/engine/grid.hpp"
#include "simulator/engine/printf.hpp"
#include "simulator/engine/warp_run.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/ops/families.hpp"

namespace cudacore::simulator {
namespace {

/// What one lane passes to a function, and where it wants the result. See "call" for the list.
class LaneCall {
 public:
  LaneCall(const Warp& warp, const Instruction& in, unsigned lane) noexcept
      : rows_(warp.rows), list_(in.list + in.op[0]), lane_(lane) {}

  [[nodiscard]] std::uint64_t argument(unsigned index) const noexcept {
    if (index >= list_[0]) return 0;
    const std::uint32_t* const entry = list_ + 1 + 3 * std::size_t{index};
    const std::size_t stride = entry[2];
    std::uint64_t value = 0;
    std::memcpy(&value, rows_ + entry[0] + stride * lane_,
                stride < sizeof value ? stride : sizeof value);
    return value;
  }

  void give(std::uint64_t value) const noexcept {
    const std::uint32_t* const entry = list_ + 1 + 3 * std::size_t{list_[0]};
    if (entry[0] == 0) return;
    const std::size_t size = entry[4];
    std::memcpy(rows_ + entry[2] + std::size_t{entry[3]} * lane_, &value,
                size < sizeof value ? size : sizeof value);
  }

 private:
  std::byte* rows_;
  const std::uint32_t* list_;
  unsigned lane_;
};

/// Runs a function for each enabled lane, until one has a fault and returns false.
template <auto run_lane>
void each_lane(Warp& warp, const Instruction& in) {
  std::uint32_t lanes = warp.enabled(in);
  try {
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (!run_lane(warp, in, lane)) return;
    }
  } catch (const std::bad_alloc&) {
    warp.fault(in, FaultKind::out_of_memory, static_cast<unsigned>(std::countr_zero(lanes)),
               "needs more memory than the host has");
  }
}

bool print(Warp& warp, const Instruction& in, unsigned lane) {
  const LaneCall call(warp, in, lane);
  LaneReader reader(warp, in, lane);
  if (call.argument(0) == 0) {
    call.give(~std::uint64_t{0});
    return true;
  }
  std::string format;
  std::string output;
  if (!reader.read_text(call.argument(0), format)) return false;
  const std::optional<int> count = format_text(reader, format, call.argument(1), output);
  if (!count) return false;
  std::fwrite(output.data(), 1, output.size(), stdout);
  warp.block->grid->wrote_output();
  call.give(static_cast<std::uint64_t>(*count));
  return true;
}

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]";
}

/// __assertfail(message, file, line, function, size of a character): reports all failing lanes.
void assertion_failed(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes == 0) return;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  try {
    std::string reported;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const LaneCall call(warp, in, lane);
      LaneReader reader(warp, in, lane);
      std::string message;
      std::string file;
      std::string function;
      if (!reader.read_text(call.argument(0), message) ||
          !reader.read_text(call.argument(1), file) ||
          !reader.read_text(call.argument(3), function)) {
        return;
      }
      const Dim3& block = warp.block->index;
      const std::string where = file + ":" +
                                std::to_string(static_cast<std::uint32_t>(call.argument(2))) +
                                ": " + function;
      const std::string text =
          where + ": block: " + triple(block.x, block.y, block.z) +
          ", thread: " + triple(warp.tid[0][lane], warp.tid[1][lane], warp.tid[2][lane]) +
          " Assertion `" + message + "` failed.\n";
      std::fwrite(text.data(), 1, text.size(), stderr);
      if (lane == first) reported = "Assertion `" + message + "` failed, " + where;
    }
    warp.fault(in, FaultKind::assertion, first, reported);
  } catch (const std::bad_alloc&) {
    warp.fault(in, FaultKind::out_of_memory, first, "needs more memory than the host has");
  }
}

/// Takes size bytes from what the context allows its kernels; returns false if that is not enough.
bool take_heap(const LaunchRequest& request, std::size_t size) noexcept {
  std::atomic<std::size_t>& used = *request.heap_used;
  std::size_t before = used.load(std::memory_order_relaxed);
  do {
    if (size > request.heap_limit || before > request.heap_limit - size) return false;
  } while (!used.compare_exchange_weak(before, before + size, std::memory_order_relaxed));
  return true;
}

bool allocate(Warp& warp, const Instruction& in, unsigned lane) {
  const LaneCall call(warp, in, lane);
  const LaunchRequest& request = warp.block->grid->request();
  const std::uint64_t size = call.argument(0);
  std::uint64_t address = 0;
  if (size != 0 && request.heap != nullptr && request.heap_used != nullptr &&
      take_heap(request, size)) {
    // Registered with the address of the heap's counter, so that free() recognizes what malloc()
    // returned.
    const std::optional<Allocation> piece =
        request.heap->allocate(size, 16, false, request.heap_used);
    if (piece) {
      address = piece->address;
    } else {
      request.heap_used->fetch_sub(size, std::memory_order_relaxed);
    }
  }
  call.give(address);
  return true;
}

bool release(Warp& warp, const Instruction& in, unsigned lane) {
  const std::uint64_t address = LaneCall(warp, in, lane).argument(0);
  if (address == 0) return true;
  const LaunchRequest& request = warp.block->grid->request();
  const std::optional<Allocation> piece = AddressSpace::instance().find(address);
  if (request.heap_used == nullptr || !piece || piece->address != address ||
      piece->heap != request.heap_used || !request.heap->free(address)) {
    char text[96];
    std::snprintf(text, sizeof text, "frees 0x%llx, which malloc did not give or free() took back",
                  static_cast<unsigned long long>(address));
    warp.fault(in, FaultKind::illegal_address, lane, text);
    return false;
  }
  request.heap_used->fetch_sub(piece->size, std::memory_order_relaxed);
  return true;
}

/// cudaGraphSetConditional(handle, value)
bool set_conditional(Warp& warp, const Instruction& in, unsigned lane) {
  const LaneCall call(warp, in, lane);
  const std::uint64_t handle = call.argument(0);
  if (set_condition(handle, static_cast<std::uint32_t>(call.argument(1)))) return true;
  char text[96];
  std::snprintf(text, sizeof text, "sets the condition 0x%llx, which no graph has",
                static_cast<unsigned long long>(handle));
  warp.fault(in, FaultKind::illegal_address, lane, text);
  return false;
}

}  // namespace

void add_device_runtime(FormTable& table) {
  const FormTable::Family calls(table, {.effect = Effect::acts});
  table.add({"call.vprintf"}, "", each_lane<print>);
  table.add({"call.__assertfail"}, "", assertion_failed);
  table.add({"call.malloc"}, "", each_lane<allocate>);
  table.add({"call.free"}, "", each_lane<release>);
  table.add({"call.cudaGraphSetConditional"}, "", each_lane<set_conditional>);
}

}  // namespace cudacore::simulator
