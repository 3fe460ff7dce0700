// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <cudacore/device.hpp>
#include <cudacore/handles.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

namespace owner {
struct ExternalSemaphoreBox;
}

/// A semaphore of Vulkan's, or of another API, which streams signal and wait for.
///
/// Cheap to copy. The import ends when the last copy is gone.
class ExternalSemaphore {
 public:
  /// Imports a semaphore into the current context (cuImportExternalSemaphore).
  /// @param fd an opaque file descriptor, such as VkGetSemaphoreFdKHR gives; it stays the caller's
  /// @param is_timeline whether it counts, or is just signaled or not
  /// @throw std::invalid_argument if `fd` is not an open file; NotSupportedError if the device has
  /// no timelines; Error
  [[nodiscard]] static ExternalSemaphore from_fd(int fd, bool is_timeline = false);

  explicit ExternalSemaphore(std::shared_ptr<owner::ExternalSemaphoreBox> box) noexcept
      : box_(std::move(box)) {}

  /// Drops this object's share; using it later throws std::invalid_argument.
  void close() noexcept { box_.reset(); }
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  [[nodiscard]] CUexternalSemaphore handle() const;
  [[nodiscard]] bool is_timeline() const;
  [[nodiscard]] Device device() const;
  /// Signals it once the work that is queued on the stream is done
  /// (cuSignalExternalSemaphoresAsync).
  /// @param stream one of the semaphore's device
  /// @param value what a timeline then counts; 0 for other semaphores
  /// @throw std::invalid_argument if the stream is being captured, or another semaphore gets a
  /// value
  void signal(const Stream& stream, std::uint64_t value = 0) const;
  /// Lets what is queued on the stream from now on wait until it is signaled, or a timeline counts
  /// `value` (cuWaitExternalSemaphoresAsync).
  /// @throw std::invalid_argument for the same reasons.
  void wait(const Stream& stream, std::uint64_t value = 0) const;

  [[nodiscard]] const std::shared_ptr<owner::ExternalSemaphoreBox>& box() const noexcept {
    return box_;
  }

 private:
  std::shared_ptr<owner::ExternalSemaphoreBox> box_;
};

}  // namespace cudacore
