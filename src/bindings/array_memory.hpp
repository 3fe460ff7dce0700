// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "bindings/array_elements.hpp"
#include "bindings/foreign_array.hpp"
#include "bindings/gil.hpp"
#include "bindings/host_buffer.hpp"
#include "cudacore/opaque_array.hpp"
#include "owner/captures.hpp"

namespace cudacore::bindings {

/// The memory of a host object or of another library's array, for one copy on a stream. It is made
/// and destroyed with the GIL; the copy is made without.
class ArrayMemory : driver::NotCopied {
 public:
  /// Takes an object with the buffer protocol, or any C-contiguous array; to be read only, also one
  /// that has __array__ alone.
  /// @throw pybind11::type_error, with `what` in front, for all else. Errors of the object are
  /// passed on.
  ArrayMemory(pybind11::handle object, bool writable, const Stream& stream, const char* what);

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool is_on_host() const noexcept;
  /// Only if it is.
  [[nodiscard]] std::span<std::byte> host_bytes() const noexcept;
  /// What the object says of its elements; with the GIL.
  [[nodiscard]] ArrayElements elements() const;
  /// Queues the copy. Work on an array of a device is ordered before and behind it.
  void copy_to(const Buffer& target) const;
  void copy_from(const Buffer& source) const;
  void copy_to(const OpaqueArray& target) const;
  void copy_from(const OpaqueArray& source) const;

 private:
  template <typename Copy>
  void in_order(const Copy& copy) const;
  [[nodiscard]] Buffer device_bytes() const;

  const Stream& stream_;
  std::optional<HostBuffer> host_;
  pybind11::object shown_;  ///< whose memory that is
  ForeignArray array_;
  std::optional<Stream> producer_;  ///< if it is another stream
};

/// Uses the memory of an array. Returns a share of it for the graph that the work may become part
/// of: the object alone could make it anew, move it or end it.
template <typename Use>
std::shared_ptr<void> with_memory(pybind11::handle array, bool writable, const Stream& stream,
                                  const char* what, const Use& use) {
  if (!owner::any_capture()) [[likely]] {
    use(ArrayMemory(array, writable, stream, what));
    return nullptr;
  }
  const auto memory = share_with_gil<ArrayMemory>(array, writable, stream, what);
  use(*memory);
  return memory;
}

}  // namespace cudacore::bindings
