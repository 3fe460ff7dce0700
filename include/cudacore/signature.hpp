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

/// What a kernel parameter, or the element a pointer points at, is made of.
enum class ParamKind : std::uint8_t {
  opaque,     ///< only the size is known: takes numbers that fit it and bytes of that size
  boolean,    ///< bool
  integer,    ///< an integer whose signedness is unknown (PTX .u32 serves int, unsigned and enums);
              ///< of 8 bytes it may be a pointer too: takes an int or a buffer
  sint,       ///< a signed integer
  uint,       ///< an unsigned integer
  float16,    ///< __half
  bfloat16,   ///< __nv_bfloat16
  float32,    ///< float
  float64,    ///< double
  complex64,  ///< cuda::std::complex<float>, thrust::complex<float>, and float2, which
              ///< cuFloatComplex is a typedef of; 8 bytes
  complex128,  ///< cuda::std::complex<double>, thrust::complex<double>, double2; 16 bytes
  pointer,     ///< a 64-bit address; references, arrays and function pointers are pointers
  structure,   ///< a struct or class passed by value
  void_type,   ///< only as a pointee
};

/// One parameter of a kernel.
struct Param {
  ParamKind kind = ParamKind::opaque;
  std::size_t size = 0;    ///< bytes; 0 where unknown (a struct known only by its name)
  std::size_t align = 0;   ///< bytes; 0 where unknown
  std::size_t offset = 0;  ///< bytes from the start of the parameter buffer; right only where the
                           ///< size of every parameter before it is known
  std::string type;  ///< as C++ spells it, "float const*", or, where only the bytes are known,
                     ///< as PTX does: ".u32", ".b8[24]"; empty where nothing is known
  std::string name;  ///< as the source names it; empty where unknown
  ParamKind pointee = ParamKind::opaque;  ///< of a pointer: its element, opaque where unknown, a
                                          ///< structure where it has a name of the user's
  std::size_t pointee_size = 0;           ///< of a pointer: its element's bytes, 0 where unknown
  bool pointee_const = false;  ///< of a pointer: whether the kernel promises not to write
};

/// The parameters of one kernel, from the best source there was.
///
/// Sources, best first: the demangled C++ name, the `.entry` line of the PTX, the parameter sizes
/// in the cubin or from the driver, and a signature the user declares. merge() combines them. A
/// plain value; needs no driver.
struct Signature {
  std::string kernel;  ///< readable name: "axpy<float>"
  std::vector<Param> params;

  /// "axpy<float>(float a, float const* x, float* y, unsigned long n)"
  [[nodiscard]] std::string str() const;

  /// Whether the size of every parameter is known, and so every offset.
  [[nodiscard]] bool complete() const noexcept;

  /// The bytes of the parameter buffer: the end of the last parameter; 0 for no parameters.
  [[nodiscard]] std::size_t buffer_size() const noexcept;
};

/// A kernel found in an object code.
struct KernelEntry {
  std::string symbol;  ///< the name to ask the driver for: "_Z4axpyIfEvT_PKS0_PS0_m"
  std::string name;    ///< the readable name, with template arguments, no parameters
  Signature signature;
};

/// The demangled form of an Itanium-mangled symbol, or the symbol itself where it is not mangled,
/// or is longer than the C++ runtime demangles (libstdc++: 1024 characters).
[[nodiscard]] std::string demangle(std::string_view symbol);

/// The entry of a kernel of which only the symbol is known, and `measured`, if given: what PTX, a
/// cubin or the driver tells of its parameters. The types come from the demangled name. Where the
/// two disagree on the number of parameters, `measured` is right. An unmangled symbol without
/// `measured` has no parameters in its signature: they are unknown.
[[nodiscard]] KernelEntry describe_kernel(std::string symbol,
                                          std::optional<Signature> measured = std::nullopt);

/// The parameter list of a C++ declaration: "(float a, float const* x)" or "axpy(float, float*)" or
/// "float, float*". Names are kept where given. A type that is not known by name is a structure of
/// size 0, which merge() may complete. Typedefs of <cstdint> and <cuda_fp16.h> are known.
/// @throw std::invalid_argument naming the part that is not a type.
[[nodiscard]] Signature parse_signature(std::string_view declaration);

/// Every `.entry` of a PTX module that has a body, in order, with types from the demangled name
/// merged in. PTX alone tells .f32 and .f64 exactly; integers have no sign in it, arrays of bytes
/// are structures, and a .u64 is a pointer only where `.ptr` says so, which NVRTC before 13 and
/// targets below sm_100 leave out.
/// @throw std::invalid_argument with the line of an `.entry` that is cut short or malformed.
[[nodiscard]] std::vector<KernelEntry> kernels_in_ptx(std::string_view ptx);

/// Every kernel of a cubin (an ELF file), in the order of its symbols, with parameter sizes and
/// offsets from its .nv.info sections and types from the demangled names.
/// @throw std::invalid_argument where the bytes are not a CUDA ELF file, or a damaged one; never
/// reads
///     out of bounds.
[[nodiscard]] std::vector<KernelEntry> kernels_in_cubin(std::span<const std::byte> cubin);

/// The best of both: `better` gives the types, `other` what it lacks (sizes, offsets, names, and
/// types where `better` has only bytes). Where the two disagree on the number of parameters,
/// `other` is dropped. Sizes that PTX, a cubin or the driver measured win over those that a name
/// suggests.
[[nodiscard]] Signature merge(Signature better, const Signature& other);

/// Fills in the parameter names found at the kernel's definition in CUDA C++ source, where the
/// definition is found and the count agrees, and, where only bytes are known of all parameters of
/// an `extern "C"` kernel, which of them are pointers, if that agrees with the bytes. What is known
/// stays. Nothing is filled in where definitions of the same name and count disagree, and no types
/// where the preprocessor may leave the definition out.
void read_definition(Signature& signature, std::string_view source);

/// Index of the one entry that `name` means: the symbol, the readable name ("axpy<float>"; spaces
/// and `const` placement do not matter), the name without namespace or template arguments, if only
/// one entry has it. A parameter list tells overloads apart: "scale(float*, int)".
/// @throw std::invalid_argument listing the candidates, or all there is.
[[nodiscard]] std::size_t find_kernel(std::span<const KernelEntry> entries, std::string_view name);

}  // namespace cudacore
