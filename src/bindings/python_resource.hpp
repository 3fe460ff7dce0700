// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/conversions.hpp"

// Memory resources of classes that derive from ours in Python.

namespace cudacore::bindings {

/// Calls self.allocate(size, stream=stream).
[[nodiscard]] Buffer allocate_in_python(const py::object& self, std::size_t size,
                                        const std::optional<Stream>& stream);
/// Calls self.deallocate(pointer, size, stream=stream); without a stream, with the default one of
/// the device, or, if that is negative, the legacy one.
void deallocate_in_python(const py::object& self, CUdeviceptr pointer, std::size_t size,
                          const std::optional<Stream>& stream, int device);

/// A resource of a class that derives from Base in Python, which may define allocate() and
/// deallocate().
template <typename Base>
class InPython : public Base {
 public:
  using Base::Base;

  Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override {
    const AcquireGil acquire;
    return allocate_in_python(self(), size, stream);
  }
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    const AcquireGil acquire;
    const py::error_scope kept_error;  // an object may end while an error is being raised
    deallocate_in_python(self(), pointer, size, stream, this->device_id());
  }

 protected:
  [[nodiscard]] py::object self() const { return py::cast(static_cast<const Base*>(this)); }
};

class PyMemoryResource final : public InPython<MemoryResource> {
 public:
  bool is_device_accessible() const override;
  bool is_host_accessible() const override;
  bool is_managed() const override;
  int device_id() const override;

 private:
  template <typename T>
  [[nodiscard]] T read(const char* name) const;
};

class PyDeviceMemoryResource final : public InPython<DeviceMemoryResource> {
 public:
  using InPython::InPython;

  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    if (may_take_gil()) {
      InPython::deallocate(pointer, size, stream);
    } else {
      DeviceMemoryResource::deallocate(pointer, size, stream);
    }
  }
};

}  // namespace cudacore::bindings
