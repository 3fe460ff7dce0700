// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings/dlpack_abi.hpp"
#include "bindings/strided_layout.hpp"
#include "cudacore/buffer.hpp"

namespace cudacore::bindings {

/// What other libraries are shown of a Buffer or of a view: where the elements lie, and what keeps
/// their memory alive. It needs no Python object, so that a library may drop it anywhere.
struct ExportedArray {
  const char* owner;                   ///< whose messages: "Buffer"
  std::shared_ptr<const void> memory;  ///< keeps it alive
  Stream own_stream{nullptr};  ///< orders the allocation and the release; closed if there is none
  std::shared_ptr<MemoryResource> resource{};  ///< what a copy is allocated from; may be null
  CUdeviceptr address = 0;
  dlpack::Device device{};
  bool is_host_accessible = false;
  bool is_device_accessible = false;
  std::optional<dlpack::DataType> type{};  ///< unset if DLPack has no such type
  std::string type_string{};               ///< empty if the array interfaces have no such type
  std::size_t item_size = 1;               ///< bytes of an element
  StridedLayout layout{{}};
  bool is_read_only = false;
  bool is_copied = false;  ///< whether nothing else uses the memory
};

/// The whole buffer as one dimension of bytes (int8).
/// @throw std::invalid_argument if it is closed.
[[nodiscard]] ExportedArray exported(const Buffer& buffer);

/// DLPack's device of a buffer.
/// @throw pybind11::buffer_error for memory that neither a device nor the host can reach.
[[nodiscard]] dlpack::Device dlpack_device(const Buffer& buffer);

/// The stream of the calling thread for work on a device's memory: the one that it has entered,
/// or else the device's default stream.
[[nodiscard]] Stream work_stream(dlpack::Device device);

/// The stream of this number or handle: the default streams are those of the memory's device.
[[nodiscard]] Stream stream_on(dlpack::Device device, CUstream stream);

/// Makes a stream wait for what this library may have queued on the memory: on its own stream and
/// on `current`.
void order_behind(const ExportedArray& array, const Stream& current, const Stream& consumer);

/// Waits for all work that this process has queued, since any of it may use the memory.
void wait_for_work();

/// __cuda_array_interface__, version 3. Its stream is the calling thread's, which is first made to
/// wait for the memory's own.
/// @throw pybind11::attribute_error if no device can reach the memory, or for elements that the
/// protocol doesn't know.
[[nodiscard]] pybind11::dict cuda_array_interface(const ExportedArray& array);

}  // namespace cudacore::bindings
