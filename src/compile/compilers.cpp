// SPDX-License-Identifier: Apache-2.0
#include "compile/compilers.hpp"

#include <algorithm>
#include <utility>

#include "compile/program_cache.hpp"
#include "driver/nvjitlink_api.hpp"
#include "driver/nvrtc_api.hpp"

namespace cudacore::compile {
namespace {

CompilerInfo described(const driver::InstalledLibrary& library) {
  return {library.identity, library.major, 0, library.path, {}};
}

template <typename Api>
CompilerInfo loaded(const Api& api) {
  return {api.identity, api.major, api.minor, api.path, {}};
}

template <std::optional<driver::InstalledLibrary> (*search)()>
std::optional<CompilerInfo> find() {
  const auto library = search();
  if (!library) return std::nullopt;
  return described(*library);
}

void write(FieldWriter& fields, const CompilerInfo& compiler) {
  fields.add_text(compiler.identity);
  fields.add_number(static_cast<std::uint64_t>(compiler.major));
  fields.add_number(static_cast<std::uint64_t>(compiler.minor));
  fields.add_text(compiler.path.string());
  fields.add_number(compiler.folders.size());
  for (const std::string& folder : compiler.folders) fields.add_text(folder);
}

CompilerInfo read(FieldReader& fields) {
  CompilerInfo compiler;
  compiler.identity = fields.text();
  compiler.major = static_cast<int>(fields.number());
  compiler.minor = static_cast<int>(fields.number());
  compiler.path = fields.text();
  for (std::uint64_t left = fields.number(); left != 0 && fields.is_valid(); --left) {
    compiler.folders.emplace_back(fields.text());
  }
  return compiler;
}

}  // namespace

const CompilerKind nvrtc_kind = {"NVRTC", &find<&driver::find_nvrtc>,
                                 [] { return loaded(driver::nvrtc()); }};
const CompilerKind nvjitlink_kind = {"nvJitLink", &find<&driver::find_nvjitlink>,
                                     [] { return loaded(driver::nvjitlink()); }};

std::vector<std::string> header_folders(const CompilerInfo& compiler) {
  if (!compiler.folders.empty()) return compiler.folders;
  std::vector<std::string> folders;
  for (const auto& folder : driver::find_include_directories(compiler.path, compiler.major)) {
    folders.push_back(folder.string());
  }
  return folders;
}

std::vector<CompilerInfo> remembered_compilers(const CompilerKind& kind) {
  std::vector<CompilerInfo> compilers;
  const std::optional<std::string> note = find_note(kind.name);
  if (!note) return compilers;
  FieldReader fields(*note);
  while (fields.is_valid() && !fields.is_at_end()) compilers.push_back(read(fields));
  if (!fields.is_valid()) return {};
  std::stable_sort(compilers.begin(), compilers.end(), [](const auto& a, const auto& b) {
    return std::pair(a.major, a.minor) > std::pair(b.major, b.minor);
  });
  return compilers;
}

void remember_compiler(const CompilerKind& kind, CompilerInfo compiler) {
  compiler.folders = header_folders(compiler);
  std::vector<CompilerInfo> compilers = remembered_compilers(kind);
  if (std::find(compilers.begin(), compilers.end(), compiler) != compilers.end()) return;
  std::erase_if(compilers, [&](const auto& known) { return known.identity == compiler.identity; });
  compilers.push_back(std::move(compiler));
  FieldWriter fields;
  for (const CompilerInfo& known : compilers) write(fields, known);
  store_note(kind.name, fields);
}

}  // namespace cudacore::compile
