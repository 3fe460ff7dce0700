// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/recorder.hpp"

namespace cudacore::bindings {

/// What a recorded function found around it, which must still be the same object for a recording
/// to fit: a variable of a module, a cell of a closure, or the function's own code and defaults; or
/// a Buffer among these, which must still be open.
struct Guard {
  enum class Kind : std::uint8_t { variable, cell, code, list, dict, buffer };

  Kind kind = Kind::variable;
  py::object container{};  ///< the module's dict, the cell, the function, the list, dict or Buffer
  py::object name{};       ///< of a variable
  py::object expected{};   ///< null for a variable that was not there

  /// Runs no Python code, unless a module has keys that aren't strings.
  [[nodiscard]] bool holds() const noexcept;
};

/// One recording of a function: for arguments of certain kinds.
struct Recording : driver::NotCopied {
  std::vector<RecordedArgument> arguments;
  py::object keywords{};  ///< names of the last arguments, a tuple
  std::vector<Guard> guards;
  /// Contexts, which are never freed.
  struct Contexts {
    const error::ContextBox* stream = nullptr;   ///< of the work
    const error::ContextBox* current = nullptr;  ///< the thread's, which the function may ask for
    [[nodiscard]] bool operator==(const Contexts&) const = default;
  };
  Contexts contexts;
  std::shared_ptr<error::ContextBox> context;  ///< of the work
  std::vector<ReplayedNumber> numbers;         ///< their values follow the address_count
  std::size_t address_count = 0;
  std::vector<std::uint32_t> results;  ///< the arguments that are returned
  bool returns_tuple = false;
  std::shared_ptr<RecordedGraph> graph;
  std::size_t launch_count = 0;  ///< with the GIL

  [[nodiscard]] bool fits(const CallArguments& given, PyObject* names, const Contexts& where) const;
  [[nodiscard]] bool guards_hold() const noexcept;
  /// Counts the references to objects that calls must give, or that must be found.
  void count_references(std::unordered_map<PyObject*, Py_ssize_t>& held) const;
  /// Whether nothing but what `held` counts has such an object any more, so that no call can fit.
  [[nodiscard]] bool is_dead(const std::unordered_map<PyObject*, Py_ssize_t>& held) const;
  /// Launches it with what the call gives. Arguments were checked by fits().
  void launch(const Stream& stream, const CallArguments& given, LaunchArrays& arrays);
  /// What the function returned, of these arguments. A new reference.
  [[nodiscard]] PyObject* result(const CallArguments& given) const noexcept;
  /// Writes the values of a launch: what is in front of them must be large enough.
  void write_values(const CallArguments& given, LaunchArrays& arrays,
                    std::span<std::uint64_t> values) const;
  /// "argument 2 of the call", for messages.
  [[nodiscard]] std::string label(std::size_t argument) const;
};

}  // namespace cudacore::bindings
