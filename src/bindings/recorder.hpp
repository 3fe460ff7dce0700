// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/launch_arrays.hpp"
#include "bindings/recorded_argument.hpp"
#include "launch/kernel_box.hpp"
#include "owner/captures.hpp"
#include "runtime/recorded_graph.hpp"
#include "runtime/stand_in_memory.hpp"

namespace cudacore::bindings {

/// A number that each replay writes anew, as the kernels declare it.
struct ReplayedNumber {
  std::uint32_t argument = 0;  ///< of the function
  Kernel kernel;               ///< one that takes it, which messages name
  std::size_t parameter = 0;
  launching::Slot slot;
};

/// What a thread records: a call of a function with stand-ins for its arguments. With the GIL.
class Recorder : driver::NotCopied {
 public:
  /// `name` is the function's, for messages.
  Recorder(std::string name, std::vector<RecordedArgument> arguments);
  ~Recorder() { end(); }

  /// What the calling thread records; null for nothing.
  [[nodiscard]] static Recorder* active() noexcept {
    return owner::any_capture() ? active_ : nullptr;
  }

  /// Refuses memory that stands for an argument in what another thread records, on a stream that is
  /// not part of that: the work would run once, now, on nobody's memory.
  /// @throw NotSupportedError
  static void require_no_foreign_stand_in(const owner::StreamBox& stream, CUdeviceptr address);

  /// Makes the thread record the capture of a stream, until end().
  /// @throw std::logic_error if it records already.
  void begin(const Stream& stream);
  void end() noexcept;

  /// The number that an object of the function's stands for; null for other objects. Borrowed.
  [[nodiscard]] PyObject* number_behind(PyObject* object) const noexcept;
  /// Notes that the value of such a number was used.
  void fix_number(PyObject* object) noexcept;
  /// Refuses work on a stream that is not captured: it would run once, now.
  /// @throw NotSupportedError
  void require_captured(const owner::StreamBox& stream) const;
  /// Whether an object stands for an argument.
  [[nodiscard]] bool is_stand_in(py::handle object) const noexcept;
  /// Whether an address is one of a stand-in's.
  [[nodiscard]] bool is_stand_in_address(CUdeviceptr address) const noexcept;
  /// @throw NotSupportedError if the address of a stand-in, which nobody would replace, is among
  /// bytes of the host that work is to read.
  void require_no_stand_in_address(std::span<const std::byte> bytes) const;
  /// Notes bytes of the host that work reads which was captured on a stream, and what keeps them:
  /// they are read again by each replay. Nothing if that is part of another capture.
  void note_host_source(const owner::StreamBox& stream, std::span<const std::byte> bytes,
                        std::shared_ptr<void> memory);
  /// Refuses sources that the function has written since: each copy would read the last state.
  /// @throw NotSupportedError
  void require_unchanged_sources() const;
  /// Notes the launch that was captured last on a stream, and the numbers among its arguments.
  /// Returns false if it is part of another capture.
  bool note_launch(const owner::StreamBox& stream, const Kernel& kernel, LaunchArrays& arrays);
  /// Takes what was queued last on a stream uses; returns false if that is part of another capture.
  bool keep(const owner::StreamBox& stream, std::vector<std::shared_ptr<void>>& shares);

  struct StandIn {
    py::object object{};                      ///< what the function gets
    py::object value{};                       ///< of a number
    std::shared_ptr<StandInMemory> memory{};  ///< of an array
    CUdeviceptr base = 0;                     ///< what stands for the argument's address
  };
  std::vector<RecordedArgument> arguments;
  std::vector<StandIn> stand_ins;  ///< one for each argument
  std::vector<ReplayedNumber> numbers;
  std::vector<CapturedLaunch> launches;  ///< their values are indices of `numbers`
  /// What the recording keeps. The driver could, but then launches a graph at half the speed.
  std::vector<std::shared_ptr<void>> kept;

 private:
  static thread_local Recorder* active_;

  struct Source {
    std::span<const std::byte> bytes;
    std::shared_ptr<void> memory;  ///< keeps them
    std::size_t hash = 0;
  };

  std::string name_;
  CUgraph graph_ = nullptr;
  std::vector<Source> sources_;
};

/// The number that an object stands for in what the thread records; null for other objects.
[[nodiscard]] inline PyObject* number_behind(PyObject* object) noexcept {
  const Recorder* recorder = Recorder::active();
  return recorder == nullptr ? nullptr : recorder->number_behind(object);
}

/// Refuses work on a stream that is not recorded; does nothing unless the thread records.
/// @throw NotSupportedError
void require_recorded(const Stream& stream);

/// For what the host does at once, and replays wouldn't.
/// @throw NotSupportedError in a function that is being recorded.
void require_no_recording(const char* what);
/// Refuses Buffers and views among objects that stand for arguments elsewhere, before work on them
/// is queued; see Recorder::require_no_foreign_stand_in().
void require_no_foreign_stand_ins(const owner::StreamBox& stream,
                                  std::span<PyObject* const> objects);
/// The same, and what require_recorded() refuses of the stream alone.
inline void require_recorded(const Stream& stream, std::initializer_list<py::handle> objects) {
  if (!owner::any_capture() || stream.box() == nullptr) [[likely]]
    return;
  require_recorded(stream);
  for (const py::handle object : objects) {
    PyObject* one = object.ptr();
    require_no_foreign_stand_ins(*stream.box(), std::span(&one, 1));
  }
}
/// Refuses a copy to memory of the host alone, which the function could read before it is made.
/// @throw NotSupportedError as require_recorded()
void require_recorded_copy(const Stream& stream, bool is_to_host);
/// Before work that reads the host's memory; does nothing unless the thread records.
/// @throw NotSupportedError as Recorder::require_no_stand_in_address()
void require_recorded_source(std::span<const std::byte> bytes);
/// Behind it; see Recorder::note_host_source().
void note_recorded_source(const Stream& stream, std::span<const std::byte> bytes,
                          std::shared_ptr<void> memory);

/// A recorder of a call: `labels` name its arguments. With `make_number` None, numbers are taken as
/// they are.
[[nodiscard]] py::object make_recorder(py::handle self, const py::tuple& args,
                                       const py::tuple& keywords, const py::tuple& labels,
                                       const py::object& make_number, const py::object& make_array);
void bind_recorder(py::module_& module);

}  // namespace cudacore::bindings
