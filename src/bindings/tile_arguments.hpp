// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bindings/launch_arrays.hpp"

namespace cudacore::bindings {

/// What a tile kernel's parameter is annotated with, as far as launches differ by it.
struct TileParameter {
  bool is_constant = false;    ///< its value is compiled in
  bool is_exact = false;       ///< some extents or strides of an array are
  bool has_wide_int = false;   ///< an int has 64 bits
  bool has_wide_axes = false;  ///< the extents and strides of an array have 64 bits
};

/// The arguments of one launch of a tile kernel: a key that is equal for launches of one compiled
/// kernel, and what this kernel is passed. Flat, and without allocations for the arguments that
/// launches nearly always have. With the GIL.
class TileArguments : driver::NotCopied {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): clearing the arrays costs time
  TileArguments() {}

  /// Reads a tuple with one argument for each parameter. May run Python code, but none after it
  /// has read the memory that an argument shows. The tuple must outlast this object.
  /// @return false for arguments that differ in more than a key says, or that are wrong.
  /// @throw what Python code raises and nothing may catch, such as KeyboardInterrupt.
  [[nodiscard]] bool read(std::span<const TileParameter> parameters, PyObject* tuple);

  static constexpr int no_device = -1;
  /// The device that the arrays are on.
  [[nodiscard]] int device() const noexcept { return device_; }
  /// Where and how the kernel is launched, which is part of the key.
  void set_place(int device, bool is_dependent) noexcept {
    key_[0] = static_cast<std::uint64_t>(device) * 2 + static_cast<std::uint64_t>(is_dependent);
  }
  [[nodiscard]] std::span<const std::uint64_t> key() const noexcept {
    return {key_.data(), words_};
  }
  /// How many parameters the compiled kernel has.
  [[nodiscard]] std::size_t count() const noexcept { return values_used_; }
  /// Where the bytes of each are.
  [[nodiscard]] void** places() noexcept {
    for (std::size_t i = 0; i < values_used_; ++i) places_[i] = &values_[i];
    return places_.data();
  }
  /// The arrays among the arguments and their items.
  [[nodiscard]] std::span<PyObject* const> arrays() const noexcept {
    return {arrays_.data(), arrays_used_};
  }
  /// The numbers of a recorded function among them, for what the launch notes.
  [[nodiscard]] const std::vector<LaunchArrays::Number>& numbers() const noexcept {
    return numbers_;
  }
  /// Adds the data types of arrays that the key has the addresses of.
  void hold_dtypes(std::vector<pybind11::object>& held) const;

 private:
  enum class Found : std::uint8_t { all, others, wrong };
  /// An array whose reading may run Python code.
  struct Other {
    PyObject* object = nullptr;
    bool is_borrowed = false;  ///< only whether it is lazily negated is to be asked
    std::unique_ptr<ForeignArray> array{};
    pybind11::object dtype{};  ///< its own name of its data type, which says more than DLPack can
  };

  [[nodiscard]] Found read_all(std::span<const TileParameter> parameters, PyObject* tuple);
  [[nodiscard]] bool read_others();
  [[nodiscard]] Found read_one(const TileParameter& parameter, PyObject* object, int depth);
  [[nodiscard]] Found read_items(const TileParameter& parameter, PyObject* tuple, int depth);
  [[nodiscard]] Found read_array(const TileParameter& parameter, PyObject* object);
  [[nodiscard]] Found borrow(const TileParameter& parameter, PyObject* object,
                             const dlpack::ExchangeApi& api);
  [[nodiscard]] Found read_other(const TileParameter& parameter, PyObject* object);
  [[nodiscard]] bool read_number(const TileParameter& parameter, PyObject* object);
  [[nodiscard]] bool read_constant(PyObject* object);
  [[nodiscard]] bool add_array(const TileParameter& parameter, const dlpack::Tensor& tensor);
  [[nodiscard]] bool add_device(dlpack::Device device) noexcept;
  [[nodiscard]] Other* find_other(PyObject* object) noexcept;
  void add_word(std::uint64_t word) noexcept { key_[words_++] = word; }
  void add_value(std::int64_t value) noexcept { values_[values_used_++] = value; }
  [[nodiscard]] std::span<std::int64_t> add_values(std::size_t count) noexcept {
    values_used_ += count;
    return std::span(values_).subspan(values_used_ - count, count);
  }

  static constexpr std::size_t most = 512;

  std::size_t words_ = 1;
  std::size_t values_used_ = 0;
  std::size_t arrays_used_ = 0;
  int device_ = no_device;
  std::vector<Other> others_;
  std::vector<LaunchArrays::Number> numbers_;
  std::array<std::uint64_t, most> key_;
  std::array<std::int64_t, most> values_;
  std::array<void*, most> places_;
  std::array<PyObject*, most> arrays_;
};

}  // namespace cudacore::bindings
