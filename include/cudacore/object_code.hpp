// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cudacore/buffer.hpp>
#include <cudacore/handles.hpp>
#include <cudacore/signature.hpp>

namespace cudacore {

class Kernel;

/// The format of an object code.
enum class CodeType : std::uint8_t { ptx, cubin, ltoir, fatbin, object, library };

[[nodiscard]] std::string_view to_string(CodeType type) noexcept;
/// @throw std::invalid_argument that lists the valid names.
[[nodiscard]] CodeType code_type_from_string(std::string_view name);

/// Compiled code: the bytes, the names in them, and, once a kernel has been requested, the library
/// loaded into the driver.
///
/// Cheap to copy. Copies share the bytes and the library, which is unloaded when the last copy,
/// kernel and global of it are gone. Everything except get_kernel(), get_global() and handle()
/// works without a driver.
class ObjectCode {
 public:
  /// What a compiler knows in addition to the bytes.
  struct Details {
    std::string name;                                   ///< for messages
    std::map<std::string, std::string> symbol_mapping;  ///< name expression → symbol
    std::string ptx;     ///< the PTX that a cubin was made from; empty if there is none
    std::string source;  ///< the CUDA C++ text, for parameter names; empty if unknown
    std::vector<KernelEntry>
        known_kernels;  ///< what is known about the kernels in addition to the bytes
  };

  ObjectCode(std::vector<std::byte> code, CodeType type, Details details = {});
  /// Reads a whole file.
  [[nodiscard]] static ObjectCode from_file(const std::filesystem::path& path, CodeType type,
                                            Details details = {});
  /// Reads a whole file and detects its type from the content.
  /// @throw std::invalid_argument if the type is unknown.
  [[nodiscard]] static ObjectCode load(const std::filesystem::path& path, Details details = {});
  /// The same for bytes that were read before.
  [[nodiscard]] static ObjectCode detect(std::vector<std::byte> code, Details details = {});
  /// Writes code() to a file. If another process opens the file meanwhile, it sees either all of
  /// the old content or all of the new.
  /// @throw std::filesystem::filesystem_error
  void save(const std::filesystem::path& path) const;

  [[nodiscard]] const std::vector<std::byte>& code() const noexcept;
  [[nodiscard]] CodeType code_type() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const std::map<std::string, std::string>& symbol_mapping() const noexcept;
  /// The details that were given when the code was made.
  [[nodiscard]] const Details& details() const noexcept;
  /// The PTX that accompanies a cubin, or the code itself if it is PTX; empty if there is none.
  [[nodiscard]] std::string_view ptx() const noexcept;

  /// The kernels inside, read from the PTX, the ELF file or the fat binary.
  /// @throw NotSupportedError for code that has no readable names (LTO IR, compressed fat binary,
  /// object, library).
  [[nodiscard]] const std::vector<KernelEntry>& kernels() const;
  /// The signature of a kernel; `name` as in get_kernel().
  [[nodiscard]] Signature signature(std::string_view name) const;

  /// A kernel by its symbol, its name expression, or its plain C++ name (cuLibraryGetKernel).
  /// @throw std::invalid_argument that lists the existing kernels.
  [[nodiscard]] Kernel get_kernel(std::string_view name) const;
  /// The memory of a `__device__`, `__constant__` or `__managed__` variable, on the current
  /// context's device (cuLibraryGetGlobal); `name` is its symbol, name expression or plain C++
  /// name.
  [[nodiscard]] Buffer get_global(std::string_view name) const;
  /// The loaded library (cuLibraryLoadData on first use).
  [[nodiscard]] CUlibrary handle() const;
  /// The library as a module of the current context (cuLibraryGetModule).
  [[nodiscard]] CUmodule get_module() const;

  /// Whether a copy for another process may include the source; false by default.
  [[nodiscard]] bool shares_source() const noexcept;
  void share_source(bool shares) const noexcept;

  friend bool operator==(const ObjectCode& a, const ObjectCode& b) noexcept {
    return a.state_ == b.state_;
  }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cudacore
