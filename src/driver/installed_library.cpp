// SPDX-License-Identifier: Apache-2.0
#include "driver/installed_library.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "driver/loader_cache.hpp"

namespace cudacore::driver {

namespace fs = std::filesystem;

namespace {

/// The build ID among the notes of a program; empty if there is none.
std::string build_id(std::span<const char> notes) {
  constexpr std::size_t align = 4;
  const auto padded = [](std::size_t size) { return (size + align - 1) / align * align; };
  ElfW(Nhdr) note{};
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    const std::size_t start = sizeof(note) + padded(note.n_namesz);
    const std::size_t size = start + padded(note.n_descsz);
    if (size > notes.size()) break;
    const std::string_view name(notes.data() + sizeof(note), note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      return {notes.data() + start, note.n_descsz};
    }
    notes = notes.subspan(size);
  }
  return {};
}

std::string build_id_of_file(const fs::path& path) {
  constexpr std::size_t largest_notes = 65536;
  constexpr std::size_t most_segments = 256;
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  if (!file || std::memcmp(&header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum > most_segments) {
    return {};
  }
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char*>(segments.data()),
            static_cast<std::streamsize>(segments.size() * sizeof(ElfW(Phdr))));
  for (const auto& segment : segments) {
    if (!file) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz > largest_notes) continue;
    std::vector<char> notes(segment.p_filesz);
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(notes.data(), static_cast<std::streamsize>(notes.size()));
    if (std::string id = build_id(notes); file && !id.empty()) return id;
  }
  return {};
}

struct LoadedLibrary {
  fs::path path;
  std::string build_id;
};

/// A loaded library that is accepted. Its build ID is read from memory: the file may have
/// been replaced.
template <typename Accepts>
std::optional<LoadedLibrary> find_loaded(const Accepts& accepts) {
  struct Search {
    const Accepts& accepts;
    std::optional<LoadedLibrary> found;
  } search{accepts, std::nullopt};
  const auto look = [](dl_phdr_info* info, std::size_t /*size*/, void* data) {
    auto& self = *static_cast<Search*>(data);
    if (!self.accepts(*info)) return 0;
    self.found = {info->dlpi_name, {}};
    for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      if (segment.p_type != PT_NOTE || !self.found->build_id.empty()) continue;
      const auto* const notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      self.found->build_id = build_id({notes, segment.p_memsz});
    }
    return 1;
  };
  dl_iterate_phdr(look, &search);
  return std::move(search.found);
}

/// Whether a file is named after a soname: "libnvrtc.so.13" or "libnvrtc.so.13.0.48".
bool has_soname(const fs::path& path, const std::string& soname) {
  const std::string name = path.filename();
  return name.starts_with(soname) && (name.size() == soname.size() || name[soname.size()] == '.');
}

/// LD_LIBRARY_PATH as it was when the process began: the loader doesn't look at later changes.
std::string library_path() {
  constexpr std::string_view name = "LD_LIBRARY_PATH=";
  std::ifstream file("/proc/self/environ", std::ios::binary);
  std::string entry;
  while (std::getline(file, entry, '\0')) {
    if (entry.starts_with(name)) return entry.substr(name.size());
  }
  return {};
}

/// The files that the system loader may open for a name, in its order; unset if only the loader can
/// tell.
std::optional<std::vector<fs::path>> files_of_loader(const std::string& name) {
  std::vector<fs::path> files;
  const std::string variable = library_path();
  for (std::size_t begin = 0; !variable.empty() && begin <= variable.size();) {
    const std::size_t end = std::min(variable.find_first_of(":;", begin), variable.size());
    const std::string text = variable.substr(begin, end - begin);
    const fs::path folder = text.empty() ? "." : text;
    std::error_code error;
    if (text.find('$') != std::string::npos || fs::exists(folder / "glibc-hwcaps", error)) {
      return std::nullopt;
    }
    files.push_back(folder / name);
    begin = end + 1;
  }
  if (auto cached = find_in_loader_cache(name)) files.push_back(*std::move(cached));
#if defined(__aarch64__)
  constexpr const char* own = "/usr/lib/aarch64-linux-gnu";
#else
  constexpr const char* own = "/usr/lib/x86_64-linux-gnu";
#endif
  for (const char* const folder : {own, "/usr/lib64", "/usr/lib"}) {
    files.push_back(fs::path(folder) / name);
  }
  return files;
}

bool is_elf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, SELFMAG> begin{};
  return file.read(begin.data(), begin.size()) && std::memcmp(begin.data(), ELFMAG, SELFMAG) == 0;
}

/// The build ID of the library that another loads from its own folder.
std::string companion_id(const fs::path& folder, std::string_view prefix) {
  const auto is_companion = [&](const fs::path& path) {
    return path.filename().string().starts_with(prefix) && real_path(path).parent_path() == folder;
  };
  if (const auto in_memory =
          find_loaded([&](const dl_phdr_info& info) { return is_companion(info.dlpi_name); })) {
    return in_memory->build_id;
  }
  std::error_code error;
  std::vector<std::string> ids;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_companion(entry->path())) ids.push_back(build_id_of_file(entry->path()));
  }
  // Several copies, or links to one, are the same build.
  if (ids.empty() ||
      std::count(ids.begin(), ids.end(), ids.front()) != static_cast<std::ptrdiff_t>(ids.size())) {
    return {};
  }
  return ids.front();
}

/// 13 for "libnvrtc.so.13" and "libnvrtc.so.13.0.48".
int major_of(const fs::path& path) {
  constexpr std::string_view before = ".so.";
  const std::string name = path.filename();
  const std::size_t place = name.find(before);
  int major = 0;
  if (place != std::string::npos) {
    const char* const digits = name.c_str() + place + before.size();
    std::from_chars(digits, name.c_str() + name.size(), major);
  }
  return major;
}

InstalledLibrary describe(const fs::path& path, const std::string& id, std::string_view companion) {
  InstalledLibrary library{real_path(path), major_of(path), id};
  if (companion.empty() || id.empty()) return library;
  const std::string other = companion_id(library.path.parent_path(), companion);
  library.identity = other.empty() ? "" : id + other;
  return library;
}

}  // namespace

std::optional<InstalledLibrary> find_library(const LibraryPlaces& places,
                                             std::string_view companion) {
  for (const LibraryPlace& place : search_order(places)) {
    if (place.name.empty()) continue;
    if (place.kind == PlaceKind::loaded) {
      const auto is_wanted = [&](const dl_phdr_info& info) {
        return has_soname(info.dlpi_name, place.name);
      };
      if (const auto in_memory = find_loaded(is_wanted)) {
        return describe(in_memory->path, in_memory->build_id, companion);
      }
      continue;
    }
    const auto files = place.kind == PlaceKind::loader
                           ? files_of_loader(place.name)
                           : std::optional(std::vector<fs::path>{place.name});
    if (!files) return InstalledLibrary{};
    for (const fs::path& file : *files) {
      std::error_code error;
      if (!fs::exists(file, error)) continue;
      if (const std::string id = build_id_of_file(file); !id.empty()) {
        return describe(file, id, companion);
      }
      // The loader passes over a library for another machine, and gives up at any other file.
      if (place.kind == PlaceKind::loader && is_elf(file)) return InstalledLibrary{};
      break;
    }
  }
  return std::nullopt;
}

InstalledLibrary describe_library(const SharedLibrary& library, std::string_view companion) {
  link_map* map = nullptr;
  if (dlinfo(library.handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) {
    return {library.path, major_of(library.path), {}};
  }
  const auto is_this = [map](const dl_phdr_info& info) {
    return info.dlpi_addr == map->l_addr && std::strcmp(info.dlpi_name, map->l_name) == 0;
  };
  const auto in_memory = find_loaded(is_this);
  return describe(library.path, in_memory ? in_memory->build_id : "", companion);
}

}  // namespace cudacore::driver
