// SPDX-License-Identifier: Apache-2.0
#include "bindings/python_cache.hpp"

#include <array>
#include <utility>

#include "bindings/conversions.hpp"
#include "signature/bytes.hpp"

namespace cudacore::bindings {
namespace {

py::object source_of(const Program& program) {
  const std::string& code = program.code();
  if (program.source_type() == SourceType::ltoir) return py::bytes(code);
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(code.data(), static_cast<Py_ssize_t>(code.size()), "surrogateescape"));
}

/// One program and one cache, whose key needs to know for what to compile.
class Cache {
 public:
  Cache(py::handle cache, const Program& program)
      : cache_(py::reinterpret_borrow<py::object>(cache)) {
    constexpr std::array types = {"c++", "ptx", "ltoir"};  // in the order of SourceType
    type_ = types.at(static_cast<std::size_t>(program.source_type()));
    source_ = source_of(program);
    if (!source_) throw py::error_already_set();
    options_ = py::cast(ProgramOptions(program.options()));
  }

  struct Entry {
    py::object key;
    py::object code;  ///< None if there is none
  };
  [[nodiscard]] Entry find(CodeType target) const {
    const py::tuple found =
        py::module_::import("cudacore.utils._compile")
            .attr("look_up")(cache_, source_, type_, options_, to_string(target));
    return {found[0], found[1]};
  }

  void store(const py::object& key, const ObjectCode& code) const { cache_[key] = py::cast(code); }

 private:
  py::object cache_;
  const char* type_;
  py::object source_;
  py::object options_;
};

}  // namespace

ObjectCode compile_through(py::handle cache, const Program& program, std::optional<CodeType> target,
                           bool has_names, const std::function<ObjectCode()>& compile) {
  py::module_::import("cudacore.utils._compile").attr("check")(cache, has_names);
  const bool is_cxx = program.source_type() == SourceType::cxx;
  const CodeType wanted = target.value_or(program.default_target());
  const Cache entries(cache, program);
  const Cache::Entry entry = entries.find(wanted);
  // The PTX of a cubin knows the types of an extern "C" kernel, and is what the simulated device
  // runs.
  const bool needs_ptx = is_cxx && wanted == CodeType::cubin;
  const Cache::Entry ptx = needs_ptx ? entries.find(CodeType::ptx) : Cache::Entry{};
  if (!entry.code.is_none() && (!needs_ptx || !ptx.code.is_none())) {
    ObjectCode::Details details;
    details.name = program.options().name.value_or("default_program");
    details.source = is_cxx ? program.code() : std::string();
    if (needs_ptx) details.ptx = ptx.code.cast<std::string>();
    if (program.source_type() == SourceType::ptx) details.ptx = program.code();
    return {signature::bytes_of(entry.code.cast<std::string>()), wanted, std::move(details)};
  }
  ObjectCode code = compile();
  // NVRTC may know no machine code for the device, and make PTX.
  if (code.code_type() != wanted) return code;
  entries.store(entry.key, code);
  if (needs_ptx && !code.ptx().empty()) {
    entries.store(ptx.key, ObjectCode(signature::bytes_of(code.ptx()), CodeType::ptx));
  }
  return code;
}

}  // namespace cudacore::bindings
