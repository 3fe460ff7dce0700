// SPDX-License-Identifier: Apache-2.0
#include "signature/fatbin_file.hpp"

#include <cstring>
#include <stdexcept>

#include "signature/merged_kernels.hpp"

namespace cudacore::signature {
namespace {

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;  ///< of the entries that follow
};

/// Precedes each piece of code.
struct Entry {
  enum Kind : std::uint16_t { ptx = 1, elf = 2 };
  /// Bits of `flags`: LZ4 or Zstandard.
  static constexpr std::uint64_t compressed = 0x2000 | 0x8000;

  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t size;  ///< of what follows the header
  std::uint32_t compressed_size;
  std::uint32_t options;
  std::uint32_t language;
  std::uint32_t architecture;
  std::uint32_t name;
  std::uint32_t name_size;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t whole_size;
};

[[noreturn]] void throw_damaged(const std::string& how) {
  throw std::invalid_argument("damaged fatbin: " + how);
}

template <class T>
T read(std::span<const std::byte> from) {
  if (from.size() < sizeof(T)) throw_damaged("it ends within a header");
  T value{};
  std::memcpy(&value, from.data(), sizeof(value));
  return value;
}

FatbinPart::Kind kind_of(const Entry& entry) {
  return entry.kind == Entry::ptx   ? FatbinPart::Kind::ptx
         : entry.kind == Entry::elf ? FatbinPart::Kind::cubin
                                    : FatbinPart::Kind::other;
}

/// PTX, without the padding and the NUL before it.
std::string_view ptx_of(const FatbinPart& part) {
  const std::string_view text = text_of(part.code);
  return text.substr(0, text.find('\0'));
}

}  // namespace

std::vector<FatbinPart> parts_of_fatbin(std::span<const std::byte> fatbin) {
  if (!text_of(fatbin).starts_with(fatbin_magic)) {
    throw std::invalid_argument("these bytes are not a fat binary: they do not begin like one");
  }
  const auto header = read<Header>(fatbin);
  if (header.header_size < sizeof(Header) || header.header_size > fatbin.size() ||
      header.size > fatbin.size() - header.header_size) {
    throw_damaged("its header does not fit its " + std::to_string(fatbin.size()) + " bytes");
  }
  std::span<const std::byte> rest =
      fatbin.subspan(header.header_size, static_cast<std::size_t>(header.size));
  std::vector<FatbinPart> parts;
  while (!rest.empty()) {
    const auto entry = read<Entry>(rest);
    if (entry.header_size < sizeof(Entry) || entry.header_size > rest.size() ||
        entry.size > rest.size() - entry.header_size) {
      throw_damaged("part " + std::to_string(parts.size()) + " reaches past its end");
    }
    const auto size = static_cast<std::size_t>(entry.size);
    parts.push_back({kind_of(entry), (entry.flags & Entry::compressed) != 0, entry.architecture,
                     rest.subspan(entry.header_size, size)});
    rest = rest.subspan(entry.header_size + size);
  }
  return parts;
}

std::optional<std::vector<KernelEntry>> kernels_in_fatbin(std::span<const std::byte> fatbin) {
  const std::vector<FatbinPart> parts = parts_of_fatbin(fatbin);
  MergedKernels kernels;
  // First the PTX, which knows more.
  for (const auto kind : {FatbinPart::Kind::ptx, FatbinPart::Kind::cubin}) {
    for (const FatbinPart& part : parts) {
      if (part.is_compressed || part.kind == FatbinPart::Kind::other) return std::nullopt;
      if (part.kind != kind) continue;
      kernels.add(kind == FatbinPart::Kind::ptx ? kernels_in_ptx(ptx_of(part))
                                                : kernels_in_cubin(part.code));
    }
  }
  return kernels.take();
}

std::optional<std::vector<VariableEntry>> variables_in_fatbin(std::span<const std::byte> fatbin) {
  std::optional<std::vector<VariableEntry>> variables;
  for (const FatbinPart& part : parts_of_fatbin(fatbin)) {
    if (part.is_compressed) continue;
    if (part.kind == FatbinPart::Kind::ptx) return variables_in_ptx(ptx_of(part));
    if (part.kind == FatbinPart::Kind::cubin) variables = variables_in_cubin(part.code);
  }
  return variables;
}

}  // namespace cudacore::signature
