// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The C ABI of DLPack 1.3, https://dmlc.github.io/dlpack/latest/c_api.html.

namespace cudacore::bindings::dlpack {

/// The devices of the memory that cudacore knows.
enum class DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// Whether work on the memory is ordered by streams.
[[nodiscard]] constexpr bool has_streams(DeviceType type) noexcept {
  return type == DeviceType::cuda || type == DeviceType::cuda_managed;
}

[[nodiscard]] constexpr bool is_known(DeviceType type) noexcept {
  return type == DeviceType::cpu || type == DeviceType::cuda_host || has_streams(type);
}

/// What is wrong with memory on a device that is not known.
[[nodiscard]] inline std::string unknown_device(DeviceType type) {
  return "its memory is on DLPack's device type " + std::to_string(static_cast<int>(type)) +
         ", which CUDA does not reach";
}

struct Device {
  DeviceType type;
  std::int32_t ordinal;

  friend bool operator==(const Device&, const Device&) = default;
};

enum class TypeCode : std::uint8_t {
  sint = 0,
  uint = 1,
  real = 2,
  opaque_handle = 3,
  bfloat = 4,
  complex = 5,
  boolean = 6,
  float8_e3m4 = 7,
  float8_e4m3 = 8,
  float8_e4m3b11fnuz = 9,
  float8_e4m3fn = 10,
  float8_e4m3fnuz = 11,
  float8_e5m2 = 12,
  float8_e5m2fnuz = 13,
  float8_e8m0fnu = 14,
  float6_e2m3fn = 15,
  float6_e3m2fn = 16,
  float4_e2m1fn = 17,
};

struct DataType {
  TypeCode code;
  std::uint8_t bits;
  std::uint16_t lanes;

  friend bool operator==(const DataType&, const DataType&) = default;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t dimensions;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null for C order
  std::uint64_t byte_offset;
};

struct ManagedTensor {
  static constexpr char name[] = "dltensor";  ///< of its capsule, until it is consumed
  static constexpr char used_name[] = "used_dltensor";

  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct ManagedTensorVersioned {
  static constexpr char name[] = "dltensor_versioned";
  static constexpr char used_name[] = "used_dltensor_versioned";
  static constexpr std::uint64_t read_only = 1U;
  static constexpr std::uint64_t is_copied = 2U;

  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64 &&
              sizeof(ManagedTensorVersioned) == 80);

/// What a type's __dlpack_c_exchange_api__, a capsule of this name, points at. Functions return 0,
/// or -1 with a Python error set.
struct ExchangeApi {
  static constexpr char name[] = "dlpack_exchange_api";

  using SetError = void (*)(void* context, const char* kind, const char* message);

  Version version;
  const ExchangeApi* previous;  ///< of an earlier major version; may be null
  /// A new tensor like `prototype`; errors go to set_error.
  int (*allocate)(Tensor* prototype, ManagedTensorVersioned** made, void* context,
                  SetError set_error);
  int (*from_object)(void* object, ManagedTensorVersioned** made);
  /// Takes over the tensor.
  int (*to_object)(ManagedTensorVersioned* tensor, void** made);
  /// What it fills in is valid as long as the object is, and unchanged; may be null.
  int (*borrow_from_object)(void* object, Tensor* filled);
  int (*current_stream)(DeviceType type, std::int32_t ordinal, void** stream);
};

static_assert(sizeof(ExchangeApi) == 56);

}  // namespace cudacore::bindings::dlpack
