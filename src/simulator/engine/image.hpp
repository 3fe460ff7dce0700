// SPDX-License-Identifier: Apache-2.0
//
// A program that is ready to run: PTX modules, linked and decoded, with their variables placed in
// memory.
//
// An image belongs to one context: its code contains the addresses of its variables. It is
// immutable once loaded, and the grids that run it keep it alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/form_table.hpp"
#include "simulator/engine/machine.hpp"
#include "simulator/memory/address_space.hpp"

namespace cudacore::simulator {

/// PTX that cannot be loaded; what() is for the JIT's error log.
class LoadError : public std::runtime_error {
 public:
  enum class Kind {
    syntax,               ///< CUDA_ERROR_INVALID_PTX
    unknown,              ///< an instruction that PTX doesn't have: CUDA_ERROR_INVALID_PTX
    not_simulated,        ///< one that PTX has, but this device doesn't: CUDA_ERROR_NOT_SUPPORTED
    unsupported_version,  ///< a newer .version: CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    unsupported_target,   ///< a .target that the device doesn't run: CUDA_ERROR_INVALID_PTX
    link,                 ///< an unresolved or doubly defined name: CUDA_ERROR_INVALID_PTX
    too_large,      ///< static shared memory or parameters exceed the limit: CUDA_ERROR_INVALID_PTX
    out_of_memory,  ///< no memory for its variables: CUDA_ERROR_OUT_OF_MEMORY
  };
  LoadError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// The source position of an instruction.
struct Place {
  std::uint32_t ptx_line = 0;
  std::uint32_t file = 0;  ///< of Image::files
  std::uint32_t line = 0;  ///< in that file; 0 if unknown
  std::uint32_t call_file = 0;
  std::uint32_t call_line = 0;  ///< of the call that was inlined; 0 if none was
};

struct ParameterLayout {
  std::size_t offset = 0;  ///< bytes
  std::size_t size = 0;
  std::size_t align = 1;
};

struct Function {
  std::string name;
  bool is_entry = false;
  /// If the kernel reaches something that is not simulated, the reason why it can't run; it then
  /// has no code.
  std::string refusal;
  const Image* image = nullptr;
  std::vector<Instruction> code;     ///< the last one leaves the function
  std::vector<std::uint32_t> lists;  ///< Instruction::list points into it
  std::vector<Place> places;
  std::vector<std::string_view> opcodes;  ///< by instruction, as written in the PTX; for messages
  std::vector<Effect> effects;            ///< by instruction
  std::uint32_t frame_bytes = 64;
  std::uint32_t sink = 0;             ///< offset of a row of 512 bytes that is never read
  std::uint32_t constants_begin = 0;  ///< offset in the frame where `constants` is copied
  std::vector<std::byte> constants;
  std::vector<ParameterLayout> parameters;
  std::size_t parameter_bytes = 0;  ///< for an entry; else the region in the frame
  std::uint32_t parameters_at = 0;  ///< device functions: frame offset of their parameter regions
  std::uint32_t results_at = 0;     ///< and of their results
  std::uint32_t result_bytes = 0;   ///< per lane
  std::uint32_t local_bytes = 0;    ///< own .local variables, per thread
  std::uint32_t local_align = 1;
  std::uint32_t stack_bytes =
      0;                   ///< local memory of the deepest chain of calls, if there is no cycle
  bool recursive = false;  ///< may call itself, or a pointer: stack_bytes is not a bound
  std::uint32_t shared_bytes = 0;    ///< for an entry: static, from shared_begin; dynamic follows
  std::uint32_t constant_bytes = 0;  ///< of the module's .const variables
  std::uint32_t registers = 0;       ///< estimate of the registers per thread on a GPU
  std::uint32_t max_threads = 1024;  ///< product of .maxntid or .reqntid
  Dim3 required_threads{0, 0, 0};    ///< .reqntid, else 0
  Dim3 required_cluster{0, 0, 0};    ///< .reqnctapercluster, else 0
  std::uint32_t max_cluster_rank = 0;
  bool explicit_cluster = false;
  bool blocks_are_clusters = false;  ///< the grid of a launch counts clusters
};

/// A .global or .const variable whose name the host can look up.
struct Global {
  std::uint64_t address = 0;
  std::size_t size = 0;
  bool managed = false;
};

/// What code is loaded for.
struct Target {
  int major = 9;
  int minor = 0;
  std::size_t max_shared_bytes = 232448 - 1024;  ///< per block
};

/// The architecture that PTX is for.
struct Architecture {
  int number = 0;   ///< 10 * major + minor
  char suffix = 0;  ///< 'a': only that one; 'f': the family of its major number

  [[nodiscard]] bool runs_on(const Target& target) const noexcept;
};

/// The architecture in the first ".target" of PTX; nothing if there is none.
std::optional<Architecture> find_architecture(std::string_view ptx) noexcept;

class Image {
 public:
  /// Allocates zeroed memory for the program's variables; returns nothing if there is none left.
  /// The driver owns the memory, and frees it when the program is unloaded.
  using Allocate = std::function<std::optional<Allocation>(std::size_t size, std::size_t align,
                                                           bool read_only, bool managed)>;

  /// Parses, links, places and decodes, using the given forms. Several texts, or several modules
  /// in one text, are linked together.
  ///
  /// @throws LoadError
  static std::shared_ptr<const Image> load(std::span<const std::string_view> texts,
                                           const FormTable& forms, const Target& target,
                                           const Allocate& allocate);

  /// A kernel by its PTX name; nullptr if there is none.
  [[nodiscard]] const Function* find_entry(std::string_view name) const noexcept;
  /// All kernels, in the order written.
  [[nodiscard]] std::span<const Function* const> entries() const noexcept { return entries_; }
  [[nodiscard]] const Global* find_global(std::string_view name) const noexcept;
  [[nodiscard]] const std::map<std::string, Global, std::less<>>& globals() const noexcept {
    return globals_;
  }
  [[nodiscard]] std::span<const std::string> files() const noexcept { return files_; }
  [[nodiscard]] unsigned ptx_version() const noexcept { return ptx_version_; }
  /// The architecture of the first PTX module: 75 for sm_75.
  [[nodiscard]] int architecture() const noexcept { return architecture_; }
  /// The function for a function pointer; nullptr if there is none. Function pointers are addresses
  /// outside of any allocation.
  [[nodiscard]] const Function* function_at(std::uint64_t pointer) const noexcept;

  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

 private:
  friend class ImageBuilder;
  Image();

  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<const Function*> entries_;
  std::map<std::string, Global, std::less<>> globals_;
  std::vector<std::string> files_;
  std::vector<std::shared_ptr<const void>> keeps_;  ///< texts that opcodes are views of
  unsigned ptx_version_ = 0;
  int architecture_ = 0;
};

}  // namespace cudacore::simulator
