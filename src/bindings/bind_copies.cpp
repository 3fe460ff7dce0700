// SPDX-License-Identifier: Apache-2.0
#include "bindings/managed_buffer.hpp"
#include "bindings/options.hpp"
#include "bindings/recorder.hpp"
#include "runtime/captured_work.hpp"

// Copies of many buffers at once.

namespace cudacore::bindings {
namespace {

constexpr char copy_batch_name[] = "copy_batch";

/// None, options for all copies, or a sequence of options for each.
std::vector<CopyOptions> to_copy_options(py::handle object) {
  if (object.is_none()) return {};
  const bool is_one = get_if<CopyOptions>(object.ptr()) != nullptr || is_mapping(object);
  if (is_one) return {to_options<CopyOptions>(object)};
  if (PySequence_Check(object.ptr()) == 0 || PyUnicode_Check(object.ptr()) != 0) {
    refuse_type("copy_batch: options", "CopyOptions, a mapping, a sequence of them, or None",
                object);
  }
  std::vector<CopyOptions> options;
  for (const py::handle item : py::tuple(py::reinterpret_borrow<py::object>(object))) {
    options.push_back(to_options<CopyOptions>(item));
  }
  if (options.empty()) throw py::value_error("copy_batch: options is an empty sequence");
  return options;
}

auto copy_all(py::handle stream, py::handle srcs, py::handle dsts, py::handle options) {
  constexpr char one[] = "buffer.copy_to() or buffer.copy_from()";
  const py::tuple sources = to_buffers(srcs, "copy_batch: srcs", one);
  const py::tuple destinations = to_buffers(dsts, "copy_batch: dsts", one);
  std::vector<CopyOptions> chosen = to_copy_options(options);
  const Stream on = to_stream(stream);
  require_recorded(on);
  refuse_stream(without_gil([on] { return batch_refusal(copy_batch_name, on); }));
  return [from = shares_of(sources), to = shares_of(destinations), chosen = std::move(chosen), on] {
    copy_batch(to, from, chosen, on);
  };
}

}  // namespace

void bind_copies(py::module_& module) {
  MethodsWithPolicy<py::module_>(module).def(copy_batch_name, py::arg("stream"), py::arg("srcs"),
                                             py::arg("dsts"), py::kw_only(),
                                             py::arg("options") = py::none(), &copy_all);
}

}  // namespace cudacore::bindings
