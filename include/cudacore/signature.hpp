// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore {

/// The kind of a kernel parameter, or of the element that a pointer points at.
enum class ParamKind : std::uint8_t {
  opaque,     ///< only the size is known: accepts numbers that fit it, and bytes of that size
  boolean,    ///< bool
  integer,    ///< an integer whose signedness is unknown (PTX .u32 serves int, unsigned and enums);
              ///< if it has 8 bytes, it may also be a pointer: accepts an int or a buffer
  sint,       ///< a signed integer
  uint,       ///< an unsigned integer
  float16,    ///< __half
  bfloat16,   ///< __nv_bfloat16
  float32,    ///< float
  float64,    ///< double
  complex64,  ///< cuda::std::complex<float>, thrust::complex<float>, and float2, for which
              ///< cuFloatComplex is a typedef; 8 bytes
  complex128,  ///< cuda::std::complex<double>, thrust::complex<double>, double2; 16 bytes
  pointer,     ///< a 64-bit address; references, arrays and function pointers are pointers
  structure,   ///< a struct or class passed by value
  void_type,   ///< only as a pointee
};

/// One parameter of a kernel.
struct Param {
  ParamKind kind = ParamKind::opaque;
  std::size_t size = 0;    ///< bytes; 0 if unknown (a struct known only by its name)
  std::size_t align = 0;   ///< bytes; 0 if unknown
  std::size_t offset = 0;  ///< bytes from the start of the parameter buffer; valid only if the
                           ///< size of every earlier parameter is known
  std::string type;        ///< as in C++, "float const*", or, if only the bytes are known,
                           ///< as in PTX: ".u32", ".b8[24]"; empty if nothing is known
  std::string name;        ///< as in the source; empty if unknown
  ParamKind pointee = ParamKind::opaque;  ///< for a pointer: the kind of its element, opaque if
                                          ///< unknown, structure if it has a user-defined name
  std::size_t pointee_size = 0;  ///< for a pointer: the size of its element in bytes, 0 if unknown
  bool pointee_const = false;    ///< for a pointer: whether the kernel promises not to write
};

/// The parameters of one kernel, from the best available source.
///
/// The sources, best first: the demangled C++ name, the `.entry` line of the PTX, the parameter
/// sizes in the cubin or from the driver, and a signature that the user declares. merge() combines
/// them. A plain value that needs no driver.
struct Signature {
  std::string kernel;  ///< readable name: "axpy<float>"
  std::vector<Param> params;

  /// "axpy<float>(float a, float const* x, float* y, unsigned long n)"
  [[nodiscard]] std::string str() const;

  /// Whether the size of every parameter, and therefore every offset, is known.
  [[nodiscard]] bool complete() const noexcept;

  /// The size of the parameter buffer in bytes: the end of the last parameter, or 0 without
  /// parameters.
  [[nodiscard]] std::size_t buffer_size() const noexcept;
};

/// A kernel found in an object code.
struct KernelEntry {
  std::string symbol;  ///< the name that the driver knows: "_Z4axpyIfEvT_PKS0_PS0_m"
  std::string name;    ///< the readable name, with template arguments but without parameters
  Signature signature;
};

/// The demangled form of an Itanium-mangled symbol. Returns the symbol itself if it is not mangled,
/// or if it is longer than the C++ runtime can demangle (libstdc++: 1024 characters).
[[nodiscard]] std::string demangle(std::string_view symbol);

/// Describes a kernel of which only the symbol is known and, if given, `measured`: what PTX, a
/// cubin or the driver says about its parameters. The types come from the demangled name. If the
/// two disagree on the number of parameters, `measured` is right. An unmangled symbol without
/// `measured` has no parameters in its signature, because they are unknown.
[[nodiscard]] KernelEntry describe_kernel(std::string symbol,
                                          std::optional<Signature> measured = std::nullopt);

/// The parameter list of a C++ declaration: "(float a, float const* x)" or "axpy(float, float*)" or
/// "float, float*". Keeps the names, if any. A type with an unknown name is a structure of size 0,
/// which merge() may complete. The typedefs of `<cstdint>` and `<cuda_fp16.h>` are known.
/// @throw std::invalid_argument that names the part that is not a type.
[[nodiscard]] Signature parse_signature(std::string_view declaration);

/// Every `.entry` of a PTX module that has a body, in order, with the types from the demangled name
/// merged in. Only PTX identifies .f32 and .f64 exactly. Its integers have no sign, byte arrays are
/// structures, and a .u64 is a pointer only if `.ptr` says so, which NVRTC before 13 and targets
/// below sm_100 leave out.
/// @throw std::invalid_argument with the line of an `.entry` that is truncated or malformed.
[[nodiscard]] std::vector<KernelEntry> kernels_in_ptx(std::string_view ptx);

/// Every kernel of a cubin (an ELF file), in the order of its symbols, with parameter sizes and
/// offsets from its .nv.info sections and types from the demangled names.
/// @throw std::invalid_argument if the bytes are not a CUDA ELF file, or a damaged one; never reads
/// out of bounds.
[[nodiscard]] std::vector<KernelEntry> kernels_in_cubin(std::span<const std::byte> cubin);

/// Combines the best of both: `better` provides the types, `other` what `better` lacks (sizes,
/// offsets, names, and types where `better` has only bytes). If the two disagree on the number of
/// parameters, `other` is dropped. Sizes measured from PTX, a cubin or the driver take precedence
/// over those that a name suggests.
[[nodiscard]] Signature merge(Signature better, const Signature& other);

/// Reads the kernel's definition in CUDA C++ source, and fills in the parameter names if the number
/// of parameters matches. If only the bytes are known of all parameters of an `extern "C"` kernel,
/// also fills in which of them are pointers, if that is consistent with the bytes. What is known
/// stays. Fills in nothing if definitions of the same name and number of parameters disagree, and
/// no types if the preprocessor may remove the definition.
void read_definition(Signature& signature, std::string_view source);

/// The index of the one entry that `name` means: the symbol, the readable name ("axpy<float>";
/// spaces and the position of `const` don't matter), or the name without namespace or template
/// arguments, if only one entry has it. A parameter list distinguishes overloads:
/// "scale(float*, int)".
/// @throw std::invalid_argument that lists the candidates, or all entries.
[[nodiscard]] std::size_t find_kernel(std::span<const KernelEntry> entries, std::string_view name);

}  // namespace cudacore
