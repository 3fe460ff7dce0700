// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/memory/copy.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/memory/virtual_memory.hpp"

namespace cudacore::simulator {

namespace {

/// How much one call of run() processes: this takes less than a millisecond.
constexpr std::size_t part = std::size_t{2} << 20U;
/// How many pageable bytes are staged, so that the caller need not wait.
constexpr std::size_t staged_most = std::size_t{1} << 20U;

/// Processes a box in parts of rows: what copies and fills have in common.
class BoxWork : public Work {
 public:
  explicit BoxWork(const Box& box) : box_(box) {}

  std::size_t cost() const noexcept override {
    const std::size_t rows = (box_.depth - plane_) * box_.height - row_;
    return rows > part / box_.width ? part : std::min(part, rows * box_.width - column_);
  }

  Progress run(const Turn&) noexcept override {
    std::size_t left = part;
    while (left > 0) {
      const std::size_t size = std::min(left, box_.width - column_);
      touch(plane_, row_, column_, size);
      left -= size;
      column_ += size;
      if (column_ < box_.width) break;
      column_ = 0;
      if (++row_ < box_.height) continue;
      row_ = 0;
      if (++plane_ == box_.depth) return Progress::done;
    }
    return Progress::again;
  }

 protected:
  /// Processes bytes of one row.
  virtual void touch(std::size_t plane, std::size_t row, std::size_t column,
                     std::size_t size) noexcept = 0;

 private:
  Box box_;
  std::size_t plane_ = 0;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
};

class Copy final : public BoxWork {
 public:
  Copy(const Box& box, Range to, const Strides& to_strides, Range from, const Strides& from_strides,
       std::vector<std::byte> staged)
      : BoxWork(box),
        to_(std::move(to)),
        to_strides_(to_strides),
        from_(std::move(from)),
        from_strides_(from_strides),
        staged_(std::move(staged)) {
    if (!staged_.empty()) from_.bytes = staged_.data();
  }

 private:
  void touch(std::size_t plane, std::size_t row, std::size_t column,
             std::size_t size) noexcept override {
    std::memmove(to_.bytes + plane * to_strides_.plane + row * to_strides_.row + column,
                 from_.bytes + plane * from_strides_.plane + row * from_strides_.row + column,
                 size);
  }

  Range to_;
  Strides to_strides_;
  Range from_;
  Strides from_strides_;
  std::vector<std::byte> staged_;  // what from_ points into, if not empty
};

class Fill final : public BoxWork {
 public:
  Fill(const Box& box, Range to, std::size_t pitch, std::uint32_t value, unsigned value_size)
      : BoxWork(box), to_(std::move(to)), pitch_(pitch), value_(value), value_size_(value_size) {}

 private:
  void touch(std::size_t, std::size_t row, std::size_t column, std::size_t size) noexcept override {
    std::byte* begin = to_.bytes + row * pitch_ + column;
    switch (value_size_) {
      case 1:
        std::memset(begin, static_cast<int>(value_), size);
        break;
      case 2:
        fill_words<std::uint16_t>(begin, size);
        break;
      default:
        fill_words<std::uint32_t>(begin, size);
        break;
    }
  }

  template <class T>
  void fill_words(std::byte* begin, std::size_t size) const noexcept {
    std::fill_n(reinterpret_cast<T*>(begin), size / sizeof(T), static_cast<T>(value_));
  }

  Range to_;
  std::size_t pitch_;
  std::uint32_t value_;
  unsigned value_size_;
};

bool is_mapped(std::uint64_t address) noexcept {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address & ~(page - 1)), 1, &resident) == 0;
}

/// Whether host memory exists at the address: checks its first and last byte.
bool is_host_memory(std::uint64_t address, std::size_t size) noexcept {
  const VirtualMemory& ranges = VirtualMemory::instance();
  if (ranges.contains(address) || ranges.contains(address + size - 1)) return false;
  for (const auto& device : registry().devices) {
    if (device->memory.contains(address) || device->memory.contains(address + size - 1))
      return false;
  }
  return is_mapped(address) && is_mapped(address + size - 1);
}

CUresult enqueue_and_wait(const Stream& stream, std::unique_ptr<Work> work, bool wait) {
  Point point{stream.queue, 0};
  const CUresult result = stream.enqueue(std::move(work), {}, &point.sequence);
  if (result != CUDA_SUCCESS || !wait) return result;
  point.wait();
  return stream.check_context();
}

constexpr const char* not_live = "no live allocation holds the address";

std::optional<Range> miss(const char* why) {
  log_error(why);
  return std::nullopt;
}

}  // namespace

std::optional<Range> find_range(std::uint64_t address, std::size_t size, Side side) {
  if (size == 0) return Range{};
  if (address == 0 || size - 1 > ~address)
    return miss("the address is null, or the range too long");
  const AddressSpace& space = AddressSpace::instance();
  auto allocation = space.find(address);
  if (!allocation) {
    if (side == Side::any && is_host_memory(address, size)) {
      return Range{.bytes = reinterpret_cast<std::byte*>(address), .pageable = true};
    }
    return miss(not_live);
  }
  Range range{.bytes = allocation->host + (address - allocation->address),
              .on_device = allocation->kind == MemoryKind::device};
  const auto to_host = reinterpret_cast<std::uint64_t>(allocation->host) - allocation->address;
  const std::uint64_t last = address + (size - 1);
  while (true) {
    const std::shared_ptr<MemoryObject> object = find_object(*allocation);
    if (allocation->is_mapped && allocation->readers == 0 && !allocation->host_access) {
      return miss("no device may access the memory mapped there (cuMemSetAccess)");
    }
    range.read_only = range.read_only || (allocation->is_mapped && allocation->writers == 0 &&
                                          !allocation->host_access);
    if (object == nullptr && allocation->kind != MemoryKind::device) return miss(not_live);
    if (object != nullptr && object->pages != nullptr) range.pages.push_back(object->pages);
    if (allocation->end() - 1 >= last) {
      range.sync = object != nullptr && object->sync_memops.load(std::memory_order_relaxed);
      return range;
    }
    // Neighbors in the address space are also neighbors in the host's memory, except for ranges
    // that were reserved one by one.
    const std::uint64_t next = allocation->end();
    const bool registered = allocation->kind == MemoryKind::registered;
    allocation = space.find(next);
    if (allocation &&
        reinterpret_cast<std::uint64_t>(allocation->host) - allocation->address == to_host) {
      continue;
    }
    if (registered && side == Side::any && is_host_memory(next, last - next + 1)) {
      range.pageable = true;
      return range;
    }
    return miss("the range goes past the end of the allocation");
  }
}

std::optional<Range> find_target(std::uint64_t address, std::size_t size, Side side) {
  auto range = find_range(address, size, side);
  if (range && range->read_only) {
    return miss("the memory mapped there may be read only (cuMemSetAccess)");
  }
  return range;
}

std::optional<std::size_t> span_of(const Box& box, const Strides& strides) noexcept {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return 0;
  std::size_t rows = 0;
  std::size_t planes = 0;
  std::size_t size = 0;
  if (__builtin_mul_overflow(box.height - 1, strides.row, &rows) ||
      __builtin_mul_overflow(box.depth - 1, strides.plane, &planes) ||
      __builtin_add_overflow(rows, planes, &size) ||
      __builtin_add_overflow(size, box.width, &size)) {
    return std::nullopt;
  }
  return size;
}

CUresult copy(const Stream& stream, Range to, const Strides& to_strides, Range from,
              const Strides& from_strides, const Box& box, Synchrony synchrony) {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return stream.check_context();
  const bool within_devices = to.on_device && from.on_device;
  bool waits = to.sync || from.sync || to.pageable ||
               (synchrony == Synchrony::synchronous && !within_devices);
  std::vector<std::byte> staged;
  if (from.pageable && !waits) {
    const bool is_row = box.height == 1 && box.depth == 1;
    if (is_row && box.width <= staged_most) {
      staged.assign(from.bytes, from.bytes + box.width);
    } else {
      waits = true;
    }
  }
  return enqueue_and_wait(stream,
                          std::make_unique<Copy>(box, std::move(to), to_strides, std::move(from),
                                                 from_strides, std::move(staged)),
                          waits);
}

std::unique_ptr<Work> make_copy(const Box& box, Range to, const Strides& to_strides, Range from,
                                const Strides& from_strides) {
  return std::make_unique<Copy>(box, std::move(to), to_strides, std::move(from), from_strides,
                                std::vector<std::byte>{});
}

std::unique_ptr<Work> make_fill(const Box& box, Range range, std::size_t pitch, std::uint32_t value,
                                unsigned value_size) {
  return std::make_unique<Fill>(box, std::move(range), pitch, value, value_size);
}

CUresult fill(const Stream& stream, Range range, std::size_t pitch, const Box& box,
              std::uint32_t value, unsigned value_size, Synchrony synchrony) {
  if (box.width == 0 || box.height == 0) return stream.check_context();
  const bool waits = range.sync || (synchrony == Synchrony::synchronous && !range.on_device);
  return enqueue_and_wait(stream, make_fill(box, std::move(range), pitch, value, value_size),
                          waits);
}

}  // namespace cudacore::simulator
