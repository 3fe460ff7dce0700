// SPDX-License-Identifier: Apache-2.0
#include "signature/elf_file.hpp"

#include <algorithm>
#include <bit>

namespace cudacore::signature {
namespace {

static_assert(std::endian::native == std::endian::little, "cubins are little-endian");

constexpr std::uint32_t sht_symtab = 2;
constexpr std::uint32_t sht_nobits = 8;
constexpr std::uint16_t shn_xindex = 0xffff;
constexpr std::size_t header_size = 64;
constexpr std::size_t section_header_size = 64;
constexpr std::size_t symbol_size = 24;

struct SectionHeader {
  std::uint32_t name;
  std::uint32_t type;
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t alignment;
  std::uint64_t entry_size;
};
static_assert(sizeof(SectionHeader) == section_header_size);

struct SymbolRecord {
  std::uint32_t name;
  std::uint8_t info;
  std::uint8_t other;
  std::uint16_t section;
  std::uint64_t value;
  std::uint64_t size;
};
static_assert(sizeof(SymbolRecord) == symbol_size);

/// What the bytes look like if they are not an ELF file.
std::string_view guess(const ByteReader& file) {
  if (file.text().starts_with(fatbin_magic)) {
    return "they are a fatbin; take the cubin or the PTX out of it first";
  }
  if (file.size() >= 2 && (file.at<char>(0) == '/' || file.at<char>(0) == '.') &&
      file.at<char>(1) >= ' ') {
    return "they look like PTX";
  }
  return "they do not begin with \\x7fELF";
}

void check_header(const ByteReader& file) {
  if (!file.text().starts_with(elf_magic)) {
    throw std::invalid_argument("the " + std::to_string(file.size()) +
                                " bytes are not a cubin: " + std::string(guess(file)));
  }
  if (file.size() < header_size) {
    throw std::invalid_argument("damaged cubin: it ends within the ELF header, at " +
                                std::to_string(file.size()) + " bytes");
  }
  constexpr std::uint8_t class_64 = 2;
  constexpr std::uint8_t little_endian = 1;
  if (file.at<std::uint8_t>(4) != class_64 || file.at<std::uint8_t>(5) != little_endian) {
    throw std::invalid_argument("not a cubin: the ELF file is not 64-bit little-endian");
  }
  if (const auto machine = file.at<std::uint16_t>(18); machine != elf_machine_cuda) {
    throw std::invalid_argument("not a cubin: the ELF file is for machine " +
                                std::to_string(machine) + ", and CUDA is " +
                                std::to_string(elf_machine_cuda));
  }
}

}  // namespace

std::string_view ByteReader::string_at(std::uint64_t offset) const {
  if (offset >= bytes_.size()) {
    throw std::invalid_argument("damaged cubin: a name at offset " + std::to_string(offset) +
                                " of a string table of " + std::to_string(bytes_.size()) +
                                " bytes");
  }
  const std::string_view rest = text().substr(static_cast<std::size_t>(offset));
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    throw std::invalid_argument("damaged cubin: a name does not end");
  }
  return rest.substr(0, end);
}

ElfFile::ElfFile(std::span<const std::byte> bytes) : file_(bytes) {
  const ByteReader& file = file_;
  check_header(file);
  constexpr std::uint16_t et_rel = 1;
  is_relocatable_ = file.at<std::uint16_t>(16) == et_rel;
  // CUDA 13 moved the number up by one byte when it raised the ABI version to 8.
  architecture_ = file.at<std::uint8_t>(file.at<std::uint8_t>(8) >= 8 ? 49 : 48);
  const auto table = file.at<std::uint64_t>(40);
  std::uint64_t count = file.at<std::uint16_t>(60);
  std::uint32_t names = file.at<std::uint16_t>(62);
  if (table == 0) return;
  // Counts that don't fit into 16 bits are in the first, unused header.
  const auto first = file.at<SectionHeader>(table);
  count = count == 0 ? first.size : count;
  names = names == shn_xindex ? first.link : names;
  if (count > file.size() / section_header_size) {
    throw std::invalid_argument("damaged cubin: " + std::to_string(count) +
                                " section headers do not fit in it");
  }
  const ByteReader headers = file.part(table, count * section_header_size);
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = headers.at<SectionHeader>(i * section_header_size);
    const bool stored = header.type != 0 && header.type != sht_nobits;
    Section section;
    section.type = header.type;
    section.link = header.link;
    section.entry_size = header.entry_size;
    section.bytes = stored ? file.part(header.offset, header.size) : file.part(0, 0);
    sections_.push_back(section);
    name_offsets.push_back(header.name);
  }
  if (names >= sections_.size()) {
    throw std::invalid_argument("damaged cubin: it has no table of section names");
  }
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i].type != 0) {
      sections_[i].name = sections_[names].bytes.string_at(name_offsets[i]);
    }
  }
}

void ElfFile::check_segments() const {
  const auto table = file_.at<std::uint64_t>(32);
  const auto entry_size = file_.at<std::uint16_t>(54);
  const auto count = file_.at<std::uint16_t>(56);
  const ByteReader headers = file_.part(table, std::uint64_t{count} * entry_size);
  for (std::uint64_t i = 0; i < count; ++i) {
    const ByteReader header = headers.part(i * entry_size, entry_size);
    (void)file_.part(header.at<std::uint64_t>(8), header.at<std::uint64_t>(32));
  }
}

std::vector<ElfFile::Symbol> ElfFile::symbols() const {
  std::vector<Symbol> symbols;
  for (const Section& section : sections_) {
    if (section.type != sht_symtab) continue;
    if (section.link >= sections_.size() || section.entry_size != symbol_size) {
      throw std::invalid_argument("damaged cubin: its symbol table is malformed");
    }
    const ByteReader& names = sections_[section.link].bytes;
    for (std::size_t i = 0; i < section.bytes.size() / symbol_size; ++i) {
      const auto record = section.bytes.at<SymbolRecord>(i * symbol_size);
      const auto type = static_cast<std::uint8_t>(record.info & 0xfU);
      const auto binding = static_cast<std::uint8_t>(record.info >> 4U);
      symbols.push_back(
          {names.string_at(record.name), type, binding, record.other, record.section});
    }
  }
  return symbols;
}

}  // namespace cudacore::signature
