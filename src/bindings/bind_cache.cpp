// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <span>

#include "bindings/code_objects.hpp"
#include "bindings/conversions.hpp"
#include "compile/cache_settings.hpp"
#include "compile/flag_effects.hpp"
#include "compile/header_mentions.hpp"
#include "compile/program_cache.hpp"

namespace cudacore::bindings {
namespace {

/// (headers, macros, queries, trouble); the names are bytes, as the text is.
py::tuple to_tuple(const compile::HeaderMentions& mentions) {
  py::list headers;
  for (const compile::HeaderMention& header : mentions.headers) {
    headers.append(py::make_tuple(py::bytes(header.name), header.is_quoted, header.is_expanded));
  }
  const auto names = [](const std::vector<std::string>& from) {
    py::list to;
    for (const std::string& name : from) to.append(py::bytes(name));
    return to;
  };
  return py::make_tuple(headers, names(mentions.macros), names(mentions.queries),
                        foreign_text(mentions.trouble));
}

/// The key of something that isn't compiled by a Program; no program has the same.
compile::Digest key_of_content(std::string_view key) {
  compile::FieldHash hash;
  hash.add("content");
  hash.add(key);
  return hash.finish();
}

/// What is stored under a key: bytes, or None.
py::object find_content(const py::bytes& key) {
  const std::string_view given = key;
  const auto entry = without_gil([given]() -> std::optional<compile::CacheEntry> {
    if (!compile::cache_is_enabled()) return std::nullopt;
    return compile::find_in_cache(key_of_content(given));
  });
  if (!entry) return py::none();
  return py::bytes(reinterpret_cast<const char*>(entry->code.data()), entry->code.size());
}

/// Whether it was written.
bool store_content(const py::bytes& key, const py::bytes& content) {
  const std::string_view given = key;
  const std::string_view bytes = content;
  return without_gil([given, bytes] {
    if (!compile::cache_is_enabled()) return false;
    compile::CacheEntry entry;
    const auto data = std::as_bytes(std::span(bytes));
    entry.code.assign(data.begin(), data.end());
    return compile::store_in_cache(key_of_content(given), entry);
  });
}

}  // namespace

cache::Use to_cache_use(py::handle object) {
  if (object.is_none() || object.is(py::bool_(true))) return cache::Use::yes;
  if (object.is(py::bool_(false))) return cache::Use::no;
  refuse_type("cache", "True, False or None", object);
}

void bind_cache(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("cache_info", in_parts, [] {
    const cache::Info info = without_gil(&cache::info);
    const cache::Counts& counts = info.counts;
    return py::make_tuple(info.is_enabled, to_str(info.folder), info.max_size, counts.hits,
                          counts.misses, counts.stored, counts.uncacheable, counts.failures,
                          foreign_text(info.problem), foreign_text(info.settings_problem),
                          foreign_text(info.uncacheable_reason));
  });
  module.def("cache_usage", in_parts, [] {
    const cache::Usage usage = without_gil(&cache::usage);
    return py::make_tuple(usage.entries, usage.size);
  });
  module.def("cache_check", py::arg("entries"), py::arg("size"), in_parts,
             [](std::size_t entries, std::uint64_t size) {
               const compile::CheckedEntries found =
                   without_gil([=] { return compile::check_entries(entries, size); });
               py::list problems;
               for (const std::string& problem : found.problems) {
                 problems.append(foreign_text(problem));
               }
               return py::make_tuple(found.checked, problems);
             });
  module.def("cache_default_folder", quick, [] {
    const compile::DefaultFolder folder = compile::default_cache_folder();
    return py::make_tuple(to_str(folder.path), foreign_text(folder.problem));
  });
  module.def("header_mentions", py::arg("text"), in_parts, [](const py::bytes& text) {
    const std::string_view given = text;
    return to_tuple(without_gil([given] {
      const std::optional<std::string> joined = compile::joined_lines(given);
      return compile::header_mentions(joined ? *joined : given);
    }));
  });
  module.def("flag_effects", py::arg("flags"), in_parts, [](const std::vector<std::string>& flags) {
    const compile::FlagEffects effects = compile::effects_of(flags);
    const bool reads = !effects.folders.empty() || !effects.pre_includes.empty();
    return py::make_tuple(reads, effects.shows_current_folder, foreign_text(effects.trouble));
  });
  module.def("ptxas_trouble", py::arg("flag"), in_parts,
             [](const std::string& flag) { return foreign_text(compile::ptxas_trouble(flag)); });
  module.def("cache_find", py::arg("key"), in_parts, &find_content);
  module.def("cache_store", py::arg("key"), py::arg("content"), in_parts, &store_content);
  module.def("cache_clear", [] { return cache::clear(); });
  module.def("cache_enable", py::arg("enabled"), [](bool enabled) { cache::enable(enabled); });
  module.def("cache_set_folder", py::arg("folder"), [](const py::object& folder) {
    return [path = to_path(folder)] { cache::set_folder(path); };
  });
  module.def("cache_set_max_size", py::arg("size"),
             [](std::uint64_t size) { cache::set_max_size(size); });
}

}  // namespace cudacore::bindings
