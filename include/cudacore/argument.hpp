// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include <cudacore/buffer.hpp>
#include <cudacore/signature.hpp>

namespace cudacore {

/// A value offered for a kernel parameter, before it is checked and packed.
///
/// Holds a copy of a small value, or a view of bytes. It must not outlive the call it is made for.
class Argument {
 public:
  /// An exact value (a C++ scalar, a NumPy or ctypes scalar) can only be passed to a parameter of
  /// the same kind and size. A weak value (a Python number) is converted to the parameter's type.
  enum class Form : std::uint8_t {
    weak_bool,
    weak_int,
    weak_uint,
    weak_float,
    weak_complex,
    exact,
    pointer,
    null,
    bytes
  };

  explicit Argument(std::nullptr_t) noexcept : form_(Form::null) {}
  /// @throw std::invalid_argument if the buffer is closed.
  explicit Argument(const Buffer& buffer);
  template <typename T>
  requires(std::is_arithmetic_v<T> && sizeof(T) <= 8) explicit Argument(T value) noexcept
      : form_(Form::exact), kind_(kind_of<T>()), size_(sizeof(T)) {
    std::memcpy(value_, &value, sizeof(T));
  }
  template <typename T>
  requires std::is_pointer_v<T>
  explicit Argument(T device_pointer) noexcept
      : form_(Form::pointer),
        kind_(pointee_kind<std::remove_cv_t<std::remove_pointer_t<T>>>()),
        size_(pointee_size<std::remove_cv_t<std::remove_pointer_t<T>>>()) {
    const auto address = reinterpret_cast<std::uintptr_t>(device_pointer);
    std::memcpy(value_, &address, sizeof(address));
  }
  /// A struct passed by value.
  template <typename T>
  requires(std::is_class_v<T>&& std::is_trivially_copyable_v<T>) explicit Argument(
      const T& value) noexcept
      : form_(Form::bytes), size_(sizeof(T)), bytes_(reinterpret_cast<const std::byte*>(&value)) {}

  /// Plain numbers, which are converted to the number type that the parameter declares, including
  /// half and bfloat16.
  [[nodiscard]] static Argument weak(bool value) noexcept { return {Form::weak_bool, value, 0}; }
  template <std::signed_integral T>
  [[nodiscard]] static Argument weak(T value) noexcept {
    return {Form::weak_int, static_cast<std::int64_t>(value), 0};
  }
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) [[nodiscard]] static Argument weak(T value) noexcept {
    return {Form::weak_uint, static_cast<std::uint64_t>(value), 0};
  }
  template <std::floating_point T>
  [[nodiscard]] static Argument weak(T value) noexcept {
    return {Form::weak_float, static_cast<double>(value), 0};
  }
  [[nodiscard]] static Argument weak(std::complex<double> value) noexcept {
    return {Form::weak_complex, value, 0};
  }

  [[nodiscard]] Form form() const noexcept { return form_; }
  /// The kind of an exact value; for a typed pointer, the kind of its element.
  [[nodiscard]] ParamKind kind() const noexcept { return kind_; }
  /// The size in bytes of the value; for a typed pointer, of its element; 0 if unknown.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const void* data() const noexcept {
    return bytes_ != nullptr ? static_cast<const void*>(bytes_) : value_;
  }

 private:
  template <typename T>
  Argument(Form form, T value, std::size_t size) noexcept : form_(form), size_(size) {
    static_assert(sizeof(T) <= sizeof(value_));
    std::memcpy(value_, &value, sizeof(T));
  }

  template <typename T>
  static constexpr ParamKind pointee_kind() {
    if constexpr (std::is_arithmetic_v<T>)
      return kind_of<T>();
    else
      return ParamKind::opaque;
  }
  template <typename T>
  static constexpr std::size_t pointee_size() {
    if constexpr (std::is_arithmetic_v<T>)
      return sizeof(T);
    else
      return 0;
  }
  template <typename T>
  static constexpr ParamKind kind_of() {
    if constexpr (std::same_as<T, bool>)
      return ParamKind::boolean;
    else if constexpr (std::same_as<T, float>)
      return ParamKind::float32;
    else if constexpr (std::same_as<T, double>)
      return ParamKind::float64;
    else if constexpr (std::is_signed_v<T>)
      return ParamKind::sint;
    else
      return ParamKind::uint;
  }

  Form form_;
  ParamKind kind_ = ParamKind::opaque;
  std::size_t size_ = 0;
  alignas(16) unsigned char value_[16] = {};
  const std::byte* bytes_ = nullptr;
};

}  // namespace cudacore
