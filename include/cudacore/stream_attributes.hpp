// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudacore/launch_attributes.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

/// How a thread waits for a stream (CUsynchronizationPolicy).
enum class SyncPolicy : std::uint8_t { automatic, spin, yield, blocking_sync };

/// What can be set of a stream after it was made, for work that is queued later
/// (cuStreamGetAttribute, cuStreamSetAttribute).
class StreamAttributes {
 public:
  /// @throw std::invalid_argument if the stream is closed.
  explicit StreamAttributes(Stream stream);

  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }

  /// The window; of no bytes if there is none.
  [[nodiscard]] AccessPolicyWindow access_policy_window() const;
  /// @throw std::invalid_argument if the window is larger than the device's
  /// max_access_policy_window_size, isn't the device's memory, or has a value out of range;
  /// NotSupportedError if the device has no such windows, or no persisting accesses.
  void set_access_policy_window(const AccessPolicyWindow& window) const;

  [[nodiscard]] SyncPolicy sync_policy() const;
  void set_sync_policy(SyncPolicy policy) const;

  [[nodiscard]] int priority() const;
  /// @throw std::invalid_argument if it is outside the device's range.
  void set_priority(int priority) const;

  [[nodiscard]] MemSyncDomain mem_sync_domain() const;
  void set_mem_sync_domain(MemSyncDomain domain) const;

  [[nodiscard]] MemSyncDomainMap mem_sync_domain_map() const;
  /// @throw std::invalid_argument if the device has fewer domains.
  void set_mem_sync_domain_map(MemSyncDomainMap map) const;

  /// Takes over all attributes of another stream of the same device (cuStreamCopyAttributes).
  /// @throw std::invalid_argument if it is of another device.
  void copy_from(const Stream& source) const;

 private:
  Stream stream_;
};

}  // namespace cudacore
