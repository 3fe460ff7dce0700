// SPDX-License-Identifier: Apache-2.0
#include "compile/compilers.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "compile/program_cache.hpp"
#include "driver/nvjitlink_api.hpp"
#include "driver/nvrtc_api.hpp"
#include "signature/bytes.hpp"

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

/// The compilers are kept in an entry of the cache itself, as if they were name expressions.
Digest key_of(const CompilerKind& kind) {
  FieldHash hash;
  hash.add("compilers");
  hash.add(kind.name);
  return hash.finish();
}

/// "13.0", the path and the folders, one a line.
std::string to_text(const CompilerInfo& compiler) {
  std::string text = std::to_string(compiler.major) + "." + std::to_string(compiler.minor) + "\n" +
                     compiler.path.string();
  for (const std::string& folder : compiler.folders) text += "\n" + folder;
  return text;
}

CompilerInfo from_text(const std::string& identity, std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  CompilerInfo compiler;
  compiler.identity = identity;
  const char* const end = lines[0].data() + lines[0].size();
  const auto [dot, error] = std::from_chars(lines[0].data(), end, compiler.major);
  if (error == std::errc() && dot != end) std::from_chars(dot + 1, end, compiler.minor);
  if (lines.size() > 1) compiler.path = lines[1];
  for (std::size_t i = 2; i < lines.size(); ++i) compiler.folders.push_back(lines[i]);
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
  const std::optional<CacheEntry> entry = find_in_cache(key_of(kind));
  if (!entry) return compilers;
  for (const auto& [identity, text] : entry->symbols) {
    compilers.push_back(from_text(identity, text));
  }
  std::sort(compilers.begin(), compilers.end(), [](const auto& a, const auto& b) {
    return std::pair(a.major, a.minor) > std::pair(b.major, b.minor);
  });
  return compilers;
}

void remember_compiler(const CompilerKind& kind, CompilerInfo compiler) {
  CacheEntry entry = find_in_cache(key_of(kind)).value_or(CacheEntry{});
  compiler.folders = header_folders(compiler);
  std::string& text = entry.symbols[compiler.identity];
  std::string current = to_text(compiler);
  if (std::exchange(text, current) == current) return;
  entry.code = signature::bytes_of(kind.name);
  store_in_cache(key_of(kind), entry);
}

}  // namespace cudacore::compile
