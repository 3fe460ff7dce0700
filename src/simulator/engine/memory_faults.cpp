// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/memory_faults.hpp"

#include <array>
#include <charconv>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace cudacore::simulator {
namespace {

/// Addresses below this one are reported as null pointers.
constexpr std::uint64_t null_page = 4096;

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string bytes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string_view name_of_space(Space space) {
  switch (space) {
    case Space::shared:
      return "shared address ";
    case Space::local:
      return "local address ";
    case Space::param:
      return "parameter offset ";
    case Space::generic:
    case Space::global:
    case Space::constant:
      break;
  }
  return "";
}

/// "reads 4 bytes at shared address 0x404"
std::string what(const AccessPlace& place) {
  std::string text;
  switch (place.access) {
    case Access::read:
      text = "reads ";
      break;
    case Access::write:
      text = "writes ";
      break;
    case Access::update:
      text = "updates ";
      break;
  }
  text += bytes(place.size) + " at ";
  text += name_of_space(place.space);
  return text + hex(place.address);
}

std::string describe(const Allocation& allocation) {
  return bytes(allocation.size) + " at " + hex(allocation.address);
}

bool holds(const std::byte* begin, std::size_t size, std::uint64_t address) {
  return address - reinterpret_cast<std::uint64_t>(begin) < size;
}

/// An address relative to the only window of a space.
std::string beside_window(const AccessPlace& place, std::uint64_t begin, std::uint64_t size,
                          std::string_view window) {
  if (size == 0) return ", but there is no " + std::string(window);
  const std::uint64_t end = begin + size;
  if (place.address < begin) {
    return ", which is " + bytes(begin - place.address) + " before the " + std::string(window) +
           " of " + bytes(size) + " at " + hex(begin);
  }
  const std::string past =
      " the end of the " + std::string(window) + " of " + bytes(size) + " at " + hex(begin);
  if (place.address < end) return ", which runs past" + past;
  if (place.address == end) return ", which is just past" + past;
  return ", which is " + bytes(place.address - end) + " past" + past;
}

std::string beside_shared(const Warp& warp, const AccessPlace& place) {
  const Block& block = *warp.block;
  const std::uint64_t rank = (place.address >> cluster_rank_shift) - 1;
  if (place.address >> cluster_rank_shift != 0 && place.address >> 32 == 0) {
    if (block.cluster == nullptr || rank >= block.cluster->blocks.size()) {
      return ", which is in no block of the cluster";
    }
    AccessPlace other = place;
    other.address &= (std::uint64_t{1} << cluster_rank_shift) - 1;
    return beside_window(other, shared_begin, block.cluster->blocks[rank]->shared_bytes,
                         "shared memory of block " + std::to_string(rank) + " of the cluster");
  }
  const std::string beside =
      beside_window(place, shared_begin, block.shared_bytes, "shared memory of the block");
  return block.shared_bytes == 0 ? beside + ": the launch's shmem_size is 0" : beside;
}

/// Generic windows, for a global access that enters one of them, or a generic access that leaves
/// one.
std::optional<std::string> in_window(const Warp& warp, const AccessPlace& place) {
  const Block& block = *warp.block;
  const std::string_view verb =
      place.space == Space::generic ? ", which runs past the end of " : ", which is in ";
  if (holds(block.shared, block.shared_bytes, place.address)) {
    return std::string(verb) + "the shared memory of the block";
  }
  const std::size_t all_local = std::size_t{block.threads} * block.local_stride;
  if (holds(block.local, all_local, place.address)) {
    const std::uint64_t offset = place.address - reinterpret_cast<std::uint64_t>(block.local);
    if (offset / block.local_stride == thread_of(warp, place.lane)) {
      return std::string(verb) + "the local memory of the thread";
    }
    return ", which is in the local memory of another thread, " +
           std::to_string(offset / block.local_stride) + " of the block";
  }
  const auto& parameters = block.grid->request().parameters;
  if (holds(parameters.data(), parameters.size(), place.address)) {
    return std::string(verb) + "the parameters of the launch";
  }
  return std::nullopt;
}

std::string beside_allocations(const Warp& warp, const AccessPlace& place) {
  const std::uint64_t address = place.address;
  if (address == 0) return ", which is a null pointer";
  if (address < null_page) return ", which is " + bytes(address) + " past a null pointer";
  if (const auto window = in_window(warp, place)) return *window;
  const AddressSpace& space = AddressSpace::instance();
  if (const auto live = space.find(address)) {
    const LaunchRequest& request = warp.block->grid->request();
    if (live->is_mapped && !live->is_readable(request.device, request.readable_devices)) {
      return ", which is in mapped memory that device " + std::to_string(request.device) +
             " may not access (cuMemSetAccess): a mapping of " + describe(*live);
    }
    if (!live->is_readable(request.device, request.readable_devices)) {
      return ", which is in memory of device " + std::to_string(live->device) + ", that device " +
             std::to_string(request.device) + " may not access: an allocation of " +
             describe(*live);
    }
    return ", of which " + bytes(address + place.size - live->end()) +
           " are past the end of a live "
           "allocation of " +
           describe(*live);
  }
  if (const auto gone = space.erased(address)) {
    return ", which is in freed memory: it was " + bytes(address - gone->address) +
           " into an allocation of " + describe(*gone);
  }
  const auto below = space.nearest_below(address);
  const auto above = space.nearest_above(address);
  if (below && (!above || address - below->end() <= above->address - address)) {
    const std::string distance = address == below->end() ? "just" : bytes(address - below->end());
    return ", which is " + distance + " past the end of a live allocation of " + describe(*below);
  }
  if (above) {
    return ", which is " + bytes(above->address - address) + " before a live allocation of " +
           describe(*above);
  }
  return ", and nothing is allocated";
}

std::string why_read_only(const Warp& warp, const AccessPlace& place) {
  const auto live = AddressSpace::instance().find(place.address);
  if (place.space == Space::shared || place.space == Space::local || !live || !live->is_mapped) {
    return "";
  }
  return " for device " + std::to_string(warp.block->grid->request().device) + " (cuMemSetAccess)";
}

std::string beside(const Warp& warp, const AccessPlace& place) {
  switch (place.space) {
    case Space::shared:
      return beside_shared(warp, place);
    case Space::local:
      return beside_window(place, local_begin, warp.block->local_stride,
                           "local memory of the thread");
    case Space::param:
      return beside_window(place, 0, warp.block->grid->request().parameters.size(),
                           "parameters of the launch");
    case Space::generic:
    case Space::global:
    case Space::constant:
      break;
  }
  return beside_allocations(warp, place);
}

/// Reports the fault with the details, or without them if the host has no memory for them.
template <class Details>
void report(Warp& warp, const Instruction& in, FaultKind kind, unsigned lane,
            Details details) noexcept {
  try {
    warp.fault(in, kind, lane, details());
  } catch (const std::bad_alloc&) {
    warp.fault(in, kind, lane, "accesses memory that it may not");
  }
}

}  // namespace

void fault_misaligned(Warp& warp, const Instruction& in, const AccessPlace& place,
                      std::size_t align) noexcept {
  report(warp, in, FaultKind::misaligned_address, place.lane,
         [&] { return what(place) + ", which is not a multiple of " + std::to_string(align); });
}

void fault_read_only(Warp& warp, const Instruction& in, const AccessPlace& place) noexcept {
  report(warp, in, FaultKind::illegal_address, place.lane,
         [&] { return what(place) + ", which is read-only" + why_read_only(warp, place); });
}

void fault_outside(Warp& warp, const Instruction& in, const AccessPlace& place) noexcept {
  report(warp, in, FaultKind::illegal_address, place.lane,
         [&] { return what(place) + beside(warp, place); });
}

}  // namespace cudacore::simulator
