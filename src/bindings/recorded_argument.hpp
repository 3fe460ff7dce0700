// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "bindings/foreign_array.hpp"
#include "bindings/strided_view.hpp"
#include "bindings/tensor_map_object.hpp"
#include "cudacore/device.hpp"

// The arguments of recorded functions: what must be the same for a recording to fit a call.

namespace cudacore::bindings {

/// What a call gives for one argument. Borrowed from the call, whose Python code is over.
struct CallArgument {
  PyObject* object = nullptr;
  bool is_memory = false;  ///< memory of a device that other memory can take the place of
  CUdeviceptr address = 0;
  std::size_t size = 0;  ///< bytes, from the address on, for a Buffer
  int device = -1;
  const StridedView* view = nullptr;
  ForeignArray* array = nullptr;
};

/// The arguments of one call.
class CallArguments : driver::NotCopied {
 public:
  /// Looks at all of them. May run Python code, for arrays of other libraries.
  /// @throw what that raises.
  CallArguments(PyObject* const* objects, std::size_t count, CUstream consumer);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const CallArgument& operator[](std::size_t i) const noexcept { return all_[i]; }
  [[nodiscard]] const CallArgument* begin() const noexcept { return all_; }
  [[nodiscard]] const CallArgument* end() const noexcept { return all_ + count_; }

 private:
  static constexpr std::size_t few = 16;

  std::size_t count_;
  std::array<CallArgument, few> few_{};
  std::vector<CallArgument> more_;
  CallArgument* all_ = few_.data();
  std::deque<ForeignArray> arrays_;
};

/// What an argument was when a function was recorded.
struct RecordedArgument {
  enum class Form : std::uint8_t {
    number,    ///< any int or any float: its type alone counts
    memory,    ///< of a device: any of the same size and layout
    constant,  ///< the same object, or an equal one of a type that never changes
  };

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  Form form = Form::constant;
  py::object value{};                   ///< an object, or a number whose value was used
  py::object type{};                    ///< of all forms
  std::uint32_t same_memory_as = none;  ///< an earlier argument that is the same memory
  std::uint32_t value_index = none;     ///< which of a launch's values its address is
  std::size_t size = 0;
  std::size_t alignment = 16;  ///< how far an address counts: kernels may choose by its lowest bits
  std::size_t offset = 0;      ///< of the address, from a multiple of that
  int device = -1;
  std::size_t scalar_size = 0;                      ///< of a NumPy scalar, whose bytes count
  std::optional<TensorMapDescriptor::Bytes> map{};  ///< of a tensor map, whose address may change
  /// Of a view or an array.
  std::optional<dlpack::DataType> element{};
  std::string element_name{};
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> strides{};
  bool is_read_only = false;
  std::string fixed_at{};  ///< where the value of a number was used

  /// @throw TypeError for an object that may change: `name` says which argument it is.
  RecordedArgument(const CallArgument& given, const std::string& name);

  /// May run Python code of fields of dataclasses. Their errors mean that they differ.
  /// @throw pybind11::error_already_set, with what is no Exception
  [[nodiscard]] bool fits(const CallArgument& given) const;
  /// "Buffer of 64 bytes on device 0", "int", "True"
  [[nodiscard]] std::string text() const;
};

/// Whether an equal object of the same type fits as well as the object itself.
[[nodiscard]] bool is_compared_by_value(PyObject* object);

/// Which of the earlier arguments is the same memory as argument `i`: the same object, or an equal
/// Buffer.
[[nodiscard]] std::uint32_t earlier_same_memory(const CallArguments& all, std::size_t i) noexcept;

}  // namespace cudacore::bindings
