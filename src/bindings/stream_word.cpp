// SPDX-License-Identifier: Apache-2.0
#include "bindings/stream_word.hpp"

#include "bindings/conversions.hpp"
#include "bindings/recorder.hpp"
#include "cudacore/stream_value.hpp"

namespace cudacore::bindings {
namespace {

/// Where a word is: in a Buffer, or at an address.
StreamWord to_word(py::handle word, py::handle offset, py::handle size, const std::string& what) {
  const std::size_t from = to_size(offset, what + ": offset");
  const std::size_t bytes = to_size(size, what + ": size");
  if (const auto* buffer = get_if<Buffer>(word.ptr())) return StreamWord::in(*buffer, from, bytes);
  const bool is_address = is_index(word) || !attribute_or_none(word, "__int__").is_none();
  if (!is_address) refuse_type(what + ": word", "a Buffer or an address", word);
  unsigned long long address = to_address(word, (what + ": word").c_str());
  if (__builtin_add_overflow(address, from, &address)) {
    throw std::overflow_error(what + ": the offset reaches past the last address");
  }
  return StreamWord::at(address, bytes);
}

WaitCondition to_condition(py::handle condition) {
  const std::string name =
      PyUnicode_Check(condition.ptr()) != 0 ? condition.cast<std::string>() : "";
  if (name == ">=") return WaitCondition::greater_or_equal;
  if (name == "==") return WaitCondition::equal;
  if (name == "&") return WaitCondition::any_bit;
  if (name == "nor") return WaitCondition::nor;
  throw py::value_error("Stream.wait_value: condition must be '>=', '==', '&' or 'nor', not " +
                        shown(condition));
}

auto write(const ObjectOf<Stream>& self, py::handle word, py::handle value, py::handle size,
           py::handle offset) {
  const std::string what = "Stream.write_value";
  const std::uint64_t number = to_int<std::uint64_t>(value, what + ": value");
  const StreamWord chosen = to_word(word, offset, size, what);
  require_recorded(self.value());
  return [stream = Stream(self.value()), chosen, number] { write_value(stream, chosen, number); };
}

auto wait_for(const ObjectOf<Stream>& self, py::handle word, py::handle value, py::handle condition,
              py::handle size, py::handle offset, py::handle flush) {
  const std::string what = "Stream.wait_value";
  const std::uint64_t number = to_int<std::uint64_t>(value, what + ": value");
  const WaitCondition until = to_condition(condition);
  const bool flushes = to_bool(flush, "Stream.wait_value: flush");
  const StreamWord chosen = to_word(word, offset, size, what);
  require_recorded(self.value());
  return [stream = Stream(self.value()), chosen, number, until, flushes] {
    wait_value(stream, chosen, number, until, flushes);
  };
}

}  // namespace

void add_stream_words(HeapClass<Stream>& type) {
  type.def("write_value", py::arg("word"), py::arg("value"), py::kw_only(), py::arg("size") = 4,
           py::arg("offset") = 0, &write);
  type.def("wait_value", py::arg("word"), py::arg("value"), py::kw_only(),
           py::arg("condition") = ">=", py::arg("size") = 4, py::arg("offset") = 0,
           py::arg("flush") = false, &wait_for);
}

}  // namespace cudacore::bindings
