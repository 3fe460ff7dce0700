// SPDX-License-Identifier: Apache-2.0
#include "bindings/recorder.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string_view>

#include "bindings/conversions.hpp"
#include "driver/leaked.hpp"
#include "runtime/context_call.hpp"

namespace cudacore::bindings {
namespace {

owner::CaptureInfo capture_of(const owner::StreamBox& stream) {
  const ReleaseGil release;
  return owner::capture_info(driver::api(), stream);
}

std::size_t hash_of(std::span<const std::byte> bytes) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());  // NOLINT
  return std::hash<std::string_view>()(text);
}

bool is_same(const launching::Slot& a, const launching::Slot& b) noexcept {
  return a.kind == b.kind && a.size == b.size && a.fast_path == b.fast_path;
}

/// Those of all threads. With the GIL.
std::vector<Recorder*>& all_recorders() { return driver::leaked<std::vector<Recorder*>>(); }

}  // namespace

thread_local Recorder* Recorder::active_ = nullptr;

Recorder::Recorder(std::string name, std::vector<RecordedArgument> given)
    : arguments(std::move(given)), name_(std::move(name)) {}

void Recorder::begin(const Stream& stream) {
  if (active_ != nullptr) {
    throw std::logic_error(name_ + " cannot be recorded while " + active_->name_ +
                           " is: call it on the stream that is being recorded");
  }
  graph_ = capture_of(*stream.box()).graph;
  all_recorders().push_back(this);
  active_ = this;
}

void Recorder::end() noexcept {
  std::erase(all_recorders(), this);
  if (active_ == this) active_ = nullptr;
}

PyObject* Recorder::number_behind(PyObject* object) const noexcept {
  for (const StandIn& one : stand_ins) {
    if (one.object.ptr() == object) return one.value.ptr();
  }
  return nullptr;
}

void Recorder::fix_number(PyObject* object) noexcept {
  PyObject* result = PyObject_CallMethod(object, "_fix", nullptr);
  if (result == nullptr) PyErr_WriteUnraisable(object);
  Py_XDECREF(result);
}

void Recorder::require_captured(const owner::StreamBox& stream) const {
  if (capture_of(stream).status != CU_STREAM_CAPTURE_STATUS_NONE) return;
  throw NotSupportedError(
      "work is queued on " + owner::describe_stream(stream) +
      ", which is not recorded: leave the stream out, so that the work goes to the current stream, "
      "or make the other stream wait for it first");
}

void Recorder::require_no_foreign_stand_in(const owner::StreamBox& stream, CUdeviceptr address) {
  const auto found = std::ranges::find_if(all_recorders(), [address](const Recorder* one) {
    return one->is_stand_in_address(address);
  });
  if (found == all_recorders().end() || *found == active_) return;
  // It may end while the driver is asked.
  const std::string name = (*found)->name_;
  CUgraph const graph = (*found)->graph_;
  if (capture_of(stream).graph == graph) return;
  throw NotSupportedError(name + " is being recorded, and an argument of it is used on " +
                          owner::describe_stream(stream) +
                          ", which is not part of the recording: in another thread, give the "
                          "stream that is recorded, or do it outside");
}

bool Recorder::is_stand_in(py::handle object) const noexcept {
  return std::any_of(stand_ins.begin(), stand_ins.end(),
                     [&](const StandIn& one) { return one.object.ptr() == object.ptr(); });
}

bool Recorder::is_stand_in_address(CUdeviceptr address) const noexcept {
  return std::any_of(stand_ins.begin(), stand_ins.end(), [&](const StandIn& one) {
    return one.memory != nullptr && address >= one.memory->begin() && address < one.memory->end();
  });
}

void Recorder::require_no_stand_in_address(std::span<const std::byte> bytes) const {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at + sizeof(word) <= bytes.size(); ++at) {
    std::memcpy(&word, &bytes[at], sizeof(word));
    if (!is_stand_in_address(word)) continue;
    throw NotSupportedError(
        "the address of an argument is copied from memory of the host, where a recording cannot "
        "replace it; pass the argument to the kernel itself");
  }
}

void Recorder::note_host_source(const owner::StreamBox& stream, std::span<const std::byte> bytes,
                                std::shared_ptr<void> memory) {
  if (capture_of(stream).graph != graph_) return;
  sources_.push_back({bytes, std::move(memory), hash_of(bytes)});
}

void Recorder::require_unchanged_sources() const {
  for (const Source& source : sources_) {
    if (hash_of(source.bytes) == source.hash) continue;
    throw NotSupportedError(name_ +
                            " cannot be recorded: it writes to memory of the host after it has "
                            "queued a copy from there, and each replay would copy what was "
                            "written last; use another array for each copy");
  }
}

bool Recorder::note_launch(const owner::StreamBox& stream, const Kernel& kernel,
                           LaunchArrays& arrays) {
  const owner::CaptureInfo info = capture_of(stream);
  if (info.graph != graph_ || info.last.size() != 1) return false;
  CapturedLaunch launch{.node = info.last.front(), .kernel = kernel};
  for (const LaunchArrays::Number& used : arrays.take_numbers()) {
    const launching::PackingPlan& plan = kernel.box()->plan;
    std::uint32_t argument = 0;
    while (stand_ins[argument].object.ptr() != used.object) ++argument;
    const launching::Slot& slot = plan.slots[used.parameter];
    if (slot.size > sizeof(std::uint64_t)) {
      fix_number(used.object);
      continue;
    }
    std::uint32_t at = 0;
    while (at < numbers.size() &&
           (numbers[at].argument != argument || !is_same(numbers[at].slot, slot))) {
      ++at;
    }
    if (at == numbers.size()) numbers.push_back({argument, kernel, used.parameter, slot});
    launch.numbers.push_back({static_cast<std::uint32_t>(used.parameter), at});
  }
  launches.push_back(std::move(launch));
  kept.push_back(kernel.box());
  return true;
}

bool Recorder::keep(const owner::StreamBox& stream, std::vector<std::shared_ptr<void>>& shares) {
  require_captured(stream);
  if (capture_of(stream).graph != graph_) return false;
  kept.insert(kept.end(), std::make_move_iterator(shares.begin()),
              std::make_move_iterator(shares.end()));
  return true;
}

void require_recorded(const Stream& stream) {
  const Recorder* recorder = Recorder::active();
  if (recorder != nullptr && stream.box() != nullptr) recorder->require_captured(*stream.box());
}

void require_no_recording(const char* what) {
  if (Recorder::active() == nullptr) return;
  throw NotSupportedError(std::string(what) +
                          ", which is not recorded: do so outside of the recorded function");
}

void require_no_foreign_stand_ins(const owner::StreamBox& stream,
                                  std::span<PyObject* const> objects) {
  for (PyObject* object : objects) {
    if (const auto* buffer = used_value<Buffer>(object)) {
      Recorder::require_no_foreign_stand_in(stream, buffer->handle());
    } else if (const auto* view = get_if<StridedView>(object)) {
      Recorder::require_no_foreign_stand_in(stream, view->address);
    }
  }
}

void require_recorded_copy(const Stream& stream, bool is_to_host) {
  if (is_to_host && Recorder::active() != nullptr) {
    throw NotSupportedError(
        "a copy to memory of the host is recorded, and made later: the function can't use it; copy "
        "outside of the recorded function, or to a Buffer of pinned memory");
  }
  require_recorded(stream);
}

void require_recorded_source(std::span<const std::byte> bytes) {
  if (const Recorder* recorder = Recorder::active()) recorder->require_no_stand_in_address(bytes);
}

void note_recorded_source(const Stream& stream, std::span<const std::byte> bytes,
                          std::shared_ptr<void> memory) {
  Recorder* recorder = Recorder::active();
  if (recorder == nullptr || bytes.empty() || stream.box() == nullptr) return;
  recorder->note_host_source(*stream.box(), bytes, std::move(memory));
}

}  // namespace cudacore::bindings
