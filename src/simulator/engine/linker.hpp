// SPDX-License-Identifier: Apache-2.0
//
// Makes one program of several PTX modules: finds the definition that each name refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/engine/image.hpp"
#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {

inline constexpr std::uint32_t no_index = ~std::uint32_t{0};

/// A variable of .global, .const or .shared.
struct LinkedVariable {
  const ptx::Variable* source = nullptr;
  std::uint32_t module = 0;
  bool dynamic = false;       ///< shared memory whose size the launch specifies
  bool is_named = false;      ///< the host may look it up
  std::uint64_t address = 0;  ///< after placement: on the device, or in the shared window
  std::byte* host = nullptr;
};

/// A function with a body.
struct LinkedFunction {
  const ptx::Function* source = nullptr;
  std::uint32_t module = 0;
  /// By index of the source's variables: the index of the linked variable, for shared ones.
  std::vector<std::uint32_t> variables;
};

/// What a name refers to.
struct LinkedSymbol {
  enum class Kind : std::uint8_t {
    unresolved,
    variable,
    function,
    known,  ///< a function that the engine itself provides: malloc and similar
  };
  Kind kind = Kind::unresolved;
  std::uint32_t index = no_index;
};

/// Whether the engine provides that function.
[[nodiscard]] bool is_known_function(std::string_view name) noexcept;
/// Whether a name belongs to the device runtime (kernels that launch kernels).
[[nodiscard]] bool is_device_runtime(std::string_view name) noexcept;

/// "line 12, column 3: message"
[[nodiscard]] LoadError load_error(LoadError::Kind kind, ptx::Position position,
                                   const std::string& message);

class ModuleLinker {
 public:
  /// @throws LoadError if a name is defined twice.
  explicit ModuleLinker(std::span<const std::unique_ptr<ptx::Module>> modules);

  [[nodiscard]] LinkedSymbol find(std::uint32_t module, std::string_view name) const;
  /// The same, but a name without a definition is an error.
  [[nodiscard]] LinkedSymbol resolve(std::uint32_t module, std::string_view name,
                                     ptx::Position position) const;

  [[nodiscard]] std::span<const LinkedFunction> functions() const noexcept { return functions_; }
  [[nodiscard]] std::span<const LinkedVariable> variables() const noexcept { return variables_; }
  [[nodiscard]] std::span<LinkedVariable> variables() noexcept { return variables_; }
  [[nodiscard]] const ptx::Module& module(std::uint32_t index) const { return *modules_[index]; }
  [[nodiscard]] std::span<const std::unique_ptr<ptx::Module>> modules() const noexcept {
    return modules_;
  }

 private:
  struct Candidate {
    LinkedSymbol symbol;
    ptx::Linkage linkage = ptx::Linkage::internal;
    std::size_t size = 0;
    ptx::Position position;
  };
  using Names = std::unordered_map<std::string_view, Candidate>;

  void add_module(std::uint32_t index);
  void add_function(std::uint32_t module, const ptx::Function& function);
  void add_variable(std::uint32_t module, const ptx::Variable& variable);
  void define(std::uint32_t module, std::string_view name, const Candidate& candidate);
  void add_aliases(std::uint32_t module);

  std::span<const std::unique_ptr<ptx::Module>> modules_;
  std::vector<LinkedFunction> functions_;
  std::vector<LinkedVariable> variables_;
  std::vector<Names> locals_;
  Names globals_;
};

}  // namespace cudacore::simulator
