// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch_allocator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include <cudacore/device.hpp>
#include <cudacore/error.hpp>
#include <sys/types.h>

#include "bindings/errors.hpp"
#include "bindings/keep_gil.hpp"
#include "driver/blocking.hpp"
#include "driver/driver_api.hpp"
#include "driver/leaked.hpp"
#include "error/sticky.hpp"
#include "error/unraisable.hpp"
#include "owner/default_streams.hpp"

namespace cudacore::bindings {
namespace {

struct TorchSlot {
  std::vector<std::pair<int, std::shared_ptr<MemoryResource>>> resources;  ///< by device; -1 is any
  TorchRole role = TorchRole::allocator;

  [[nodiscard]] MemoryResource& of(int device) const {
    for (const auto& [owner, resource] : resources) {
      if (owner == device || owner < 0) return *resource;
    }
    throw std::invalid_argument("PyTorch asked for memory of device " + std::to_string(device) +
                                ", for which its allocator has no resource");
  }
};

constexpr std::size_t most_slots = 16;

struct TorchSlots {
  std::mutex mutex;  ///< guards what is taken
  std::size_t taken = 0;
  std::array<TorchSlot, most_slots>
      slots;  ///< one is not changed after its number has been given out
};

/// Memory that PyTorch has.
struct TorchAllocation {
  Buffer buffer;
  Stream stream;              ///< orders its release
  std::vector<Stream> users;  ///< other streams that use it
  TorchRole role;
};

/// Encloses what may block. In a pool, a thread that has the GIL keeps it while it waits. That
/// stops the others, as PyTorch's own calls of cudaMalloc and cudaFree do there, but to let them
/// run would be worse: they could take the GIL and wait for PyTorch's mutex forever. For the same
/// reason, no wait there asks Python about Ctrl-C.
class Blocking : driver::NotCopied {
 public:
  explicit Blocking(TorchRole role) noexcept {
    if (role == TorchRole::pool) {
      keep_.emplace();
      no_interrupts_.emplace();
    } else {
      release_.emplace();
    }
  }

 private:
  std::optional<KeepGil> keep_;
  std::optional<error::NobodyCatchesScope> no_interrupts_;
  std::optional<driver::BlockingScope> release_;
};

struct TorchAllocations {
  std::mutex mutex;
  std::unordered_map<void*, TorchAllocation> all;
};

Stream to_stream(int device, CUstream stream) {
  return owner::is_legacy_stream(stream) ? Device(device).default_stream()
                                         : Stream::from_handle(stream);
}

void* allocate(const TorchSlot& slot, std::size_t size, int device, CUstream handle) {
  if (size == 0) return nullptr;
  const Blocking scope(slot.role);
  const Stream stream = to_stream(device, handle);
  Buffer buffer = slot.of(device).allocate(size, stream);
  auto* const pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(buffer.handle()));
  TorchAllocation allocation{std::move(buffer), stream, {}, slot.role};
  auto& allocations = driver::leaked_across_forks<TorchAllocations>();
  const std::scoped_lock lock(allocations.mutex);
  if (const auto [place, is_new] = allocations.all.try_emplace(pointer, std::move(allocation));
      !is_new) {
    std::swap(place->second,
              allocation);  // what PyTorch has forgotten is released without the lock
  }
  return pointer;
}

std::string text_of(const std::exception& error) {
  const auto* raised = dynamic_cast<const py::error_already_set*>(&error);
  if (raised == nullptr) return error.what();
  if (!may_take_gil()) return "a Python exception";
  const AcquireGil acquire;
  return exception_text(*raised);
}

void* allocate_from_slot(std::size_t number, ssize_t size, int device, CUstream stream) {
  const TorchSlot& slot = driver::leaked_across_forks<TorchSlots>().slots.at(number);
  try {
    return allocate(slot, static_cast<std::size_t>(size), device, stream);
  } catch (const std::exception& error) {
    // The text of a Python exception is read here, not in PyTorch.
    const std::string text = text_of(error);
    if (slot.role == TorchRole::allocator) throw std::runtime_error(text);
    if (dynamic_cast<const OutOfMemoryError*>(&error) == nullptr) {
      error::report_unraisable(("PyTorch's allocator: " + text).c_str());
    }
    return nullptr;
  }
}

void give_back(void* pointer) {
  if (pointer == nullptr) return;
  auto& allocations = driver::leaked_across_forks<TorchAllocations>();
  auto freed = [&] {
    const std::scoped_lock lock(allocations.mutex);
    return allocations.all.extract(pointer);
  }();  // the memory is released without the lock
  if (freed.empty()) throw std::invalid_argument("it freed memory that cudacore did not give it");
  const Blocking scope(freed.mapped().role);
  const TorchAllocation allocation = std::move(freed.mapped());
  std::exception_ptr failure;
  for (const Stream& user : allocation.users) {
    try {
      allocation.stream.wait(user);
    } catch (const std::exception&) {
      if (failure == nullptr) failure = std::current_exception();
      user.context().sync();  // a stream that is gone may have left work
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);  // and the memory is released
}

void record_stream(void* pointer, CUstream handle) {
  if (pointer == nullptr) return;
  const driver::BlockingScope scope;
  auto& allocations = driver::leaked_across_forks<TorchAllocations>();
  const auto stream = [&]() -> std::optional<Stream> {
    const std::scoped_lock lock(allocations.mutex);
    const auto found = allocations.all.find(pointer);
    if (found == allocations.all.end()) return std::nullopt;
    return found->second.stream;
  }();
  if (!stream) return;
  const Stream user = to_stream(stream->device().id(), handle);
  const auto is_user = [&](const Stream& known) { return known == user; };
  const std::scoped_lock lock(allocations.mutex);
  const auto found = allocations.all.find(pointer);
  if (found == allocations.all.end()) return;
  TorchAllocation& allocation = found->second;
  if (is_user(allocation.stream) || std::ranges::any_of(allocation.users, is_user)) return;
  allocation.users.push_back(user);
}

template <typename Call>
void reported(const Call& call) noexcept {
  try {
    call();
  } catch (const std::exception& error) {
    error::report_unraisable(("PyTorch's allocator: " + text_of(error)).c_str());
  }
}

}  // namespace

int torch_slot(std::vector<std::shared_ptr<MemoryResource>> resources, TorchRole role) {
  TorchSlot wanted{{}, role};
  for (auto& resource : resources) {
    const int device = resource->device_id();
    wanted.resources.emplace_back(device, std::move(resource));
  }
  auto& [mutex, taken, slots] = driver::leaked_across_forks<TorchSlots>();
  const std::scoped_lock lock(mutex);
  for (std::size_t i = 0; i < taken; ++i) {
    const TorchSlot& slot = slots.at(i);
    if (slot.resources == wanted.resources && slot.role == role) {
      return static_cast<int>(i);
    }
  }
  if (taken == most_slots) {
    throw std::length_error("PyTorch can have " + std::to_string(most_slots) +
                            " allocators of cudacore, which it never gives back; use the same "
                            "resources again");
  }
  slots.at(taken) = std::move(wanted);
  return static_cast<int>(taken++);
}

}  // namespace cudacore::bindings

#define CUDACORE_EXPORTED extern "C" __attribute__((visibility("default")))
#define CUDACORE_ALLOCATE(slot)                                                    \
  CUDACORE_EXPORTED void* cudacore_torch_allocate_##slot(ssize_t size, int device, \
                                                         CUstream stream) {        \
    return cudacore::bindings::allocate_from_slot(slot, size, device, stream);     \
  }

CUDACORE_ALLOCATE(0)
CUDACORE_ALLOCATE(1)
CUDACORE_ALLOCATE(2)
CUDACORE_ALLOCATE(3)
CUDACORE_ALLOCATE(4)
CUDACORE_ALLOCATE(5)
CUDACORE_ALLOCATE(6)
CUDACORE_ALLOCATE(7)
CUDACORE_ALLOCATE(8)
CUDACORE_ALLOCATE(9)
CUDACORE_ALLOCATE(10)
CUDACORE_ALLOCATE(11)
CUDACORE_ALLOCATE(12)
CUDACORE_ALLOCATE(13)
CUDACORE_ALLOCATE(14)
CUDACORE_ALLOCATE(15)
#undef CUDACORE_ALLOCATE

CUDACORE_EXPORTED void cudacore_torch_free(void* pointer, ssize_t /*size*/, int /*device*/,
                                           CUstream /*stream*/) {
  cudacore::bindings::reported([&] { cudacore::bindings::give_back(pointer); });
}

CUDACORE_EXPORTED void cudacore_torch_record_stream(void* pointer, CUstream stream) {
  cudacore::bindings::reported([&] { cudacore::bindings::record_stream(pointer, stream); });
}
